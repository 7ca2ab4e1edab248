"""Histories: users merged so that one side of each preference dominates (PRefine section 4.2 (iii), appendix A.4)."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from eval.data.observations import established, executed_calls, stance_counts
from eval.data.preferences import Mapping, Stance
from eval.data.users import User
from prefine_dspy.types import History, Session

Role = Literal["supporting", "competing", "unrelated"]
Arrangement = Literal["single", "interleaved", "ordered", "shuffled", "drifting"]


class Part(BaseModel):
    """What one user gave to a history: the ids of their sessions, in their own order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str
    source: str
    role: Role
    sessions: tuple[str, ...]


class HistoryMeta(BaseModel):
    """Where a history comes from, for splits by user and for checks; never shown to a program.

    Args:
        parts: the users it was merged from.
        arrangement: "ordered" puts the minority side's sessions first, "shuffled" is a contested history that does
            not, "interleaved" an uncontested one of several users, "drifting" that of a user who changed
            (`eval.data.drift`).
        preferences: what it establishes; a celebrity stands for their prefers_star.
        majority, minority: the two sides of a contested history, else empty; of a drifting one the new and the old.
        changed_after: sessions before the change of a drifting history, else 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    parts: tuple[Part, ...]
    arrangement: Arrangement
    preferences: tuple[str, ...]
    majority: str = ""
    minority: str = ""
    changed_after: int = 0

    @property
    def contested(self) -> bool:
        """Composed with the sessions of an opposing side."""
        return bool(self.majority)


class Record(BaseModel):
    """One line of histories.jsonl."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    history: History
    meta: HistoryMeta


class Shape(NamedTuple):
    """What the histories of a build look like.

    Args:
        sessions: fewest and most sessions of one history.
        contested: wanted share of contested histories (the paper has 161 of 459).
        unrelated: share of single-source histories that get a user without any preference merged in.
        plain: wanted share of histories that establish nothing, and so are only asked for Recall.
        merge_all: merge users even if one alone is long enough.
    """

    sessions: tuple[int, int] = (5, 22)
    contested: float = 0.35
    unrelated: float = 0.35
    plain: float = 0.1
    merge_all: bool = False


# the share of users of a preference who may meet their opposite; keeps uncontested histories of a rare side
OPEN_TO_CONTEST = 0.75
MATCHES_TRIED = 25


class _Candidate:
    def __init__(self, user: User, mapping: Mapping) -> None:
        self.user = user
        self.calls = executed_calls(user.sessions)
        self.stances = stance_counts(self.calls, mapping)
        self.established = frozenset(established(self.calls, mapping))

    def __len__(self) -> int:
        return len(self.user.sessions)


def two_sided(stances: Counter[Stance]) -> bool:
    """Both sides of some axis are expressed repeatedly."""
    repeated = [stance for stance, n in stances.items() if n >= 2]
    return any(a.opposes(b) for a in repeated for b in repeated)


def compose(users: Sequence[User], mapping: Mapping, rng: random.Random, shape: Shape) -> list[Record]:
    """Merges users into histories; nobody is in two of them.

    Args:
        users: each must hold at most one side of an axis repeatedly; others are left out.
        mapping: which arguments express which preference.
        rng: who is merged with whom, and the order.
        shape: sizes and shares.
    """
    pool = [c for c in (_Candidate(user, mapping) for user in users) if not two_sided(c.stances)]
    rng.shuffle(pool)
    return _Composer(pool, mapping, rng, shape).run()


class _Composer:
    def __init__(self, pool: list[_Candidate], mapping: Mapping, rng: random.Random, shape: Shape) -> None:
        self.holders = [c for c in pool if c.established]
        self.plain = [c for c in pool if not c.established]
        self.sources = len({c.user.source for c in pool})
        self.mapping = mapping
        self.rng = rng
        self.shape = shape
        self.records: list[Record] = []

    def run(self) -> list[Record]:
        self._contested()
        while self.holders:
            self._merged(self.holders.pop())
        for _ in range(round(self.shape.plain * len(self.records))):
            if self.plain:
                self._merged(self.plain.pop())
        return self.records

    def _contested(self) -> None:
        per_history = 2.0 if self.shape.merge_all or self.sources > 1 else 1.0
        share = self.shape.contested
        wanted = round(share * len(self.holders) / (per_history + share * (2 - per_history)))
        held = Counter(stance for c in self.holders for stance in c.established)
        willing = [c for c in self.holders if self.rng.random() < OPEN_TO_CONTEST]
        for first in list(willing):
            if len(self.records) >= wanted:
                return
            if first not in willing:
                continue
            matches = ((second, sides) for second in willing if (sides := self._sides(first, second)))
            pairs = list(itertools.islice(matches, MATCHES_TRIED))
            if pairs:
                # the common side would nearly always win: every other time the rare one does, if it can
                rare_wins = len(self.records) % 2 == 1
                second, (major, minor) = max(pairs, key=lambda pair: (held[pair[1][0]] < held[pair[1][1]]) == rare_wins)
                for member in (first, second):
                    willing.remove(member)
                    self.holders.remove(member)
                self._contest(first, second, major, minor)

    def _sides(self, a: _Candidate, b: _Candidate) -> tuple[Stance, Stance] | None:
        """(majority, minority) if the two oppose each other on one axis and one side wins strictly."""
        pairs = [(x, y) for x in a.established for y in b.established if x.opposes(y)]
        if len(pairs) != 1 or len(a) + len(b) > self.shape.sessions[1]:
            return None
        if two_sided(_without(a.stances + b.stances, pairs[0][0].axis)):
            return None
        after = established(a.calls + b.calls, self.mapping)
        kept = [(x, y) for x, y in (pairs[0], pairs[0][::-1]) if x in after]
        return kept[0] if kept else None

    def _contest(self, a: _Candidate, b: _Candidate, major: Stance, minor: Stance) -> None:
        majority, minority = (a, b) if major in a.established else (b, a)
        others = self._others([majority, minority])
        arrangement: Arrangement = "ordered" if len(self.records) % 2 == 0 else "shuffled"
        sessions = arrange_contested(
            majority.user.sessions, minority.user.sessions, [c.user.sessions for c in others], arrangement, self.rng
        )
        parts = [_part(majority, "supporting"), _part(minority, "competing")]
        parts += [_part(c, "unrelated") for c in others]
        self._record(sessions, parts, arrangement, str(major), str(minor))

    def _merged(self, first: _Candidate) -> None:
        members = [first]
        while extra := self._next_member(members):
            members.append(extra)
        members += self._others(members)
        if sum(map(len, members)) < self.shape.sessions[0]:
            return
        sessions = interleave([m.user.sessions for m in members], self.rng)
        parts = [_part(m, "supporting" if m.established else "unrelated") for m in members]
        self._record(sessions, parts, "interleaved" if len(members) > 1 else "single")

    def _next_member(self, members: list[_Candidate]) -> _Candidate | None:
        """A user of another source, as long as there are sources and room left and the dice say so."""
        used = {m.user.source for m in members}
        if len(used) >= self.sources or (len(members) > 1 and self.rng.random() < 0.5):
            return None
        pools = [self.holders, self.plain] if self.rng.random() < 0.75 else [self.plain, self.holders]
        for pool in pools:
            for candidate in pool:
                if candidate.user.source not in used and self._fits(members, candidate):
                    pool.remove(candidate)
                    return candidate
        return None

    def _others(self, members: list[_Candidate]) -> list[_Candidate]:
        """Users without a preference, to reach the shortest length or, sometimes, to distract."""
        extra: list[_Candidate] = []
        distract = len(members) == 1 and self.sources == 1 and self.rng.random() < self.shape.unrelated
        while sum(map(len, members + extra)) < self.shape.sessions[0] or distract:
            distract = False
            found = next((c for c in self.plain if self._fits(members + extra, c)), None)
            if found is None:
                break
            self.plain.remove(found)
            extra.append(found)
        return extra

    def _fits(self, members: list[_Candidate], extra: _Candidate) -> bool:
        """There is room, no axis gets two repeated sides, and what was established stays so."""
        everyone = [*members, extra]
        if sum(map(len, everyone)) > self.shape.sessions[1]:
            return False
        both = sum((m.stances for m in everyone), Counter())
        contested = len(members) > 1 and two_sided(sum((m.stances for m in members), Counter()))
        if not contested and two_sided(both):
            return False
        if any(a.opposes(b) for a in extra.stances for m in members for b in m.stances):
            return False
        before = established([call for m in members for call in m.calls], self.mapping)
        return set(before) <= set(established([call for m in everyone for call in m.calls], self.mapping))

    def _record(
        self,
        sessions: Sequence[Session],
        parts: list[Part],
        arrangement: Arrangement,
        majority: str = "",
        minority: str = "",
    ) -> None:
        kind = "contested" if majority else "single" if len(parts) == 1 else "merged"
        history = History(id=f"{kind}-{len(self.records):04d}", sessions=tuple(sessions))
        held = tuple(sorted(map(str, established(executed_calls(sessions), self.mapping))))
        meta = HistoryMeta(
            parts=tuple(parts), arrangement=arrangement, preferences=held, majority=majority, minority=minority
        )
        self.records.append(Record(history=history, meta=meta))


def _part(candidate: _Candidate, role: Role) -> Part:
    user = candidate.user
    return Part(user=user.id, source=user.source, role=role, sessions=tuple(s.id for s in user.sessions))


def _without(stances: Counter[Stance], axis: str) -> Counter[Stance]:
    return Counter({stance: n for stance, n in stances.items() if stance.axis != axis})


def interleave(chains: Sequence[Sequence[Session]], rng: random.Random) -> list[Session]:
    """A uniformly random merge that keeps the order inside each chain."""
    slots = [k for k, chain in enumerate(chains) for _ in chain]
    rng.shuffle(slots)
    cursors = [iter(chain) for chain in chains]
    return [next(cursors[k]) for k in slots]


def arrange_contested(
    majority: Sequence[Session],
    minority: Sequence[Session],
    others: Sequence[Sequence[Session]],
    arrangement: Arrangement,
    rng: random.Random,
) -> list[Session]:
    """ "ordered": every session of the minority before those of the majority; "shuffled": a merge that is not that."""
    if arrangement == "ordered":
        return interleave([[*minority, *majority], *others], rng)
    while True:
        merged = interleave([majority, minority, *others], rng)
        ids = [session.id for session in merged]
        if ids.index(minority[-1].id) > ids.index(majority[0].id):
            return merged
