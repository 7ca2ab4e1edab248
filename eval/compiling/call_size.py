"""How long an LM call will be, measured on the prompt that would be sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from prefine_dspy.adapter import CompactAdapter
from programs.compilation.estimate import CallSize, tokens


def size_of(
    signature: type[dspy.Signature], demos: Sequence[Any], samples: Sequence[dspy.Example], fresh: int | None = None
) -> CallSize:
    """A typical call of a predictor.

    Args:
        signature: with the catalogue.
        demos: that it will have.
        samples: labelled examples, for the lengths of inputs and answers.
        fresh: tokens of the inputs, where they are not those of the samples.
    """
    adapter = CompactAdapter()
    messages = adapter.format(signature=signature, demos=list(demos), inputs={})
    prefix = sum(tokens(str(message["content"])) for message in messages)
    inputs = [sum(tokens(str(sample[name])) for name in signature.input_fields) for sample in samples]
    outputs = [{name: sample[name] for name in signature.output_fields} for sample in samples]
    written = [tokens(adapter.format_assistant_message_content(signature, one)) for one in outputs]
    return CallSize(prefix, round(mean(inputs)) if fresh is None else fresh, round(mean(written)))


def mean(values: Sequence[float]) -> float:
    """Of no values 0."""
    return sum(values) / len(values) if values else 0.0
