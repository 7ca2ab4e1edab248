"""NLSI's splits as a compilation uses them: which instances, which gold tags, under which licence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from eval.data.nlsi import MINI_NLSI, REGENERATED, NlsiData, NlsiInstance, balanced, load_nlsi
from prefine_dspy.tools import Catalogue

_SPLITS = ("train", "validation", "test")
DEV_INSTANCES, TEST_INSTANCES = 60, 150
_SGD_TEXT = "CC BY-SA 4.0 (dialogues of the Schema-Guided Dialogue dataset)"
REGENERATED_TRAIN = "fe55872cf1c24c127f49ce916198a253d6c0794e58ce250ae64f7e45a17626aa"
"""sha256 over the train split of NLSI-regenerated."""
LICENCES = {"NLSI": _SGD_TEXT, REGENERATED: _SGD_TEXT, "mini_nlsi": "Apache-2.0"}


class NlsiSplit(NamedTuple):
    """Args:
    instances: those that are used, balanced over the reasoning types.
    tags: gold tags of their instructions, by text; of test none.
    """

    instances: Sequence[NlsiInstance]
    tags: Mapping[str, str]

    @property
    def identity(self) -> str:
        return sha256_of(instance.id for instance in self.instances)

    @property
    def instructions(self) -> list[str]:
        """The applicable ones, each once, in order."""
        return list(dict.fromkeys(text for one in self.instances for text in one.request.texts()))


class NlsiSource(NamedTuple):
    """Args:
    name: what a number on it is said to be about.
    identity: sha256 over all splits.
    tools: the catalogue.
    splits: "train", "dev", "test".
    """

    name: str
    identity: str
    tools: Catalogue
    splits: dict[str, NlsiSplit]


def load_source(
    data: str, dev: int | None, test: int | None, seed: int, tags: Mapping[str, str] | None = None
) -> NlsiSource:
    """NLSI's own splits, dev and test cut down to balanced samples.

    Args:
        data: as `load_nlsi` takes it.
        dev, test: instances at most.
        seed: of the samples.
        tags: gold tags by instruction; without any those that come with the data.

    Raises:
        InputError: the data cannot be read.
    """
    loaded = {name: load_nlsi(data, split) for name, split in zip(("train", "dev", "test"), _SPLITS, strict=True)}
    sizes = {
        "train": None,
        "dev": DEV_INSTANCES if dev is None else dev,
        "test": TEST_INSTANCES if test is None else test,
    }
    splits = {}
    for name, one in loaded.items():
        size = sizes[name]
        chosen = NlsiSplit(one.instances if size is None else balanced(one.instances, size, seed), {})
        known = (tags or one.tags) if name != "test" else {}
        wanted = set(chosen.instructions)
        splits[name] = chosen._replace(tags={text: tagged for text, tagged in known.items() if text in wanted})
    train: NlsiData = loaded["train"]
    return NlsiSource(train.name, sha256_of(one.identity for one in loaded.values()), train.tools, splits)


def sha256_of(lines: Iterable[str]) -> str:
    """One hash over lines, in order."""
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def is_public(data: str) -> bool:
    """Whether the texts are published or our own: demonstrations show them. Files say nothing that could be believed
    (anybody's log may be named like a published one), but for the regenerated data, whose content is known.

    Raises:
        InputError: the data cannot be read.
    """
    if data in ("nlsi", "mini_nlsi", str(MINI_NLSI)):
        return True
    return load_nlsi(data, "train").identity == REGENERATED_TRAIN
