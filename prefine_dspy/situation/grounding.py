"""What a constraint says about facts, in a form that code can check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from prefine_dspy.situation.comparison import Operator, holds
from prefine_dspy.situation.facts import FactStore, Found
from prefine_dspy.situation.identity import EntityKey, scalar_text
from prefine_dspy.situation.paths import path_text, read_path


class Test(BaseModel):
    """One comparison, e.g. `cabin != basic_economy`.

    Args:
        attribute: path inside the entity or element: `cabin`, `options.color`, `flights[0].date`.
        operator: see `comparison.holds`.
        value: what is required; a list for `in` and `not in`; not used by `exists`.
    """

    __test__ = False  # no test case of pytest's
    model_config = ConfigDict(frozen=True)

    attribute: str
    operator: Operator = "=="
    value: Any = None


class Grounding(BaseModel):
    """Tests on one entity, or on any or all of several.

    Args:
        type: of the entity ("reservation"); empty if the id alone tells.
        id: of the entity; empty for every entity of the type.
        over: path of a list or object in the entity, whose elements are tested instead of the entity itself
            (`variants` of a product).
        quantifier: "any": one of them must pass; "all": each must.
        join: "and": all tests hold; "or": one does.
        tests: one or more.
    """

    model_config = ConfigDict(frozen=True)

    type: str = ""
    id: str = ""
    over: str = ""
    quantifier: Literal["all", "any"] = "all"
    join: Literal["and", "or"] = "and"
    tests: tuple[Test, ...] = Field(min_length=1)


class Verdict(NamedTuple):
    """Args:
    holds: None while it cannot be told: the entity or attribute is not known, or does not compare.
    facts: what it rests on: the failing comparisons, or the holding ones.
    seen: how many entities or elements were looked at.
    """

    holds: bool | None
    facts: tuple[Found, ...] = ()
    seen: int = 0

    @property
    def evidence(self) -> str:
        """`reservation R42.cabin = basic_economy (step 3)`."""
        shown = [fact_text(one) for one in self.facts[:_MOST_SHOWN]]
        more = len(self.facts) - len(shown)
        return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


_MOST_SHOWN = 3
_LONGEST_SHOWN = 120


def fact_text(found: Found) -> str:
    """A fact as evidence: entity, attribute, value, step."""
    value = scalar_text(found.value)
    short = value if len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 1] + "…"
    return f"{found.entity}.{path_text(found.path)} = {short} (step {found.source.step})"


def evaluate(grounding: Grounding, facts: FactStore) -> Verdict:
    """Check a grounding against the facts as they are now. A missing fact never makes it false."""
    verdicts = [_tested(grounding, *subject, facts) for subject in _subjects(grounding, facts)]
    if not verdicts:
        return Verdict(None)
    outcomes = [one.holds for one in verdicts]
    result = _all(outcomes) if grounding.quantifier == "all" else _any(outcomes)
    basis = tuple(fact for one in verdicts if one.holds == result for fact in one.facts) if result is not None else ()
    return Verdict(result, basis, len(verdicts))


def _subjects(grounding: Grounding, facts: FactStore) -> Iterator[tuple[EntityKey, tuple[str | int, ...]]]:
    """Every entity, or path to an element, that is tested. Of one id in several scopes the newest counts."""
    if grounding.id:
        keys = facts.named(grounding.type, grounding.id)[:1]
    else:
        keys = facts.of_type(grounding.type)
    for key in keys:
        if not grounding.over:
            yield key, ()
            continue
        path = read_path(grounding.over)
        found = facts.find(key, path)
        if found is not None and isinstance(found.value, dict | list):
            for step in found.value if isinstance(found.value, dict) else range(len(found.value)):
                yield key, (*path, step)


def _tested(grounding: Grounding, key: EntityKey, at: tuple[str | int, ...], facts: FactStore) -> Verdict:
    outcomes: list[bool | None] = []
    basis: list[tuple[bool | None, Found]] = []
    for test in grounding.tests:
        found = facts.find(key, (*at, *read_path(test.attribute)))
        outcome = None if found is None else holds(found.value, test.operator, test.value)
        outcomes.append(outcome)
        if found is not None:
            basis.append((outcome, found))
    result = _all(outcomes) if grounding.join == "and" else _any(outcomes)
    return Verdict(result, tuple(found for outcome, found in basis if outcome == result))


def _all(outcomes: list[bool | None]) -> bool | None:
    return False if False in outcomes else None if None in outcomes else True


def _any(outcomes: list[bool | None]) -> bool | None:
    return True if True in outcomes else None if None in outcomes else False
