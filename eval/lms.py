"""The LMs of a command line: loaded with their cache on, and told apart by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy
from dspy.utils.exceptions import DSPyError

from prefine_dspy import lm as lms
from prefine_dspy.errors import InputError


def load_lms(name: str, memory_name: str | None) -> tuple[dspy.LM, dspy.LM]:
    """The inference LM and the memory LM, both with their cache on.

    Raises:
        InputError: unknown names, or two LMs at different addresses under one model string: they would share answers.
    """
    lm = resolved(name)
    if memory_name is None or memory_name == name:
        return lm, lm
    memory_lm = resolved(memory_name)
    check_apart({"--lm": lm, "--memory-lm": memory_lm})
    return lm, memory_lm


def check_apart(named: Mapping[str, dspy.LM]) -> None:
    """Whether answers will not be mixed up.

    Raises:
        InputError: two LMs at different addresses have one model string.
    """
    addresses: dict[str, tuple[str, Any]] = {}
    for name, lm in named.items():
        address = lm.kwargs.get("api_base") or lm.kwargs.get("base_url")
        other, before = addresses.setdefault(lm.model, (name, address))
        if before != address:
            raise InputError(
                f"{other} and {name} are both called {lm.model} but have different addresses; "
                "answers would be mixed up: name them apart, e.g. llama-server:URL#model"
            )


def resolved(name: str) -> dspy.LM:
    """The LM of a name.

    Raises:
        InputError: there is none, or it cannot be used.
    """
    try:
        lm = lms.resolve(name)
    except (DSPyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the LM {name} cannot be used: {reason} (see python -m prefine_dspy.lm list)") from None
    return lm if lm.cache else lm.copy(cache=True)
