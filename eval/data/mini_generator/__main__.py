"""`python -m eval.data.mini_generator --out eval/data/mini --seed 7` writes the shipped folder anew."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.data.catalogue import SCHEMA_VERSION
from eval.data.compose import Shape, compose
from eval.data.files import write_benchmark
from eval.data.instances import Facts, build_instances
from eval.data.mini_generator.people import people, user
from eval.data.mini_generator.values import STARS
from eval.data.preferences import Mapping
from eval.data.verify import verify_build

SHAPE = Shape(sessions=(8, 12), contested=0.36, plain=0.0, merge_all=True)


def generate(out: Path, seed: int) -> dict[str, Any]:
    """Writes the mini data set and returns its statistics. Same seed, same bytes."""
    rng = random.Random(seed)
    mapping = Mapping(STARS)
    users = [user(number, person, rng) for number, person in enumerate(people(rng))]
    records = compose(users, mapping, rng, SHAPE)
    instances = [instance for record in records for instance in build_instances(Facts(record.history, mapping), rng)]
    verify_build(records, instances, mapping, "paper")
    manifest = {"name": "mini", "schema": SCHEMA_VERSION, "seed": seed, "rules": "paper", "stars": list(STARS)}
    return write_benchmark(out, records, instances, manifest)


def main(
    out: Annotated[Path, typer.Option(help="folder to write")] = Path("eval/data/mini"),
    seed: Annotated[int, typer.Option(help="same seed, same bytes")] = 7,
) -> None:
    """Write the mini data set: our own dialogues of invented users."""
    stats = generate(out, seed)
    typer.echo(f"{stats['table_7']['histories']} histories, {stats['table_7']['instances_total']} instances -> {out}")


if __name__ == "__main__":
    typer.run(main)
