"""Train, dev and test by history, so that no user and no source dialogue is on two sides.

Instances of one history share its memory, and histories can share users or dialogues: splitting by instance would let
an optimizer see the answers it is scored on.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from eval.data.balance import balanced
from eval.data.files import HISTORIES, read_records
from eval.data.load import MINI
from eval.instance import Benchmark, Instance
from prefine_dspy.errors import InputError
from prefine_dspy.types import History

SPLITS = ("train", "dev", "test")
# shares when no sizes are given: the rest is test, so that most of the data says how good the result is
SHARES = {"train": 1 / 3, "dev": 1 / 5}


class Sources(NamedTuple):
    """Whom and what a history comes from.

    Args:
        users: ids of the people merged into it.
        dialogues: ids of its dialogues, or hashes of their text where ids are not unique over histories.
    """

    users: frozenset[str]
    dialogues: frozenset[str]


class Split(NamedTuple):
    """One side: histories, and the instances chosen over them, both in the benchmark's order."""

    histories: tuple[History, ...]
    instances: tuple[Instance, ...]

    @property
    def identity(self) -> str:
        """sha256 over the ids."""
        ids = [history.id for history in self.histories] + [instance.id for instance in self.instances]
        return sha256("\n".join(ids).encode("utf-8")).hexdigest()

    def of(self, history: str) -> tuple[Instance, ...]:
        """The instances of one history."""
        return tuple(instance for instance in self.instances if instance.history_id == history)


def split(
    benchmark: Benchmark,
    sources: Mapping[str, Sources],
    sizes: Mapping[str, int | None],
    seed: int = 0,
    per_history: int | None = None,
) -> dict[str, Split]:
    """Deal the histories out.

    Histories that share a user or a dialogue stay together. Each split gets the preferences as evenly as they can be
    had. Deterministic for a seed.

    Args:
        benchmark: its instances decide what a history is about.
        sources: by history id; see `sources_of`.
        sizes: histories for "train", "dev" and "test"; None takes the default share, or for test all that is left.
            A group that must stay together may exceed it.
        seed: decides between equally good histories.
        per_history: instances of one history at most, balanced over query and reasoning types.

    Raises:
        InputError: fewer histories than asked for.
    """
    groups = _together(list(benchmark.histories), sources)
    total = len(benchmark.histories)
    wanted = {name: round(share * total) for name, share in SHARES.items()}
    wanted |= {name: size for name, size in sizes.items() if size is not None}
    wanted.setdefault("test", max(0, total - wanted["train"] - wanted["dev"]))
    if sum(wanted.values()) > total:
        raise InputError(
            f"{benchmark.name} has {total} histories, {' + '.join(f'{wanted[name]} {name}' for name in SPLITS)} were "
            "asked for: lower --train-histories, --dev-histories or --test-histories"
        )
    about = _preferences(benchmark)
    dealt = _deal(groups, {name: wanted[name] for name in SPLITS}, about, random.Random(seed))
    found = {name: _split(benchmark, set(chosen), per_history, seed) for name, chosen in dealt.items()}
    check_disjoint({name: [history.id for history in one.histories] for name, one in found.items()}, sources)
    return found


def check_disjoint(splits: Mapping[str, Sequence[str]], sources: Mapping[str, Sources]) -> None:
    """Two splits share nothing.

    Args:
        splits: history ids by split.
        sources: by history id.

    Raises:
        InputError: a history, user or dialogue is in two of them; names it.
    """
    for what in ("history", "user", "dialogue"):
        owner: dict[str, tuple[str, str]] = {}
        for name, histories in splits.items():
            for history in histories:
                for one in _marks(history, sources[history], what):
                    where, first = owner.setdefault(one, (name, history))
                    if where != name:
                        raise InputError(
                            f"{what} {one!r} is in {where} (history {first}) and in {name} (history {history}): "
                            "split by user, or leave one of the histories out"
                        )


def sources_of(data: str, histories: Mapping[str, History]) -> dict[str, Sources]:
    """Whom and what each history of a benchmark comes from.

    Args:
        data: as given to `load_benchmark`. A build folder knows its users; a file in MPT's format does not, there a
            history is its own user and dialogues are told apart by their text.
        histories: of the benchmark.
    """
    folder = MINI if data == "mini" else Path(data)
    if (folder / HISTORIES).is_file():
        parts = {record.history.id: record.meta.parts for record in read_records(folder)}
        return {
            name: Sources(
                frozenset(part.user for part in parts[name]),
                frozenset(session for part in parts[name] for session in part.sessions),
            )
            for name in histories
        }
    return {
        name: Sources(
            frozenset({name}),
            frozenset(
                sha256(session.model_dump_json(exclude={"id"}).encode("utf-8")).hexdigest()
                for session in history.sessions
            ),
        )
        for name, history in histories.items()
    }


def _marks(history: str, sources: Sources, what: str) -> frozenset[str]:
    if what == "history":
        return frozenset({history})
    return sources.users if what == "user" else sources.dialogues


def _together(histories: list[str], sources: Mapping[str, Sources]) -> list[list[str]]:
    """Groups of histories that share something, directly or through others."""
    group = {history: {history} for history in histories}
    owner: dict[tuple[str, str], str] = {}
    for history in histories:
        for what in ("user", "dialogue"):
            for one in _marks(history, sources[history], what):
                first = owner.setdefault((what, one), history)
                if group[first] is not group[history]:
                    merged = group[first] | group[history]
                    for member in merged:
                        group[member] = merged
    seen: set[str] = set()
    groups = []
    for history in histories:
        if history not in seen:
            seen |= group[history]
            groups.append(sorted(group[history], key=histories.index))
    return groups


def _deal(
    groups: list[list[str]], wanted: Mapping[str, int], about: Mapping[str, Counter[str]], rng: random.Random
) -> dict[str, list[str]]:
    """Each turn the split that lacks most takes the group that brings it most of what it has least of."""
    rng.shuffle(groups)
    dealt: dict[str, list[str]] = {name: [] for name in wanted}
    has: dict[str, Counter[str]] = defaultdict(Counter)
    while groups:
        hungry = [name for name in wanted if len(dealt[name]) < wanted[name]]
        if not hungry:
            break
        name = min(hungry, key=lambda one: len(dealt[one]) / wanted[one])
        room = wanted[name] - len(dealt[name])
        fitting = [group for group in groups if len(group) <= room] or [min(groups, key=len)]
        best = max(fitting, key=lambda group: _news(group, about, has[name]))
        groups.remove(best)
        dealt[name] += best
        for history in best:
            has[name].update(about[history].keys())
    return dealt


def _news(group: list[str], about: Mapping[str, Counter[str]], has: Counter[str]) -> float:
    """How much a group brings of what a split has little of, an instance of its histories on average."""
    worth = [n / (1 + has[kind]) ** 2 for history in group for kind, n in about[history].items()]
    return sum(worth) / max(1, sum(n for history in group for n in about[history].values()))


def _preferences(benchmark: Benchmark) -> dict[str, Counter[str]]:
    """By history, its instances by preference, contested ones apart."""
    about: dict[str, Counter[str]] = {name: Counter() for name in benchmark.histories}
    for instance in benchmark.instances:
        about[instance.history_id][f"{instance.preference}{' contested' if instance.contested else ''}"] += 1
    return about


def _split(benchmark: Benchmark, chosen: set[str], per_history: int | None, seed: int) -> Split:
    histories = tuple(history for name, history in benchmark.histories.items() if name in chosen)
    instances: list[Instance] = []
    for history in histories:
        own = [instance for instance in benchmark.instances if instance.history_id == history.id]
        instances += own if per_history is None else balanced(own, per_history, seed)
    return Split(histories, tuple(instances))
