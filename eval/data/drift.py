"""Users who change: one side of a preference for a number of sessions, then the other.

    N sessions that establish A | sessions that establish B | queries, whose gold is B

The paper has no such users: where its histories hold both sides, the older one is the rarer one. Here what counts is
which came last, however often the other one showed before. Two users of the pool that oppose each other make one, with
users of no preference among the older sessions where they are too few. Reasoning types are those of what happened since
the change: Recall recurred since, Induction occurred once since, Transfer did not occur since. R, C and U are counted
over the whole history, so a drifting history is a contested one in which C may exceed R.

`python -m eval.data.drift --before 6 --out DIR` writes a set of invented users; `python -m eval.data.build --drift 6`
puts such users among those of the corpora.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eval.data.catalogue import SCHEMA_VERSION
from eval.data.compose import HistoryMeta, Part, Record, Role, interleave
from eval.data.files import HISTORIES, read_records, write_benchmark
from eval.data.instances import Facts, build_instances, determined_slots
from eval.data.load import MINI
from eval.data.mini_generator.people import people, user
from eval.data.mini_generator.values import STARS
from eval.data.observations import established, evidence, executed_calls, stance_counts
from eval.data.preferences import Mapping, Stance
from eval.data.queries import templates, unseen_templates
from eval.data.users import User
from eval.instance import Instance
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.types import History, Session

SHARE = 0.5
"""Of the pairs of opposing users in the corpora, those that become one drifting user; the others make contested
histories."""
CASTS = 3
"""How often the cast of the mini data is invented anew, for a set of drifting users alone."""


class Drifting(NamedTuple):
    """Args:
    records: the histories.
    used: ids of the users who went into them.
    """

    records: list[Record]
    used: set[str]


class _Held(NamedTuple):
    user: User
    stance: Stance


def drifting(
    users: Sequence[User], mapping: Mapping, rng: random.Random, before: int, share: float = SHARE
) -> Drifting:
    """Histories of users who change after `before` sessions.

    Args:
        users: nobody is in two histories.
        mapping: which arguments express which preference.
        rng: who is paired with whom.
        before: sessions of the old preference, at least 2.
        share: of the pairs of users that oppose each other, those that are used.

    Raises:
        InputError: `before` is too small to establish anything.
    """
    if before < 2:
        raise InputError(f"a preference takes two sessions to show: let it change after 2 or more, not after {before}")
    pool = list(users)
    rng.shuffle(pool)
    holders = [_Held(one, held[0]) for one in pool if len(held := _sides(one.sessions, mapping)) == 1]
    plain = [one for one in pool if not stance_counts(executed_calls(one.sessions), mapping)]
    records: list[Record] = []
    used: set[str] = set()
    for old in holders:
        if old.user.id in used:
            continue
        first = _older(old, mapping, before, [one for one in plain if one.id not in used], rng)
        new = next((one for one in holders if one.user.id not in used and one.stance.opposes(old.stance)), None)
        if first is None or new is None or not _agree(old, new, mapping):
            continue
        sessions, fillers = first
        used |= {old.user.id, new.user.id, *(one.id for one in fillers)}
        records.append(_record(len(records), old, new, sessions, fillers))
    kept = records[: round(share * len(records))]
    return Drifting(kept, {part.user for record in kept for part in record.meta.parts})


def drift_instances(record: Record, mapping: Mapping, rng: random.Random) -> list[Instance]:
    """Queries after the change that the new preference decides, and nothing else does."""
    history, cut = record.history, record.meta.changed_after
    since = Facts(history.model_copy(update={"sessions": history.sessions[cut:]}), mapping)
    earlier = Facts(history.model_copy(update={"sessions": history.sessions[:cut]}), mapping)
    calls = executed_calls(history.sessions)
    new = next(stance for stance in since.established if str(stance) == record.meta.majority)
    by_id = {one.id: one for one in (*templates(), *unseen_templates())}
    found = []
    for instance in build_instances(since, rng):
        function = instance.gold[0].name
        wanted = set(instance.gold[0].arguments) | set(by_id[instance.query.id].stated)
        # what only the time before the change decides would leave open whether it still holds
        left = () if instance.schema_name == "extended" else determined_slots(earlier, function)
        if instance.preference == new.preference and all(slot.argument in wanted for slot in left):
            counts = evidence(calls, new, mapping)
            found.append(instance.model_copy(update={"evidence": counts, "contested": True}))
    return found


def changes(data: str | Path) -> dict[str, int]:
    """By id of a drifting history, the sessions before its change; {} for data without any."""
    folder = MINI if str(data) == "mini" else Path(data)
    if not (folder / HISTORIES).is_file():
        return {}
    return {one.history.id: one.meta.changed_after for one in read_records(folder) if one.meta.changed_after}


def generate(out: Path, before: int, seed: int) -> dict[str, Any]:
    """Writes a set of invented drifting users and returns its statistics. Same seed, same bytes."""
    rng = random.Random(seed)
    mapping = Mapping(STARS)
    cast = [person for _ in range(CASTS) for person in people(rng)]
    users = [user(number, person, rng) for number, person in enumerate(cast)]
    found = drifting(users, mapping, rng, before, share=1.0).records
    instances = [one for record in found for one in drift_instances(record, mapping, rng)]
    asked = {one.history_id for one in instances}
    manifest = {"name": "drift", "schema": SCHEMA_VERSION, "seed": seed, "before": before, "stars": list(STARS)}
    return write_benchmark(out, [one for one in found if one.history.id in asked], instances, manifest)


def _sides(sessions: Sequence[Session], mapping: Mapping) -> list[Stance]:
    return list(established(executed_calls(sessions), mapping))


def _older(
    old: _Held, mapping: Mapping, before: int, plain: Sequence[User], rng: random.Random
) -> tuple[list[Session], list[User]] | None:
    """`before` sessions in which the old preference is established, and who filled them up; None where it cannot be."""
    own = list(old.user.sessions[:before])
    if old.stance not in _sides(own, mapping):
        return None
    fillers: list[User] = []
    chains: list[list[Session]] = [own]
    for one in plain:
        room = before - sum(map(len, chains))
        if room <= 0:
            break
        chains.append(list(one.sessions[:room]))
        fillers.append(one)
    merged = interleave(chains, rng)
    return (merged, fillers) if len(merged) == before and old.stance in _sides(merged, mapping) else None


def _agree(old: _Held, new: _Held, mapping: Mapping) -> bool:
    """They oppose each other on this one axis only."""
    counts = [stance_counts(executed_calls(one.user.sessions), mapping) for one in (old, new)]
    return not any(a.opposes(b) and a.axis != old.stance.axis for a in counts[0] for b in counts[1])


def _record(number: int, old: _Held, new: _Held, older: Sequence[Session], fillers: Sequence[User]) -> Record:
    chosen = {session.id for session in older}
    roles: list[tuple[User, Role]] = [(new.user, "supporting"), (old.user, "competing")]
    roles += [(one, "unrelated") for one in fillers]
    parts = [
        Part(
            user=one.id,
            source=one.source,
            role=role,
            sessions=tuple(session.id for session in one.sessions if role == "supporting" or session.id in chosen),
        )
        for one, role in roles
    ]
    meta = HistoryMeta(
        parts=tuple(parts),
        arrangement="drifting",
        preferences=(str(new.stance),),
        majority=str(new.stance),
        minority=str(old.stance),
        changed_after=len(older),
    )
    return Record(history=History(id=f"drift-{number:04d}", sessions=(*older, *new.user.sessions)), meta=meta)


def main(
    out: Annotated[Path, typer.Option(help="folder to write")],
    before: Annotated[int, typer.Option(help="sessions before a preference changes")] = 6,
    seed: Annotated[int, typer.Option(help="same seed, same bytes")] = 7,
) -> None:
    """Write a set of invented users whose preference changes."""
    try:
        stats = generate(out, before, seed)
    except (PrefineError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{stats['table_7']['histories']} histories, {stats['table_7']['instances_total']} instances -> {out}")


if __name__ == "__main__":
    typer.run(main)
