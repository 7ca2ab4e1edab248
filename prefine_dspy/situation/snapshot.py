"""Which facts a prompt shows: every current value, or, on a budget, old listings and entities by their names only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from prefine_dspy.situation.extraction import RESULT
from prefine_dspy.situation.facts import FactStore, Source
from prefine_dspy.situation.identity import EntityKey

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class View:
    """An entity as it is shown.

    Args:
        key: which one.
        values: its current values by attribute.
        source: of the newest of them.
    """

    key: EntityKey
    values: dict[str, Any]
    source: Source


FactRenderer = Callable[[Sequence[View]], str]


def snapshot(facts: FactStore, verbatim: Collection[tuple[EntityKey, str]] = ()) -> list[View]:
    """Every entity with something to show, in the order in which they came.

    A listing whose elements are shown with the arguments of its search is not shown once more.

    Args:
        verbatim: attributes whose value stands in the history as it came, so that they need not be shown here.
    """
    views = []
    for key in facts:
        entity = facts.entity(key)
        values = {name: fact.value for name, fact in entity.items() if (key, name) not in verbatim}
        if _is_shown_by_elements(values.get(RESULT)):
            del values[RESULT]
        if values:
            views.append(View(key, values, max((fact.source for fact in entity.values()), key=lambda one: one.step)))
    return views


def _is_shown_by_elements(result: Any) -> bool:
    """Whether a result is a plain list of entities that all carry the search they were found by."""
    return bool(result) and isinstance(result, list) and all(isinstance(one, EntityKey) and one.scope for one in result)


def within(
    budget: int,
    views: Sequence[View],
    render: FactRenderer,
    count: TokenCounter,
    protected: Callable[[View], bool],
) -> str:
    """The facts in at most that many tokens: what does not fit is named, oldest first, not shown.

    First go listed entities of older searches, then everything else that is not protected, then the protected ones.
    When even the names are too long, only their number is told.

    Args:
        protected: entities that a constraint or a variable refers to.
    """
    text = render(views)
    if count(text) <= budget:
        return text
    newest = max((view.source.step for view in views if view.key.scope), default=0)
    order = sorted(
        range(len(views)),
        key=lambda at: (
            protected(views[at]),
            not (views[at].key.scope and views[at].source.step < newest),
            views[at].source.step,
            at,
        ),
    )

    def folded(number: int, tell: Callable[[Iterable[View]], str]) -> str:
        away = set(order[:number])
        shown = [view for at, view in enumerate(views) if at not in away]
        gone = [view for at, view in enumerate(views) if at in away]
        return "\n".join(part for part in (render(shown) if shown else "", tell(gone)) if part)

    for tell in (_names, _numbers):
        low, high = 1, len(views)
        while low < high:  # the fewest that must go
            middle = (low + high) // 2
            low, high = (low, middle) if count(folded(middle, tell)) <= budget else (middle + 1, high)
        if count(text := folded(low, tell)) <= budget:
            return text
    return text


def _names(views: Iterable[View]) -> str:
    """`not shown: reservation R42 R43; flight (date=2024-05-20) XY1 XY2`."""
    groups: dict[str, list[str]] = {}
    for view in views:
        scope = str(EntityKey("", "", view.key.scope)).strip()
        groups.setdefault(f"{view.key.type} {scope}".rstrip(), []).append(view.key.id)
    return "not shown: " + "; ".join(f"{group} {' '.join(ids)}".rstrip() for group, ids in groups.items())


def _numbers(views: Iterable[View]) -> str:
    counts: dict[str, int] = {}
    for view in views:
        counts[view.key.type] = counts.get(view.key.type, 0) + 1
    return "not shown: " + ", ".join(f"{number} {type}" for type, number in counts.items())
