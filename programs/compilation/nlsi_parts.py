"""The parts of the NLSI programs, each a module with one predictor; an example is one request or one instruction.

A part is addressed by its path in the program: TAPS's tagger is `ext_tag.tagger`. What a part reads and what its
examples hold follows from its step:

- "interpret", "joint", "select": a request
- "interpret_tagged": a request with its instructions tagged
- "tag": an instruction
- "gate": nothing; its threshold is chosen, not demonstrated
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Literal, NamedTuple

import dspy

from prefine_dspy.composition import TagAndRepair
from prefine_dspy.errors import InputError
from prefine_dspy.interpreter import TaggingInterpreter
from prefine_dspy.selection import LMSelector, SelectThenInterpret
from prefine_dspy.tagging import Tagger
from prefine_dspy.taps import Default, ExtTag, Taps

Step = Literal["interpret", "interpret_tagged", "joint", "select", "tag", "gate"]


class NlsiPart(NamedTuple):
    """Args:
    name: for people and for `--part`.
    path: of the module in the program; "" is the program itself.
    step: what it does.
    """

    name: str
    path: str
    step: Step


_SELECTOR = NlsiPart("selector", "selector", "select")
_PARTS: dict[type, tuple[NlsiPart, ...]] = {
    Default: (NlsiPart("interpreter", "", "interpret"),),
    TaggingInterpreter: (NlsiPart("interpreter", "", "joint"),),
    ExtTag: (
        NlsiPart("tagger", "tagger", "tag"),
        NlsiPart("interpreter", "interpreter", "interpret_tagged"),
    ),
    # the gate comes last: it weighs what the others have become
    Taps: (
        NlsiPart("default", "default", "interpret"),
        NlsiPart("tagger", "ext_tag.tagger", "tag"),
        NlsiPart("tagged", "ext_tag.interpreter", "interpret_tagged"),
        NlsiPart("gate", "gate", "gate"),
    ),
    TagAndRepair: (NlsiPart("default", "default", "interpret"), NlsiPart("tagger", "tagger", "tag")),
    Tagger: (NlsiPart("tagger", "", "tag"),),
    LMSelector: (NlsiPart("selector", "", "select"),),
    SelectThenInterpret: (_SELECTOR, NlsiPart("interpreter", "default", "interpret")),
}


def nlsi_parts(program: dspy.Module) -> tuple[NlsiPart, ...]:
    """The parts of a program in the order of compiling: each reads what those before it write.

    Raises:
        InputError: it has nothing to compile.
    """
    parts = _PARTS.get(type(program), ())
    found = tuple(part for part in parts if part.step == "gate" or _predictors(module_at(program, part.path)))
    if not found:
        raise InputError(f"{type(program).__name__} has nothing to compile: no step of it asks an LM")
    return found


def module_at(program: Any, path: str) -> Any:
    """The module of a part, in the program itself."""
    return attrgetter(path)(program) if path else program


def tagger_part(program: dspy.Module) -> NlsiPart | None:
    """The part of a program that tags; None where there is none."""
    return next((part for part in _PARTS.get(type(program), ()) if part.step == "tag"), None)


def predictor_in(module: Any) -> tuple[str, dspy.Predict]:
    """Name and predictor of a part's module."""
    ((name, predictor),) = _predictors(module)
    return name, predictor


def _predictors(module: Any) -> list[tuple[str, dspy.Predict]]:
    found: list[tuple[str, dspy.Predict]] = module.named_predictors()
    return found
