"""An agent's new state, checked and merged into the old one. What was wrong with it is counted, nothing raises.

Goals do not vanish because a weak LM left them out: intents, variables and constraints that code can check stay
until the agent says something else about them. Rules that only the agent can judge are its own, and are what it last
said they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from prefine_dspy.situation.condition_text import read_condition
from prefine_dspy.situation.grounding import Grounding, Test
from prefine_dspy.situation.identity import scalar_text
from prefine_dspy.situation.layer import (
    CONSTRAINT_KINDS,
    CONSTRAINT_STATUSES,
    DEPENDENCY_STATUSES,
    HOW_TO_GET,
    INTENT_STATUSES,
    Constraint,
    Intent,
    StateLayer,
    Variable,
)
from prefine_dspy.situation.propagation import Check, split_dependency

ProblemKind = Literal[
    "missing",
    "unreadable",
    "entry",
    "status",
    "source",
    "dependency",
    "unlinked",
    "ungroundable",
    "overruled",
    "kept",
    "many",
]
_LONGEST_TEXT = 600
_LONGEST_NAME = 120
_MOST = {"intents": 40, "variables": 120, "constraints": 80}
_MAIN_NAMES = {
    "intents": ("name", "id", "goal"),
    "variables": ("name", "id"),
    "constraints": ("name", "id", "condition"),
}


class Problem(NamedTuple):
    """Something that was wrong with a proposed state.

    Args:
        kind: "missing" (no state in the text), "unreadable", "entry" (one that is none), "status" or "source" (a word
            that is none), "dependency" (on an unknown intent or status), "unlinked" (a constraint that guards no known
            intent), "ungroundable" (a check that code cannot read), "overruled" (code found otherwise), "kept" (left
            out, but it stays), "many" (more than a state may hold).
        detail: which one, in words.
    """

    kind: ProblemKind
    detail: str


@dataclass
class _Reader:
    """Reads the entries of plain sections, counting problems."""

    problems: list[Problem] = field(default_factory=list)

    def note(self, kind: ProblemKind, detail: str) -> None:
        self.problems.append(Problem(kind, detail[:200]))

    def entries(self, section: str, value: Any) -> list[tuple[str, dict[str, Any]]]:
        """(name, fields) of every entry of a section; an object's keys are names."""
        if isinstance(value, Mapping):
            pairs: list[tuple[str, Any]] = [(str(name), one) for name, one in value.items()]
        else:
            pairs = [("", one) for one in value] if isinstance(value, list | tuple) else []
            if value is not None and not isinstance(value, list | tuple):
                self.note("entry", f"{section} is no list")
        found: dict[str, dict[str, Any]] = {}
        for name, one in pairs:
            if isinstance(one, Mapping):
                fields = {str(key).strip().casefold(): inner for key, inner in one.items()}
            else:  # a bare name, or {"name": status}
                fields = {"name": _text(one)} if not name else {_SHORT[section]: one}
            name = name or next((text for key in _MAIN_NAMES[section] if (text := _text(fields.get(key)))), "")
            if not name or not (isinstance(one, Mapping) or isinstance(one, str) or one is None or name):
                self.note("entry", f"an entry of {section} has no name")
                continue
            found[name[:_LONGEST_NAME]] = fields
        if len(found) > _MOST[section]:
            self.note("many", f"{len(found)} {section}; {_MOST[section]} are read")
        return list(found.items())[: _MOST[section]]

    def word(self, kind: Literal["status", "source"], value: Any, allowed: tuple[str, ...], otherwise: str) -> str:
        word = _text(value).strip().strip("\"'*_`").casefold()
        if word in allowed:
            return word
        if word or value is not None:
            self.note(kind, f"{word!r} is none of {', '.join(allowed)}")
        return otherwise

    def intent(self, name: str, fields: Mapping[str, Any], old: Intent | None) -> Intent:
        status = self.word("status", fields.get("status"), INTENT_STATUSES, old.status if old else "pending")
        goal = _text(fields.get("goal") or fields.get("description"))
        return Intent(
            name=name,
            status=status,  # type: ignore[arg-type]
            goal=("" if goal == name else goal) or (old.goal if old else ""),
            reason=_text(fields.get("reason")),
            depends_on=_texts(fields["depends_on"]) if "depends_on" in fields else old.depends_on if old else (),
        )

    def variable(self, name: str, fields: Mapping[str, Any], old: Variable | None) -> Variable:
        source = self.word("source", fields.get("source"), HOW_TO_GET, old.source if old else "askable")
        value = _plain(fields.get("value", old.value if old else None))
        known = _truth(fields.get("known"), otherwise=value not in (None, "", "unknown"))
        same = old is not None and old.known and known and old.value == value
        return Variable(
            name=name,
            value=value if known else None,
            source=source,  # type: ignore[arg-type]
            known=known,
            evidence=_text(fields.get("evidence")) or (old.evidence if old and same else ""),
            needed_by=_texts(fields["needed_by"]) if "needed_by" in fields else old.needed_by if old else (),
            provenance=old.provenance if old and same else "",
        )

    def constraint(self, name: str, fields: Mapping[str, Any], old: Constraint | None) -> Constraint:
        if old is not None and old.pinned:
            return old
        kind = self.word("status", fields["kind"], CONSTRAINT_KINDS, "") if fields.get("kind") else ""
        given = next((fields[key] for key in ("check", "grounding") if fields.get(key)), None)
        grounding = read_grounding(given) if given is not None else old.grounding if old else None
        if given is not None and grounding is None:
            self.note("ungroundable", f"{name}: {_text(given)}")
        guards = next((_texts(fields[key]) for key in ("guards", "intents", "intent") if key in fields), None)
        if guards is None:
            scope = _text(fields.get("scope"))
            guards = old.guards if old else (scope,) if scope else ()
        return Constraint(
            name=name,
            condition=_text(fields.get("condition")) or (old.condition if old else name),
            guards=guards,
            grounding=grounding,
            status=self.word("status", fields.get("status"), CONSTRAINT_STATUSES, old.status if old else "unsatisfied"),  # type: ignore[arg-type]
            evidence=_text(fields.get("evidence")),
            kind=kind or (old.kind if old else None),  # type: ignore[arg-type]
        )


_SHORT = {"intents": "status", "variables": "value", "constraints": "status"}
Noun = TypeVar("Noun", Intent, Variable, Constraint)


def merge(
    sections: Mapping[str, Any], old: StateLayer, check: Check, constraints: bool = True
) -> tuple[StateLayer, tuple[Problem, ...]]:
    """The agent's word after a new state, and what was wrong with it.

    Args:
        sections: intents, variables, constraints as plain values; a section that is absent changes nothing.
        old: the agent's word so far.
        check: what code made of it, which is what the agent was shown.
        constraints: False ignores them (ablation).
    """
    reader = _Reader()
    intents = _merged(reader, sections, "intents", old.intents, reader.intent)
    variables = _merged(reader, sections, "variables", old.variables, reader.variable)
    rules = old.constraints
    if constraints and "constraints" in sections:
        rules = _merged(reader, sections, "constraints", old.constraints, reader.constraint)
    names = {one.name for one in intents}
    intents = tuple(_without_echo(reader, one, old.intent(one.name), check) for one in intents)
    _note_dependencies(reader, intents, names)
    rules = tuple(_linked(reader, one, names) for one in rules)
    _note_overruled(reader, rules, old, check)
    return StateLayer(intents=intents, variables=variables, constraints=rules), tuple(reader.problems)


def _merged(
    reader: _Reader,
    sections: Mapping[str, Any],
    section: str,
    old: tuple[Noun, ...],
    read: Callable[[str, Mapping[str, Any], Noun | None], Noun],
) -> tuple[Noun, ...]:
    if section not in sections:
        return old
    before = {one.name: one for one in old}
    new = {name: read(name, fields, before.get(name)) for name, fields in reader.entries(section, sections[section])}
    kept = dict(before)
    for name, one in before.items():
        if name not in new and isinstance(one, Constraint) and one.grounding is None and not one.pinned:
            del kept[name]
        elif name not in new and not (isinstance(one, Constraint) and one.pinned):
            reader.note("kept", f"{section}: {name}")
    merged = list((kept | new).values())
    if len(merged) > _MOST[section]:
        reader.note("many", f"{len(merged)} {section}; the first {_MOST[section]} are kept")
    return tuple(merged[: _MOST[section]])


def _without_echo(reader: _Reader, intent: Intent, old: Intent | None, check: Check) -> Intent:
    """What code found and the agent merely repeats is not the agent's own word, or a block could never be lifted."""
    found = check.layer.intent(intent.name)
    if old is None or found is None:
        return intent
    if intent.status == found.status and found.status != old.status:
        return intent.model_copy(update={"status": old.status, "reason": old.reason})
    if found.status == "blocked" and check.blocked(intent.name):
        if intent.status == "blocked":
            return intent.model_copy(update={"status": old.status, "reason": old.reason})
        if intent.status in ("active", "pending"):
            reader.note("overruled", f"{intent.name} is blocked: {found.reason}")
    return intent


def _note_dependencies(reader: _Reader, intents: tuple[Intent, ...], names: set[str]) -> None:
    for intent in intents:
        for text in intent.depends_on:
            name, status = split_dependency(text)
            if name not in names or status not in DEPENDENCY_STATUSES:
                reader.note("dependency", f"{intent.name} waits for {text}, which is no intent's status")


def _linked(reader: _Reader, constraint: Constraint, names: set[str]) -> Constraint:
    """The constraint with the intents it guards; a free scope that is no intent's name guards none."""
    known = tuple(one for one in constraint.guards if one in names)
    if not known and not constraint.pinned:
        reader.note("unlinked", f"{constraint.name} guards no intent")
    return constraint if constraint.pinned else constraint.model_copy(update={"guards": known})


def _note_overruled(reader: _Reader, rules: tuple[Constraint, ...], old: StateLayer, check: Check) -> None:
    for one in rules:
        found = check.layer.constraint(one.name)
        if (
            one.grounding
            and found
            and one.grounding == found.grounding
            and one.status != found.status
            and not one.pinned
        ):
            reader.note("overruled", f"{one.name} is {found.status}: {found.evidence}")


def read_grounding(value: Any) -> Grounding | None:
    """A grounding from a line of text, or from an object with the fields of `Grounding` or of one test."""
    if isinstance(value, Grounding):
        return value
    if isinstance(value, str):
        return read_condition(value)
    if not isinstance(value, Mapping):
        return None
    fields = {str(key).casefold(): one for key, one in value.items()}
    entity = fields.get("entity")
    if isinstance(entity, Mapping):
        fields |= {str(key).casefold(): one for key, one in entity.items()}
    elif isinstance(entity, str):
        type, blank, id = entity.strip().partition(" ")
        fields |= {"type": type, "id": id.strip()} if blank else {"id": type}
    try:
        tests = fields.get("tests") or [_test_fields(fields)]
        read = [
            Test.model_validate(_test_fields({str(key).casefold(): one for key, one in each.items()})) for each in tests
        ]
        texts = {key: _text(fields[key]) for key in ("type", "id", "over") if key in fields}
        rest = {key: fields[key] for key in ("quantifier", "join") if key in fields}
        grounding = Grounding.model_validate({**texts, **rest, "tests": tuple(read)})
    except (ValidationError, AttributeError, TypeError):
        return None
    return grounding if grounding.type or grounding.id else None


def _test_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    operator = _text(fields.get("operator", fields.get("op", "=="))).strip()
    return {
        "attribute": fields.get("attribute"),
        "operator": "==" if operator == "=" else operator,
        "value": _plain(fields.get("value", fields.get("required"))),
    }


def _text(value: Any) -> str:
    """A field's text, in one line and not endless."""
    if value is None:
        return ""
    return " ".join(scalar_text(value)[: 4 * _LONGEST_TEXT].split())[:_LONGEST_TEXT]


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(text for one in values[:50] if (text := _text(one)[:_LONGEST_NAME]))


def _plain(value: Any) -> Any:
    """A value of an agent, not endless: numbers, truth values and short lists as they are, the rest as text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if (
        isinstance(value, list | tuple)
        and len(value) <= 50
        and all(isinstance(one, str | int | float) for one in value)
    ):
        return [_text(one) if isinstance(one, str) else one for one in value]
    return _text(value)


def _truth(value: Any, otherwise: bool) -> bool:
    if isinstance(value, bool):
        return value
    word = _text(value).casefold()
    return word in ("true", "yes", "known") if word in ("true", "yes", "known", "false", "no", "unknown") else otherwise
