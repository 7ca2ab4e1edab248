"""NLSI from the Hugging Face hub: its own splits, as plain records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prefine_dspy.errors import InputError

HUB_NAME = "nikitam/nlsi"


def hub_records(split: str) -> Iterator[tuple[str, Any]]:
    """("where it stands", record) of one split, from the hub or from its local cache.

    Raises:
        InputError: the hub cannot be reached and nothing is cached, or the data set or the split is not there.
    """
    import datasets
    import huggingface_hub

    try:
        # load_dataset would try for half a minute before it gives up
        if not _cached(Path(datasets.config.HF_DATASETS_CACHE)):
            huggingface_hub.HfApi().dataset_info(HUB_NAME, timeout=20)
        rows = datasets.load_dataset(HUB_NAME, split=split)
    except Exception as error:  # the client raises a dozen kinds for one reason
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"cannot load {HUB_NAME} ({split}) from the Hugging Face hub ({why}): "
            "use mini_nlsi, or give a folder with NLSI's JSONL files as a path"
        ) from None
    yield from ((f"{HUB_NAME} {split}:{k}", row) for k, row in enumerate(rows, start=1))


def _cached(cache: Path) -> bool:
    wanted = HUB_NAME.replace("/", "___").lower()
    return cache.is_dir() and any(folder.name.lower() == wanted for folder in cache.iterdir())
