"""The two parts of PRefine as programs of their own: what one example is differs.

The memory builder (generate, verify, refine) works once a session: its example is one history. The tool caller works
once a query: its example is one query with a memory that is already there. The caller of full-history prompting is the
same part, with the history in the memory's place.

Predictors have the same names here and in the whole program ("memory.generate", "caller.call_tool").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import dspy

from prefine_dspy.caller import ToolCaller
from prefine_dspy.hypothesis import HypothesisMemory
from prefine_dspy.predictive import ContrastiveCaller, PredictiveMemory
from prefine_dspy.rendering import memory_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query

PartName = Literal["memory", "caller"]


class CallerPart(dspy.Module):
    """Answers one query from what its caller reads of a memory."""

    def __init__(self, caller: ToolCaller) -> None:
        super().__init__()
        self.caller = caller

    def forward(self, query: Query, tools: Catalogue, memory: Memory | str) -> dspy.Prediction:
        """See `ToolCaller.forward`, `ContrastiveCaller.forward` and `as_read`."""
        prediction: dspy.Prediction = self.caller(query=query, tools=tools, memory=memory)
        return prediction


class BuilderPart(dspy.Module):
    """Builds the memory of one whole history."""

    def __init__(self, memory: HypothesisMemory | PredictiveMemory) -> None:
        super().__init__()
        self.memory = memory

    def forward(self, history: History, tools: Catalogue) -> dspy.Prediction:
        """Returns a prediction with `memory` after the last session."""
        memory = Memory()
        for update in updates(self.memory, history, tools):
            memory = update.memory
        return dspy.Prediction(memory=memory)


def updates(builder: HypothesisMemory | PredictiveMemory, history: History, tools: Catalogue) -> Iterator[MemoryUpdate]:
    """One update a session, oldest first."""
    memory = Memory()
    for seen in range(1, len(history.sessions) + 1):
        update: MemoryUpdate = builder(memory=memory, sessions=history.sessions[:seen], tools=tools)
        memory = update.memory
        yield update


def as_read(caller: ToolCaller, memory: Memory) -> Memory | str:
    """What a caller reads of a memory: the contrastive one its hypotheses and habits, the plain one its text."""
    return memory if isinstance(caller, ContrastiveCaller) else memory_text(memory)


def part_of(program: Any, name: str) -> dspy.Module:
    """A copy of one part of a program, ready for an optimizer."""
    copy = program.deepcopy()
    return BuilderPart(copy.memory) if name == "memory" else CallerPart(copy.caller)


def parts_in(program: Any) -> tuple[PartName, ...]:
    """The parts that a program has, in the order of compiling: the caller reads what the builder wrote."""
    return ("memory", "caller") if hasattr(program, "memory") else ("caller",)


def graft(part: dspy.Module, program: Any, at: str = "") -> Any:
    """A copy of the program with the demonstrations and instructions of a compiled part.

    DSPy's optimizers mark what they return as compiled, and a compiled module inside another one vanishes from its
    saved state; so the predictors' contents are taken over, not the modules. Of a demonstration only the signature's
    fields are: what an LM sends besides, such as log-probabilities, is not to be kept.

    Args:
        part: the compiled part.
        program: what it is a part of.
        at: the attribute path of the part, where its predictors' names are not the program's.
    """
    copy = program.deepcopy()
    own = dict(copy.named_predictors())
    for name, predictor in predictors(part):
        target = own[f"{at}.{name}" if at else name]
        target.demos = [_trimmed(demo, predictor) for demo in predictor.demos]
        target.signature = target.signature.with_instructions(predictor.signature.instructions)
    return copy


def _trimmed(demo: Any, predictor: dspy.Predict) -> Any:
    known = {*predictor.signature.fields, "augmented"}
    if set(demo.keys()) <= known:
        return demo
    return dspy.Example({name: demo[name] for name in demo.keys() if name in known})


def predictors(part: dspy.Module) -> Iterable[tuple[str, dspy.Predict]]:
    """Names and predictors of a part, whether an optimizer has marked it as compiled or not."""
    found: list[tuple[str, dspy.Predict]] = part.named_predictors()
    return found
