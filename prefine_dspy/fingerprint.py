"""What a compiled program was compiled for: the shape of every signature, so that drift is noticed when it is loaded.

DSPy matches saved fields to a signature by position and loads whatever is there: a renamed or reordered field silently
gets the text of another one.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import dspy
from pydantic import BaseModel, ConfigDict


class FieldShape(BaseModel):
    """One field of a signature: its name, "input" or "output", and its type as text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    role: str
    type: str


class SignatureShape(BaseModel):
    """What a predictor's signature is.

    Args:
        fields: in order.
        instructions: sha256 of the instructions that the code had, before any optimizer changed them.
        state: sha256 of the predictor's saved state (instructions, field texts, demonstrations).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: tuple[FieldShape, ...]
    instructions: str
    state: str = ""


def signature_shapes(program: dspy.Module) -> dict[str, SignatureShape]:
    """By predictor name, as the code defines it: give an uncompiled program."""
    return {name: shape_of(predictor.signature) for name, predictor in program.named_predictors()}


def shape_of(signature: type[dspy.Signature]) -> SignatureShape:
    """The shape of one signature."""
    inputs = signature.input_fields
    fields = tuple(
        FieldShape(name=name, role="input" if name in inputs else "output", type=type_text(field.annotation))
        for name, field in signature.fields.items()
    )
    return SignatureShape(fields=fields, instructions=text_hash(signature.instructions))


def type_text(annotation: Any) -> str:
    """A type as text, the same in every Python version: `str`, `Literal['a', 'b']`."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def text_hash(text: str) -> str:
    """sha256 of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def state_hash(state: dict[str, Any]) -> str:
    """sha256 of a predictor's state, whatever the white space of its file."""
    return text_hash(json.dumps(state, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str))


def field_differences(saved: SignatureShape, code: SignatureShape) -> list[str]:
    """One line for each field in which a saved signature is not the one of the code."""
    lines = []
    for at in range(max(len(saved.fields), len(code.fields))):
        old = saved.fields[at] if at < len(saved.fields) else None
        new = code.fields[at] if at < len(code.fields) else None
        if old == new:
            continue
        if old is None or new is None:
            lines.append(f"field {_said(old or new)} is {'new' if old is None else 'gone'}")
        elif old.name != new.name:
            lines.append(f"field {at + 1} was {old.name!r} and is {new.name!r}")
        else:
            lines.append(f"field {old.name!r} was {_said(old)} and is {_said(new)}")
    return lines


def _said(field: FieldShape | None) -> str:
    assert field is not None
    return f"{field.role} {field.name}: {field.type}"
