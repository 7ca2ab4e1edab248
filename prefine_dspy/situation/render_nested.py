"""Facts as one line an entity: `reservation R42 @3: cabin=economy flights=[{flight_number=XY170 price=304}]`."""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.situation.notation import atom, plain
from prefine_dspy.situation.snapshot import View


def render_nested(views: Sequence[View]) -> str:
    """Every value with its name, nothing twice. `@3`: observed at step 3."""
    return "\n".join(_line(view) for view in views)


def _line(view: View) -> str:
    scope = "".join(f" {name}={atom(value)}" for name, value in view.key.scope)
    values = " ".join(f"{atom(name)}={plain(value)}" for name, value in view.values.items())
    name = f"{view.key.type} {view.key.id}".strip() + (f" ({scope.strip()})" if scope else "")
    return f"{name} @{view.source.step}: {values}"
