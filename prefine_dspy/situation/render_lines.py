"""Facts as the paper prints them: `[Entity: Type id]`, source, then an attribute a line (IDSS appendix B.3)."""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.situation.notation import plain
from prefine_dspy.situation.paths import leaves, path_text
from prefine_dspy.situation.snapshot import View


def render_lines(views: Sequence[View]) -> str:
    """The most readable and the longest form: paths with dots, one scalar a line."""
    return "\n\n".join(_entity(view) for view in views)


def _entity(view: View) -> str:
    key, source = view.key, view.source
    lines = [f"[Entity: {key.type.capitalize()} {key.id}]".replace(" ]", "]"), f"type: {key.type}", f"id: {key.id}"]
    if key.scope:
        lines.append("found for: " + ", ".join(f"{name}={value}" for name, value in key.scope))
    lines.append(
        f"source: {source.tool}({source.arguments}), step {source.step}" if source.tool else f"source: {source}"
    )
    for name, value in view.values.items():
        lines += [
            f"{path_text((name, *path))}: {one if isinstance(one, str) else plain(one)}" for path, one in leaves(value)
        ]
    return "\n".join(lines)
