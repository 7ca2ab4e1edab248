"""Users: the sessions of one person from one corpus, in order (PRefine section 4.2 (i) and appendix A.4).

DuRecDial names its seekers and HomeBench its homes; SGD names nobody, so its sessions are grouped into synthetic users.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from eval.data.observations import evidence, executed_calls, stance_counts
from eval.data.preferences import Mapping, Stance
from prefine_dspy.types import Session

USER_SESSIONS = (5, 10)
SUPPORTING_SESSIONS = (2, 5)
# a side that the corpus shows seldom is spread thin: each group of it can be the minority of a contested history
SCARCE_SUPPORT = (2, 4)
# the share of users who hold a second preference, on another axis (the paper: 36 % of histories hold two or more)
SECOND_PREFERENCE = 0.4


class User(BaseModel):
    """One person's sessions.

    Args:
        id: unique in a build.
        source: the corpus, e.g. "sgd".
        sessions: oldest first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    source: str
    sessions: tuple[Session, ...]


def synthetic_users(
    sessions: Iterable[Session], mapping: Mapping, rng: random.Random, source: str = "sgd"
) -> list[User]:
    """Groups the sessions of a corpus without users, so that each group holds one side of at most one preference
    of each axis, spread over two functions or more, among sessions that have nothing to do with it.

    Args:
        sessions: those without a call are left out.
        mapping: which arguments express which preference.
        rng: the order and sizes.
        source: the corpus' name.
    """
    shelf = _Shelf(sessions, mapping, rng)
    groups: list[list[Session]] = []
    # the scarcest side first: what it needs must not have been used to fill up others
    for stance in sorted(shelf.supply, key=lambda s: len(shelf.supply[s])):
        while supporting := shelf.take_supporting(stance):
            held = [stance]
            if rng.random() < SECOND_PREFERENCE:
                second, more = shelf.take_second(stance, supporting)
                supporting += more
                held += second
            groups.append(shelf.fill_up(supporting, held))
    groups += shelf.rest()
    rng.shuffle(groups)
    return [User(id=f"{source}-{n:04d}", source=source, sessions=tuple(group)) for n, group in enumerate(groups)]


def chunked_users(sessions: Iterable[Session], source: str, rng: random.Random) -> list[User]:
    """Consecutive sessions of one person or home, cut into users of realistic length."""
    rest = list(sessions)
    users = []
    while len(rest) >= USER_SESSIONS[0]:
        size = min(rng.randint(*USER_SESSIONS), len(rest))
        users.append(User(id=f"{source}-{rest[0].id}", source=source, sessions=tuple(rest[:size])))
        rest = rest[size:]
    return users


class _Shelf:
    """The sessions not yet given to a user, by the stance they express; those that express none fill up."""

    def __init__(self, sessions: Iterable[Session], mapping: Mapping, rng: random.Random) -> None:
        self.mapping = mapping
        self.rng = rng
        self.supply: dict[Stance, list[Session]] = defaultdict(list)
        self.neutral: list[Session] = []
        self.odd: list[Session] = []
        for session in sessions:
            if session.calls:
                self._place(session)
        for pile in (self.neutral, *self.supply.values()):
            rng.shuffle(pile)

    def _place(self, session: Session) -> None:
        stances = list(stance_counts(session.calls, self.mapping))
        if not stances:
            self.neutral.append(session)
        elif any(a.opposes(b) for a in stances for b in stances):
            self.odd.append(session)
        else:
            self.supply[self.rng.choice(stances)].append(session)

    def take_supporting(self, stance: Stance, beside: Sequence[Session] = ()) -> list[Session]:
        """Sessions that express the stance in two functions or more; [] when the shelf has too few left.

        Args:
            stance: what they express; they express nothing that opposes it.
            beside: sessions the same user already has, which they must agree with.
        """
        pile = self.supply[stance]
        rivals = [len(self.supply[other]) for other in self.supply if other.opposes(stance)]
        scarce = beside or max(rivals, default=0) > 3 * len(pile)
        wanted = self.rng.randint(*(SCARCE_SUPPORT if scarce else SUPPORTING_SESSIONS))
        taken: list[Session] = []
        for session in pile:
            functions = self._functions(taken, stance)
            if len(taken) >= wanted:
                break
            # never fill the last place with the same function again
            if len(functions) == 1 and len(taken) == wanted - 1 and self._functions([session], stance) <= functions:
                continue
            if self._agrees([*beside, *taken, session]):
                taken.append(session)
        if len(self._functions(taken, stance)) < 2:
            return []
        used = {session.id for session in taken}
        self.supply[stance] = [session for session in pile if session.id not in used]
        return taken

    def take_second(self, first: Stance, beside: Sequence[Session]) -> tuple[list[Stance], list[Session]]:
        """A second preference on another axis with the sessions that show it, as long as there are some."""
        others = [stance for stance in self.supply if stance.axis != first.axis and len(self.supply[stance]) > 50]
        if not others:
            return [], []
        stance = self.rng.choice(sorted(others))
        more = self.take_supporting(stance, beside)
        return ([stance], more) if more else ([], [])

    def _functions(self, sessions: Sequence[Session], stance: Stance) -> set[str]:
        return {call.name for call in executed_calls(sessions) if stance in self.mapping.labels(call)}

    def _agrees(self, sessions: Sequence[Session]) -> bool:
        stances = list(stance_counts(executed_calls(sessions), self.mapping))
        return not any(a.opposes(b) for a in stances for b in stances)

    def fill_up(self, supporting: list[Session], held: Sequence[Stance]) -> list[Session]:
        """Adds sessions of no preference, shuffled in, as long as what supports the held ones outnumbers the rest."""
        group = list(supporting)
        size = max(self.rng.randint(*USER_SESSIONS), len(group) + 1)
        kept: list[Session] = []
        while self.neutral and len(group) < size and len(kept) < 50:
            session = self.neutral.pop()
            calls = executed_calls([*group, session])
            counts = [evidence(calls, stance, self.mapping) for stance in held]
            (group if all(n.supporting > n.competing for n in counts) else kept).append(session)
        self.neutral = kept + self.neutral
        self.rng.shuffle(group)
        return group

    def rest(self) -> list[list[Session]]:
        """Users of what is left: no preference of theirs is planned."""
        left = self.neutral + [session for pile in self.supply.values() for session in pile]
        self.rng.shuffle(left)
        groups = []
        while len(left) >= USER_SESSIONS[0]:
            size = self.rng.randint(*USER_SESSIONS)
            groups.append(left[:size])
            left = left[size:]
        return [group for group in groups if len(group) >= USER_SESSIONS[0]]
