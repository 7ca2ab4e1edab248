"""Personalised tool calling as compiled DSPy programs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from prefine_dspy.errors import BudgetExhausted, InputError, MissingExtra, PrefineError
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import History, Memory, Query, Session, ToolCall, Turn

if TYPE_CHECKING:
    from prefine_dspy.agent import Agent, load
    from prefine_dspy.completion import acomplete, complete
    from prefine_dspy.interop.catalogue import catalogue
    from prefine_dspy.predictive import PredictivePRefine
    from prefine_dspy.prefine import PRefine
    from prefine_dspy.result import Result
    from prefine_dspy.situation import SituationState
    from prefine_dspy.user_memory import UserMemory

__version__ = "0.1.0"

# imported at the first use: they bring DSPy with them
_LAZY = {
    "Agent": "prefine_dspy.agent",
    "PRefine": "prefine_dspy.prefine",
    "PredictivePRefine": "prefine_dspy.predictive",
    "Result": "prefine_dspy.result",
    "SituationState": "prefine_dspy.situation",
    "UserMemory": "prefine_dspy.user_memory",
    "acomplete": "prefine_dspy.completion",
    "catalogue": "prefine_dspy.interop.catalogue",
    "complete": "prefine_dspy.completion",
    "load": "prefine_dspy.agent",
}

__all__ = [
    "Agent",
    "BudgetExhausted",
    "Catalogue",
    "History",
    "InputError",
    "Memory",
    "MissingExtra",
    "PRefine",
    "PredictivePRefine",
    "Parameter",
    "PrefineError",
    "Query",
    "Result",
    "Session",
    "SituationState",
    "Tool",
    "ToolCall",
    "Turn",
    "UserMemory",
    "__version__",
    "acomplete",
    "catalogue",
    "complete",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = found
    return found
