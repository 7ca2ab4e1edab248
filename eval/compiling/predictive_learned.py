"""What a predictive program learns beside its prompts: a bank of hypotheses, priors, and two thresholds.

    train -> bank, priors
    dev   -> whether the priors help; the verifier's threshold by what its memories predict; the caller's by what it
             would fill in of calls that the user made later

The gold of a filled argument is what the user chose in a later session. A query is not there, so the call is begun with
what it does this once (a place, a date) and everything lasting is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import dspy

from eval.compiling.task import Calibrated
from prefine_dspy.errors import PrefineError
from prefine_dspy.predictive import ContrastiveCaller, PredictiveMemory
from prefine_dspy.predictive.calibration import (
    CurvePoint,
    ScoredArgument,
    choose_threshold,
    coverage_accuracy,
    learn_priors,
    scored,
)
from prefine_dspy.predictive.correction import Priors
from prefine_dspy.types import Memory, ToolCall
from programs.compilation.bank import learn_bank
from programs.compilation.parts import graft, part_of

if TYPE_CHECKING:
    from eval.compiling.predictive import PredictiveTask

FACTORS = (1.0, 1 / 3, 2 / 3, 5 / 3, 8 / 3)
"""Of the verifier's threshold, those that are compared on dev; the first of equals wins."""
MIN_ARGUMENTS = 10
"""Fewer choices on dev set no threshold."""


class Fill(NamedTuple):
    """Args:
    arguments: that later calls have or lack.
    best: the point on their curve; None where there are too few.
    """

    arguments: list[ScoredArgument]
    best: CurvePoint | None

    @property
    def f1(self) -> float:
        return self.best.f1 if self.best else 0.0


class Learner:
    """Args:
    task: its histories and LMs.
    program: with its prompts compiled.
    """

    def __init__(self, task: PredictiveTask, program: Any) -> None:
        self.task = task
        self.program = program
        self.options: dict[str, Any] = {}
        self.record: dict[str, Any] = {}
        self.rows: list[str] = []

    @staticmethod
    def has_something_to_learn(program: Any) -> bool:
        """Whether a program verifies or fills in by prediction."""
        return isinstance(program.memory, PredictiveMemory) or isinstance(program.caller, ContrastiveCaller)

    def learn(self) -> Calibrated:
        """All of it. Calls the LMs."""
        predictive = isinstance(self.program.memory, PredictiveMemory)
        if predictive:
            self._bank()
        memories = self._memories(self._with({}))
        self._priors(memories)
        if predictive:
            memories = self._verify_threshold()
        if isinstance(self.program.caller, ContrastiveCaller):
            self._threshold(memories)
        note = ", ".join(f"{name} {_short(value)}" for name, value in self.options.items()) or "nothing to learn from"
        return Calibrated(self._with({}), self.options, note, "\n".join(self.rows), self.record)

    def _bank(self) -> None:
        self.task.say("learned: bank")
        with dspy.context(lm=self.task.memory_lm):
            found = learn_bank(
                self.program.memory, self.task.data.splits["train"], self.task.data.tools, check=self.task.check
            )
        self.options["bank"] = found
        self.record["bank"] = len(found)

    def _priors(self, memories: Sequence[Memory | None]) -> None:
        """Kept where the values that memories point to are right at least as often with them."""
        priors = learn_priors(self.task.data.splits["train"], self.task.data.tools)
        if not priors:
            return
        without, with_ = self._fill(memories, {}), self._fill(memories, priors)
        self.record["priors"] = {"arguments": len(priors), "f1": round(with_.f1, 4), "f1_without": round(without.f1, 4)}
        if with_.best and with_.f1 >= without.f1:
            self.options["priors"] = priors

    def _verify_threshold(self) -> list[Memory | None]:
        """The threshold whose memories predict best; returns its memories."""
        metric, now = self.task.metric(), self._with({}).memory.verifier.rule.threshold
        best: tuple[float, float, list[Memory | None]] | None = None
        tried = {}
        for threshold in dict.fromkeys(round(now * factor, 6) for factor in FACTORS):
            self.task.say(f"learned: verify_threshold {threshold:g}")
            memories = self._memories(self._with({"verify_threshold": threshold}))
            examples = self.task.examples("dev")
            scores = [
                float(metric(example, dspy.Prediction(memory=memory)))
                for example, memory in zip(examples, memories, strict=True)
            ]
            self.task.check()
            mean = sum(scores) / len(scores) if scores else 0.0
            tried[f"{threshold:g}"] = round(mean, 4)
            if best is None or mean > best[0]:
                best = (mean, threshold, memories)
        assert best is not None
        self.options["verify_threshold"] = best[1]
        self.record["verify_threshold"] = tried
        self.rows += ["verify_threshold  likelihood on dev", *(f"{name:>16}  {value}" for name, value in tried.items())]
        return best[2]

    def _threshold(self, memories: Sequence[Memory | None]) -> None:
        found = self._fill(memories, self.options.get("priors", {}))
        if found.best is None:
            return
        self.options["threshold"] = round(found.best.threshold, 6)
        curve = [point for point in coverage_accuracy(found.arguments) if point.coverage]
        self.record["threshold"] = [
            {name: round(getattr(point, name), 4) for name in CurvePoint._fields} for point in _thinned(curve)
        ]
        self.rows += ["threshold  coverage  accuracy  F1 of what later calls have, on dev"]
        self.rows += [f"{p.threshold:9.3f}  {p.coverage:8.2f}  {p.accuracy:8.2f}  {p.f1:.2f}" for p in _thinned(curve)]

    def _fill(self, memories: Sequence[Memory | None], priors: Priors) -> Fill:
        """What memories say of the lasting arguments of later calls."""
        caller = self._with({"priors": dict(priors)}, contrastive=True).caller
        tools = self.task.data.tools
        arguments: list[ScoredArgument] = []
        for example, memory in zip(self.task.examples("dev"), memories, strict=True):
            for session in example.later if memory else ():
                for call in session.calls:
                    tool = tools.get(call.name)
                    lasting = tools.persistent(call).arguments
                    if tool is None or memory is None:
                        continue
                    begun = {name: value for name, value in call.arguments.items() if name not in lasting}
                    with dspy.context(lm=self.task.lm):
                        try:
                            considered = caller.consider(ToolCall(name=call.name, arguments=begun), tool, tools, memory)
                        except PrefineError:
                            raise
                        except Exception:
                            self.task.check()
                            continue
                    arguments += scored(considered, [call])
        self.task.check()
        return Fill(arguments, choose_threshold(arguments) if len(arguments) >= MIN_ARGUMENTS else None)

    def _memories(self, program: Any) -> list[Memory | None]:
        """Of the first parts of dev; None where the LM failed."""
        builder = part_of(program, "memory")
        built = [self.task.built(builder, example) for example in self.task.examples("dev")]
        return [one.get("memory") for one in built]

    def _with(self, options: dict[str, Any], contrastive: bool = False) -> Any:
        """The program with what was learned so far, and more."""
        more = {"caller": "contrastive"} if contrastive else {}
        new = type(self.program)(**{**self.task.options, **self.options, **options, **more})
        return graft(self.program, new)


def _short(value: Any) -> str:
    return f"of {len(value)}" if isinstance(value, list | dict) else f"{value:g}"


def _thinned(curve: Sequence[CurvePoint], most: int = 10) -> list[CurvePoint]:
    """At most so many points, evenly spread, the last one among them."""
    step = -(-len(curve) // most) or 1
    return list(curve[::-1][::step])[::-1]
