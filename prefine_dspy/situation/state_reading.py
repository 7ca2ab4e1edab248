"""Text of a state as plain objects: JSON, YAML, or the paper's notation."""

from __future__ import annotations

import json
import re
from typing import Any

import json_repair
import yaml

from prefine_dspy.situation.state_dialect import SECTIONS, bare_value, read_dialect

LONGEST = 20_000
"""Characters of a state; a longer one is noise, and YAML takes seconds for it."""
_LONGEST_REPAIR = 4_000
_MOST_WRAPPERS = 3
_MOST_BRACKETS = 400
"""Of a state that is no JSON: more are noise, which the tolerant readers take seconds for."""


def read_sections(text: str) -> dict[str, Any] | None:
    """The sections of a state as plain values, nothing checked; None if the text is no state. Never raises."""
    text = text.strip("\ufeff \t\r\n")
    if not text or len(text) > LONGEST:
        return None
    readings = (_json, _yaml, _dialect, _repaired_json)
    for read in readings:
        try:
            value = read(text)
        except Exception:  # noqa: BLE001 - third-party parsers raise many types on hostile text
            continue
        if (found := sections_of(value)) is not None:
            return found
    return None


def sections_of(value: Any) -> dict[str, Any] | None:
    """The part of a decoded value that is a state, also below a key such as "state"."""
    for _ in range(_MOST_WRAPPERS):
        if not isinstance(value, dict):
            return None
        plain = {str(key).strip().casefold(): one for key, one in value.items()}
        if found := {name: plain[name] for name in SECTIONS if name in plain}:
            return found
        value = next((plain[key] for key in ("state", "state_layer") if key in plain), None)
    return None


def _json(text: str) -> Any:
    return json.loads(text) if text[0] == "{" else None


def _repaired_json(text: str) -> Any:
    if text.count("[") + text.count("{") > _MOST_BRACKETS:
        return None
    start = text.find("{")
    return json_repair.loads(text[start : start + _LONGEST_REPAIR]) if start >= 0 else None


def _dialect(text: str) -> Any:
    return read_dialect(text) if text[0] != "{" else None


def _yaml(text: str) -> Any:
    if text.count("[") + text.count("{") > _MOST_BRACKETS:
        return None
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader with less


class _Loader(yaml.SafeLoader):
    """YAML without its surprises: no dates, base-60 times, yes/no, and no aliases, which can grow without end."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as PyYAML has it

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def _scalar(loader: _Loader, node: yaml.ScalarNode) -> Any:
    return bare_value(str(node.value)) if node.style is None else str(node.value)


_Loader.add_constructor("tag:yaml.org,2002:str", _scalar)
