"""`python -m eval.data.mini_nlsi_generator --out eval/data/mini_nlsi --seed 5` writes the shipped folder anew."""

from __future__ import annotations

import csv
import io
import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.data.mini_nlsi_generator.source import Block, functions_of, plain, read_blocks
from eval.data.nlsi import MANIFEST, SPLITS, TAGS
from programs.tag_tables import COLUMNS

PROFILE = {"train": (8, 14), "validation": (8, 14), "test": (6, 12)}
"""Instructions in a profile, from and to. NLSI's have eleven on average; test is older, and numbers refer to it."""

Group = tuple[frozenset[str], list[str]]
"""Instructions that one user may have together, and the functions that they are about."""


def generate(out: Path, seed: int) -> dict[str, int]:
    """Writes the three splits, their tags and a manifest; returns the number of dialogues by split.

    Same seed, same bytes. A user is one dialogue's, and nothing of one split is in another.
    """
    out.mkdir(parents=True, exist_ok=True)
    contents: dict[str, str] = {}
    tagged: list[str] = []
    sizes: dict[str, int] = {}
    for split in SPLITS:
        blocks = read_blocks((Path(__file__).parent / f"{split}.txt").read_text(encoding="utf-8"))
        rng = random.Random(f"{seed} {split}")
        records = [_record(split, k, block, blocks, rng) for k, block in enumerate(blocks)]
        contents[f"{split}.jsonl"] = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
        tagged += [one for block in blocks for one in [*block.applicable, *block.overridden]]
        sizes[split] = len(blocks)
    contents[TAGS] = _csv(tagged)
    sums = {name: sha256(text.encode("utf-8")).hexdigest() for name, text in contents.items()}
    manifest = {"name": "mini_nlsi", "seed": seed, "licence": "Apache-2.0", "dialogues": sizes, "files": sums}
    contents[MANIFEST] = json.dumps(manifest, indent=2) + "\n"
    for name, text in contents.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")
    return sizes


def _record(split: str, number: int, block: Block, blocks: list[Block], rng: random.Random) -> dict[str, Any]:
    """One dialogue in NLSI's published layout."""
    own = [plain(one) for one in [*block.applicable, *block.overridden]] + block.others
    profile = own + _filling(block, blocks, len(own), PROFILE[split], rng)
    rng.shuffle(profile)
    name = f"mini_{split}_{number:03}"
    return {
        "example_id": name,
        "user_utterance": "\n".join(block.dialogue),
        "all_standing_instructions": _numbered(profile),
        "applicable_standing_instructions": _numbered([plain(one) for one in block.applicable]),
        "api_calls": block.gold,
        "metadata": {"dialogue_id": f"{split}-{number:03}", "example_id": name, "example_type": block.kind},
    }


def _filling(block: Block, blocks: list[Block], have: int, sizes: tuple[int, int], rng: random.Random) -> list[str]:
    """Instructions from other dialogues of the split about what is not called here, one source a function."""
    size = rng.randint(max(sizes[0], have), max(sizes[1], have))
    about = block.functions()
    chosen: list[str] = []
    others = [group for other in blocks if other is not block for group in _groups(other)]
    rng.shuffle(others)
    for functions, texts in others:
        if not functions & about and have + len(chosen) + len(texts) <= size:
            chosen += texts
            about |= functions
    return chosen


def _groups(block: Block) -> list[Group]:
    """A dialogue's instructions apart by function, so that chains stay whole; links of two functions stand alone."""
    groups: dict[frozenset[str], list[str]] = {}
    for one in [*block.applicable, *block.overridden]:
        groups.setdefault(frozenset(functions_of(one)), []).append(plain(one))
    called = {call.partition("(")[0] for call in block.gold}
    if block.others and len(called) == 1:
        groups.setdefault(frozenset(called), []).extend(block.others)
    return list(groups.items())


def _numbered(texts: list[str]) -> list[dict[str, str]]:
    return [{"nl_instruction": text, "instruction_id": str(k)} for k, text in enumerate(texts)]


def _csv(tagged: list[str]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((plain(one), one) for one in dict.fromkeys(tagged))
    return text.getvalue()


def main(
    out: Annotated[Path, typer.Option(help="folder to write")] = Path("eval/data/mini_nlsi"),
    seed: Annotated[int, typer.Option(help="same seed, same bytes")] = 5,
) -> None:
    """Write our own NLSI-like data set."""
    sizes = generate(out, seed)
    typer.echo(f"{', '.join(f'{n} {split}' for split, n in sizes.items())} -> {out}")


if __name__ == "__main__":
    typer.run(main)
