"""A state as text: JSON, YAML, the paper's notation with dashes, and its short form, which is the most compact.

All of them read back to the same state.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import yaml

from prefine_dspy.situation.condition_text import condition_text
from prefine_dspy.situation.layer import StateLayer
from prefine_dspy.situation.state_dialect import bare_value

StateForm = Literal["json", "yaml", "dialect", "short"]


def write_state(layer: StateLayer, form: StateForm = "short") -> str:
    """The text of a state; every field that says nothing is left out."""
    return _WRITERS[form](state_fields(layer))


def state_fields(layer: StateLayer) -> dict[str, list[dict[str, Any]]]:
    """The sections as plain objects, with groundings as one line of text each."""
    return {
        "intents": [
            _said({"name": one.name, "goal": one.goal, "status": one.status, "reason": one.reason})
            | _said({"depends_on": list(one.depends_on)})
            for one in layer.intents
        ],
        "variables": [
            {"name": one.name, "value": one.value, "source": one.source, "known": one.known}
            | _said({"evidence": one.evidence, "needed_by": list(one.needed_by), "provenance": one.provenance})
            for one in layer.variables
        ],
        "constraints": [
            _said({"name": one.name, "condition": "" if one.condition == one.name else one.condition})
            | {"status": one.status}
            | _said({"guards": list(one.guards), "kind": one.kind})
            | ({"check": condition_text(one.grounding)} if one.grounding else {})
            | _said({"evidence": one.evidence})
            for one in layer.constraints
        ],
    }


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", [], None)}


Sections = dict[str, list[dict[str, Any]]]


def _json(sections: Sections) -> str:
    return json.dumps(sections, ensure_ascii=False, separators=(",", ":"), default=str)


class _Dumper(yaml.SafeDumper):
    """Writes text in quotes that would read back as something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _quoted_where_needed(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if bare_value(text) == text else '"')


_Dumper.add_representer(str, _quoted_where_needed)


def _yaml(sections: Sections) -> str:
    plain = json.loads(_json(sections))
    return yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000).rstrip()


def _dialect(sections: Sections) -> str:
    lines: list[str] = []
    for section, entries in sections.items():
        lines.append(f"{section}:")
        for entry in entries:
            fields = [f"{name}: {_value(name, value)}" for name, value in entry.items()]
            if section == "variables":  # as the paper has it: how to get it and whether it is known on one line
                at = next(index for index, field in enumerate(fields) if field.startswith("source: "))
                fields[at : at + 2] = [" | ".join(fields[at : at + 2])]
            lines += [
                f"  {'- ' if first else '  '}{field}" for first, field in zip(_first(fields), fields, strict=True)
            ]
    return "\n".join(lines)


def _short(sections: Sections) -> str:
    lines: list[str] = []
    for section, entries in sections.items():
        if entries:
            lines.append(f"{section}:")
            lines += [_short_line(section, dict(entry)) for entry in entries]
    return "\n".join(lines)


def _short_line(section: str, entry: dict[str, Any]) -> str:
    name = entry.pop("name")
    head = name if _is_plain_name(name) else None
    if head is None:
        return "- " + " ".join(f"{key}: {_value(key, value)}" for key, value in {"name": name, **entry}.items())
    if section == "variables":
        value, source, known = (entry.pop(key) for key in ("value", "source", "known"))
        text = f"{head}: {_json_text(value)} source: {source} | known: {_json_text(known)}"
    else:
        main = entry.pop("goal" if section == "intents" else "condition", None)
        status = entry.pop("status")
        text = (f"{head}: {_json_text(main)}" if main else head) + f" -> {status}"
    return text + "".join(f" {key}: {_value(key, value)}" for key, value in entry.items())


def _first(fields: list[str]) -> list[bool]:
    return [not index for index in range(len(fields))]


def _value(name: str, value: Any) -> str:
    if name in ("status", "source", "kind"):
        return str(value)
    if name in ("depends_on", "guards", "needed_by") and all(_is_plain_name(one.replace(".", "")) for one in value):
        return f"[{', '.join(value)}]"
    return _json_text(value)


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_plain_name(text: str) -> bool:
    return text.isidentifier() and text.isascii() and text not in _RESERVED


_RESERVED = frozenset(
    "intents variables constraints name status goal reason value source known evidence scope condition".split()
)
_WRITERS: dict[str, Callable[[Sections], str]] = {"json": _json, "yaml": _yaml, "dialect": _dialect, "short": _short}
