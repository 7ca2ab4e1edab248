"""Options of the NLSI systems as a command line gives them: any JSON, and text where that is none."""

from __future__ import annotations

from typing import Any

import dspy

from prefine_dspy import lm as lms
from prefine_dspy.errors import InputError


def flag(name: str, value: Any) -> bool:
    """A boolean, also as Python writes it ("False", which is no JSON).

    Raises:
        InputError: it is neither; any text would else count as true.
    """
    if isinstance(value, str) and value.casefold() in ("true", "false"):
        return value.casefold() == "true"
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, not {value!r}")
    return value


def lm_of(name: Any) -> dspy.LM | None:
    """The tagger's LM; None for None.

    Raises:
        InputError: there is no such LM.
    """
    if name is None:
        return None
    if not isinstance(name, str):
        raise InputError(f"tagger_lm must be the name of an LM, e.g. openai/gpt-5-mini, not {name!r}")
    try:
        return lms.resolve(name)
    except ValueError as error:
        raise InputError(f"the LM {name} cannot be used: {' '.join(str(error).split())}") from None
