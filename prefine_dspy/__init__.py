"""Personalised tool calling as compiled DSPy programs."""

from prefine_dspy.errors import BudgetExhausted, InputError, MissingExtra, PrefineError
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import History, Memory, Query, Session, ToolCall, Turn

__version__ = "0.1.0"

__all__ = [
    "BudgetExhausted",
    "Catalogue",
    "History",
    "InputError",
    "Memory",
    "MissingExtra",
    "Parameter",
    "PrefineError",
    "Query",
    "Session",
    "Tool",
    "ToolCall",
    "Turn",
    "__version__",
]
