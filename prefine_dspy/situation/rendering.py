"""The renderers of facts by name."""

from __future__ import annotations

from typing import Any, Literal

from prefine_dspy.errors import InputError
from prefine_dspy.situation.render_json import render_json
from prefine_dspy.situation.render_lines import render_lines
from prefine_dspy.situation.render_nested import render_nested
from prefine_dspy.situation.render_table import render_table
from prefine_dspy.situation.snapshot import FactRenderer

FactForm = Literal["table", "nested", "json", "lines"]
RENDERERS: dict[FactForm, FactRenderer] = {
    "table": render_table,
    "nested": render_nested,
    "json": render_json,
    "lines": render_lines,
}
NOTES: dict[FactForm, str] = {
    "table": "type @step shared=values (columns), then a row per entity, its id first; @step: when seen; - absent",
    "nested": "type id (search) @step: values; @step: when it was seen",
    "json": "step: when it was seen",
    "lines": "",
}
"""How to read each form, one line for the prompt."""


def check_form(form: Any) -> None:
    """Whether there is such a form.

    Raises:
        InputError: there is none.
    """
    if not isinstance(form, str) or form not in RENDERERS:
        raise InputError(f"there is no form {form!r} of facts: take one of {', '.join(RENDERERS)}")
