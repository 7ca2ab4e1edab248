"""The state that IDSS's answer holds: its JSON schema, and an update made whole.

An LM writes what is new or has changed; to write all of the state anew in every step would cost most of its tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefine_dspy.call_schema import plain_json
from prefine_dspy.situation.layer import CONSTRAINT_STATUSES, HOW_TO_GET, INTENT_STATUSES, StateLayer
from prefine_dspy.situation.state_reading import sections_of
from prefine_dspy.situation.state_writing import state_fields

# words, not ids: a small LM that begins a number inside a name writes digits up to its end
_WORDS = "[a-z]{1,12}(_[a-z]{1,12}){0,2}"
_NAME = {"type": "string", "pattern": f"^{_WORDS}$"}
_DEPENDENCY = {"type": "string", "pattern": f"^{_WORDS}[.](completed|blocked|resolved)$"}
_NAME_KEYS = ("name", "id", "goal", "condition")
# of one step; the 1.5B model fills what it is given, and longer updates took it a minute a step
_MOST = {"intents": 2, "variables": 2, "constraints": 1}


def state_type(constraints: bool = True) -> type:
    """A type for the `state` field of `IDSSStep`; validated values are plain JSON.

    Args:
        constraints: False leaves them out (ablation).
    """
    sections = {
        "intents": _entry({"name": _NAME, "status": _one_of(INTENT_STATUSES)}, depends_on=_list(_DEPENDENCY, 1)),
        "variables": _entry({"name": _NAME, "value": _text(40), "source": _one_of(HOW_TO_GET)}),
    }
    if constraints:
        fields = {"condition": _text(50), "status": _one_of(CONSTRAINT_STATUSES), "guards": _list(_NAME, 1)}
        sections["constraints"] = _entry(fields, check=_text(60))
    properties = {name: _list(entry, _MOST[name]) for name, entry in sections.items()}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return plain_json("state", schema)


def whole_state(update: Mapping[str, Any], held: StateLayer) -> Mapping[str, Any]:
    """The state after an update: its entries, and those held ones that it does not name.

    Args:
        update: as it was answered; what is no state is given back as it is, for `SituationState.propose` to refuse.
        held: as code found it, which is what the LM was shown.
    """
    sections = sections_of(dict(update))
    if sections is None:
        return update
    whole: dict[str, Any] = {}
    for name, entries in state_fields(held).items():
        new = sections.get(name)
        if isinstance(new, Mapping) and new:  # entries by their names
            whole[name] = {**{str(one["name"]): one for one in entries}, **new}
        elif isinstance(new, list):
            named = {_name_of(one) for one in new}
            whole[name] = [*(one for one in entries if one["name"] not in named), *new]
        else:
            whole[name] = entries if new in (None, "", {}) else new
    return whole


def _name_of(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return str(entry)
    plain = {str(key).strip().casefold(): value for key, value in entry.items()}
    return next((str(plain[key]) for key in _NAME_KEYS if plain.get(key)), "")


def _entry(fields: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**fields, **optional},
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def _one_of(words: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}
