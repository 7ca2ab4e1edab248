"""One name for any LM: local in the process, on a local server, or hosted."""

from prefine_dspy.lm.resolve import resolve

__all__ = ["resolve"]
