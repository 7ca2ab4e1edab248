"""`python -m eval.data.build --sgd DIR --out OUT --seed N`: a benchmark like MPT from the corpora it was made of.

PRefine section 4 and appendices A.2 to A.5; the sources' own conversion rules are in `eval.data.sgd`, `homebench` and
`durecdial`.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.data import durecdial, homebench, sgd
from eval.data.catalogue import SCHEMA_VERSION
from eval.data.compose import Record, Shape, compose
from eval.data.drift import drift_instances, drifting
from eval.data.files import write_benchmark
from eval.data.instances import Facts, build_instances, unseen_instances
from eval.data.preferences import Mapping, Rules
from eval.data.released_rules import example_of, released_instances
from eval.data.users import User, chunked_users, synthetic_users
from eval.data.verify import verify_build
from eval.instance import Instance
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.types import Session

# homes are many more than users of the other corpora; more of them would only add histories of one kind
MOST_HOMES = 400
ECO_USERS = 0.5
ECO_SESSIONS = (2, 4)


def build(
    out: Path,
    seed: int,
    sgd_source: Path | None = None,
    homebench_file: Path | None = None,
    durecdial_folder: Path | None = None,
    rules: Rules = "paper",
    split: str = "dev",
    slot_table: Path | None = None,
    drift: int | None = None,
) -> dict[str, Any]:
    """Builds, verifies and writes a benchmark; returns its statistics.

    Args:
        out: the folder to write.
        seed: same seed and same corpora, same bytes.
        sgd_source: SGD's folder or tar.gz.
        homebench_file: HomeBench records.
        durecdial_folder: DuRecDial 2.0's en_*.txt.
        rules: how instances follow from histories; see `eval.data.instances` and `eval.data.released_rules`.
        split: of SGD.
        slot_table: NLSI's slot table, for services outside SGD dev.
        drift: also users whose preference changes after so many sessions; None for none, as in the paper.

    Raises:
        InputError: no corpus, or one that cannot be read.
        BrokenInvariantError: the build contradicts its own rules.
    """
    rng = random.Random(seed)
    mapping = Mapping()
    users: list[User] = []
    if sgd_source:
        users += synthetic_users(sgd.load_sessions(sgd_source, split, slot_table), mapping, rng)
    if durecdial_folder:
        users += _seekers(durecdial_folder)
    if homebench_file:
        users += _homes(homebench_file, len(users) or MOST_HOMES, seed, rng)
    if not users:
        raise InputError("no corpus to build from: give --sgd, --homebench or --durecdial")
    changing = drifting(users, mapping, rng, drift) if drift is not None else None
    if changing is not None:
        users = [one for one in users if one.id not in changing.used]
    records = compose(users, mapping, rng, Shape())
    instances = _instances(records, mapping, rules, rng)
    # a history that nothing recurs in and that establishes no preference is not asked anything
    asked = {instance.history_id for instance in instances}
    records = [record for record in records if record.history.id in asked]
    verify_build(records, instances, mapping, rules)
    inputs = {
        name: _sha256(path)
        for name, path in (("sgd", sgd_source), ("homebench", homebench_file), ("durecdial", durecdial_folder))
        if path
    }
    manifest: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "seed": seed,
        "rules": rules,
        "split": split,
        "inputs": inputs,
    }
    if changing is not None:  # by rules of their own, so they are not verified by those of the paper
        manifest["drift"] = drift
        after = [one for record in changing.records for one in drift_instances(record, mapping, rng)]
        asked = {instance.history_id for instance in after}
        records += [record for record in changing.records if record.history.id in asked]
        instances += after
    return write_benchmark(out, records, instances, manifest)


def _instances(records: Sequence[Record], mapping: Mapping, rules: Rules, rng: random.Random) -> list[Instance]:
    facts = [Facts(record.history, mapping) for record in records]
    if rules == "paper":
        return [instance for one in facts for instance in build_instances(one, rng)]
    examples = [example_of(record.history, mapping, record.meta.majority) for record in records]
    return released_instances(examples, mapping) + [i for one in facts for i in unseen_instances(one)]


def _seekers(folder: Path) -> list[User]:
    return [
        User(id=f"durecdial-{n:04d}", source="durecdial", sessions=tuple(seeker.sessions))
        for n, seeker in enumerate(durecdial.load_users(folder))
    ]


def _homes(file: Path, most: int, seed: int, rng: random.Random) -> list[User]:
    """Users of one home each; half of them get eco mode, in two functions or more, at two to four places."""
    homes: dict[str, list[Session]] = defaultdict(list)
    for session in homebench.load_sessions(file):
        if session.calls:
            homes[session.id.split("_")[0]].append(session)
    users = [user for sessions in homes.values() for user in chunked_users(sessions, "homebench", rng)]
    rng.shuffle(users)
    return [_economical(user, seed, rng) if rng.random() < ECO_USERS else user for user in users[:most]]


def _economical(user: User, seed: int, rng: random.Random) -> User:
    first, second, third = rng.sample(homebench.ECO_FUNCTIONS, 3)
    functions = [first, second, rng.choice((first, second)), third][: rng.randint(*ECO_SESSIONS)]
    sessions = list(user.sessions)
    places = rng.sample(range(len(sessions)), len(sessions))
    for function in functions:
        while places:
            k = places.pop()
            try:
                sessions[k] = homebench.with_eco(sessions[k], seed, (function,))
            except InputError:
                continue  # the session is in no room that has the device
            break
    return user.model_copy(update={"sessions": tuple(sessions)})


def _sha256(path: Path) -> str:
    """Of a file, or of all files below a folder with their names."""
    if path.is_file():
        return sha256(path.read_bytes()).hexdigest()
    digest = sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def main(
    out: Annotated[Path, typer.Option(help="folder to write")],
    sgd: Annotated[Path | None, typer.Option(help="SGD: the folder that holds dev/, or its tar.gz")] = None,
    homebench: Annotated[Path | None, typer.Option(help="HomeBench records, .jsonl or .jsonl.gz")] = None,
    durecdial: Annotated[Path | None, typer.Option(help="DuRecDial 2.0: the folder with en_*.txt")] = None,
    seed: Annotated[int, typer.Option(help="same seed, same bytes")] = 0,
    rules: Annotated[str, typer.Option(help="paper or released")] = "paper",
    split: Annotated[str, typer.Option(help="of SGD: dev, test or train")] = "dev",
    slot_table: Annotated[Path | None, typer.Option(help="NLSI's common-domain-slots.tsv, outside dev")] = None,
    drift: Annotated[
        int | None, typer.Option(help="also users whose preference changes after so many sessions [none]")
    ] = None,
) -> None:
    """Build a benchmark like MPT from the corpora it was made of."""
    try:
        if rules not in ("paper", "released"):
            raise InputError(f"no rules {rules!r}: use --rules paper or --rules released")
        chosen: Rules = "released" if rules == "released" else "paper"
        stats = build(out, seed, sgd, homebench, durecdial, chosen, split, slot_table, drift)
    except (PrefineError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    scale = stats["table_7"]
    typer.echo(f"{scale['histories']} histories, {scale['instances_total']} instances -> {out}")


if __name__ == "__main__":
    typer.run(main)
