"""The options of a library's program, as those of the system that drives it."""

from __future__ import annotations

import inspect

import dspy


def options_of(program: type[dspy.Module]) -> inspect.Signature:
    """What `program` is made with; DSPy's metaclass hides it from `inspect.signature`."""
    own = inspect.signature(program.__init__)
    return own.replace(parameters=[one for name, one in own.parameters.items() if name != "self"])
