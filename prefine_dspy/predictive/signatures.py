"""The prompt contract of prediction: one argument's value, given what is known of the user."""

from __future__ import annotations

import dspy


class FillArgument(dspy.Signature):
    """Write the tool call that suits this user."""

    memory: str = dspy.InputField(desc="what is known about this user")
    function: str = dspy.OutputField()
    argument: str = dspy.OutputField(desc="one of its arguments, under the argument's own name")
