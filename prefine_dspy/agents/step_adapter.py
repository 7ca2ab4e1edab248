"""The adapter of a step's answer: noise is refused before DSPy's readers, which take minutes for some of it, see it."""

from __future__ import annotations

from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.agents.reading import is_noise


class StepAdapter(CompactAdapter):
    """`CompactAdapter` whose only failure is `AdapterParseError`."""

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """The fields of an answer.

        Raises:
            AdapterParseError: there are none, or not all.
        """
        if not is_noise(completion):
            try:
                fields: dict[str, Any] = super().parse(signature, completion)
                return fields
            except (ValueError, RecursionError):  # nested too deeply, numbers beyond all bounds
                pass
        raise AdapterParseError(
            adapter_name=type(self).__name__,
            signature=signature,
            lm_response=completion,
            message="the answer holds no fields",
        )
