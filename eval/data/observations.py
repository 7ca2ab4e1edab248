"""What a history shows of a preference: counts of values, supporting, competing and unrelated observations.

An observation is one executed call of a session's record (PRefine section 7.1).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from eval.data.preferences import Mapping, Stance
from eval.instance import Evidence
from prefine_dspy.types import Session, ToolCall

ValueCounts = dict[tuple[str, str], Counter[str]]


def executed_calls(sessions: Iterable[Session]) -> list[ToolCall]:
    """All calls of the sessions' records, in order."""
    return [call for session in sessions for call in session.calls]


def value_counts(calls: Iterable[ToolCall]) -> ValueCounts:
    """How often each value occurs, by (function, argument)."""
    counts: ValueCounts = defaultdict(Counter)
    for call in calls:
        for function, argument, value in call.triplets():
            counts[function, argument][value] += 1
    return counts


def recurring(counts: ValueCounts) -> dict[tuple[str, str], str]:
    """The values that occur twice or more, where just one value of the argument does (appendix A.5)."""
    found = {pair: [value for value, n in values.items() if n >= 2] for pair, values in counts.items()}
    return {pair: values[0] for pair, values in found.items() if len(values) == 1}


def stance_counts(calls: Iterable[ToolCall], mapping: Mapping) -> Counter[Stance]:
    """How many observations express each stance."""
    return Counter(stance for call in calls for stance in set(mapping.labels(call)))


def evidence(calls: Iterable[ToolCall], stance: Stance, mapping: Mapping) -> Evidence:
    """R, C and U for a stance: a call that sets a tied argument to any other value competes (section 7.1)."""
    supporting = {(r.function, r.argument, value) for r in mapping.realisations(stance) for value in r.values}
    return _classify(calls, supporting, mapping.arguments(stance))


def value_evidence(calls: Iterable[ToolCall], triplet: tuple[str, str, str]) -> Evidence:
    """R, C and U for a recurring value that expresses none of the preferences: its argument alone is tied to it."""
    return _classify(calls, {triplet}, {triplet[:2]})


def _classify(calls: Iterable[ToolCall], supporting: set[tuple[str, str, str]], tied: set[tuple[str, str]]) -> Evidence:
    kinds: Counter[str] = Counter()
    for call in calls:
        triplets = list(call.triplets())
        if any(triplet in supporting for triplet in triplets):
            kinds["supporting"] += 1
        elif any(triplet[:2] in tied for triplet in triplets):
            kinds["competing"] += 1
        else:
            kinds["unrelated"] += 1
    return Evidence(**kinds)


def established(calls: list[ToolCall], mapping: Mapping) -> dict[Stance, Evidence]:
    """The stances a history establishes: expressed twice or more, in two functions, and by strictly more observations
    than compete (section 4.2). prefers_star has two functions in all, so one is enough for it: otherwise nothing
    could be left to transfer to.
    """
    found: dict[Stance, Evidence] = {}
    for stance, n in stance_counts(calls, mapping).items():
        functions = {call.name for call in calls if stance in mapping.labels(call)}
        counts = evidence(calls, stance, mapping)
        if n >= 2 and counts.supporting > counts.competing:
            if len(functions) >= 2 or stance.preference == "prefers_star":
                found[stance] = counts
    return found
