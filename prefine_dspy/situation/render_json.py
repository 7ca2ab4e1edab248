"""Facts as compact JSON, an object a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from prefine_dspy.situation.identity import EntityKey
from prefine_dspy.situation.snapshot import View


def render_json(views: Sequence[View]) -> str:
    """For LMs that read JSON best. `step`: of the observation."""
    return "\n".join(
        json.dumps(_object(view), ensure_ascii=False, separators=(",", ":"), default=str) for view in views
    )


def _object(view: View) -> dict[str, Any]:
    scope = {"found_for": dict(view.key.scope)} if view.key.scope else {}
    head = {"type": view.key.type, "id": view.key.id, **scope, "step": view.source.step}
    return {**head, "facts": {name: _named(value) for name, value in view.values.items()}}


def _named(value: Any) -> Any:
    """References to entities by their names."""
    if isinstance(value, EntityKey):
        return str(value)
    if isinstance(value, list):
        return [_named(one) for one in value]
    return value
