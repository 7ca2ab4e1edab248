"""The one error for a benchmark that is not installed."""

from __future__ import annotations

from prefine_dspy.errors import InputError

_PROGRAMS = {"tau2": "magnetic relaxation rates", "vita": "a software synthesizer"}
"""Packages of the same name on PyPI that are something else."""


def not_installed(benchmark: str, module: str, install: str) -> InputError:
    """The error that says how to install a benchmark.

    Args:
        benchmark: its name.
        module: the module that could not be imported.
        install: the command.
    """
    other = f" (`pip install {module}` would fetch another program: {_PROGRAMS[module]})" if module in _PROGRAMS else ""
    return InputError(f"{benchmark} is not installed: {install}{other}; --data builtin needs nothing")
