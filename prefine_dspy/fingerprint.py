"""What a compiled program was compiled for: the shape of every signature, so that drift is noticed when it is loaded.

DSPy matches saved fields to a signature by position and loads whatever is there: a renamed or reordered field silently
gets the text of another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import dspy
from pydantic import BaseModel, ConfigDict, Field


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
        parts: sha256 of these, each by its name: "instructions", "demos", "field query" ...
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: tuple[FieldShape, ...]
    instructions: str
    state: str = ""
    parts: dict[str, str] = Field(default_factory=dict)


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


def state_hash(state: Any) -> str:
    """sha256 of a predictor's state or a part of it, whatever the white space of its file."""
    return text_hash(json.dumps(state, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str))


def state_parts(state: dict[str, Any], fields: Iterable[str]) -> dict[str, str]:
    """sha256 of what a predictor's state holds, by name; the names of its fields are not in it.

    Args:
        state: DSPy's, of one predictor; anything, as it may come from a file.
        fields: the names, in order.
    """
    signature = state.get("signature")
    signature = signature if isinstance(signature, dict) else {}
    texts = signature.get("fields")
    texts = texts if isinstance(texts, list) else []
    held = {"instructions": signature.get("instructions"), "demos": state.get("demos")}
    held |= {f"field {name}": text for name, text in zip(fields, texts, strict=False)}
    return {name: state_hash(content) for name, content in held.items()}


def changed_parts(saved: SignatureShape, state: dict[str, Any]) -> list[str]:
    """The names of those parts of a predictor's state that are not what was saved."""
    now = state_parts(state, (field.name for field in saved.fields))
    return [name for name, kept in saved.parts.items() if now.get(name) != kept]


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
