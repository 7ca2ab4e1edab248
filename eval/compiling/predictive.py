"""Compiling a memory without labels: its score is how well it predicts what its user does next.

An example is a history cut in two; the memory is built from the first part, and what counts is the log-likelihood of
the choices in the second (`PredictiveLikelihood`). No gold call, no preference and no query is read, so anyone's call
logs do. There are two parts: `memory`, the generator and refiner, and `learned`, what is not in a prompt: the bank of
hypotheses, how often users choose each value, and the thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import dspy

from eval.compiling.nlsi_scores import mean_figure
from eval.compiling.predictive_forecast import calls_a_build, forecast
from eval.compiling.predictive_learned import Learner
from eval.compiling.predictive_source import CallHistories
from eval.compiling.task import Calibrated
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.manifest import DataPart, LMPart, Scores, SplitPart
from prefine_dspy.predictive import LiftRule, PredictiveLikelihood
from prefine_dspy.predictive.correction import correction
from prefine_dspy.predictive.lift import lift_rule
from prefine_dspy.predictive.metric import examples_of
from programs import load_system
from programs.compilation.estimate import Stage
from programs.compilation.job import Job, Settings
from programs.compilation.optimizers import SEARCHING
from programs.compilation.parts import graft, part_of

KNOWS_NOTHING = 0.5
"""The score of a memory that predicts as none does."""
WORTH_SHOWING = 0.55
"""From which score on a history's run is a demonstration: 0.2 nats a choice better than knowing nothing."""
LEARNED = "learned"


@dataclass
class PredictiveTask:
    """Compiling the memory of one program.

    Args:
        program: its short name.
        options: of its constructor.
        data: the histories.
        lm: reads memories, so it predicts.
        memory_lm, teacher_lm: see `Job`; the memory LM runs the builder.
        settings: of the optimizer.
        bootstrap_histories: train histories that are run for traces.
        check, say: see `Job`.
    """

    program: str
    options: dict[str, Any]
    data: CallHistories
    lm: dspy.BaseLM
    memory_lm: dspy.BaseLM
    teacher_lm: dspy.BaseLM
    settings: Settings
    bootstrap_histories: int = 3
    check: Callable[[], None] = lambda: None
    say: Callable[[str], None] = lambda line: None
    main_figure: str = "likelihood"
    size_options: str = "--dev-histories or --test-histories"

    def watch(self, check: Callable[[], None], say: Callable[[str], None]) -> None:
        """See `Task.watch`."""
        self.check, self.say = check, say

    def parts(self) -> tuple[str, ...]:
        """What can be compiled of the program.

        Raises:
            InputError: it has no hypotheses as memory.
        """
        program = load_system(self.program, **self.options).program
        if self.program not in ("prefine", "predictive"):
            raise InputError(
                f"{self.program} has no hypotheses that could be held against later sessions: "
                "--metric predictive is for --program prefine or predictive"
            )
        return ("memory", LEARNED) if Learner.has_something_to_learn(program) else ("memory",)

    def metric(self, *, with_feedback: bool = False) -> Predicting:
        """The metric, the same for every candidate: by the rule that the program was given, not one it learns."""
        options = load_system("predictive").program.memory.verifier.rule.model_dump()
        if self.program == "predictive":
            options["measure"] = self.options.get("measure", options["measure"])
            options["threshold"] = self.options.get("verify_threshold", options["threshold"])
        rule: LiftRule = lift_rule(**options)
        expects = correction(self.options.get("prior", "uniform"), None)
        likelihood = PredictiveLikelihood(rule, expects, with_feedback=with_feedback)
        return Predicting(likelihood, self.lm, self.check)

    # -- parts

    def job(self, part: str, program: Any, optimizer: str) -> Job:
        """See `Task.job`."""
        dev = self.examples("dev") if optimizer in SEARCHING else []
        return Job(
            name=part,
            student=part_of(program, part),
            pools={},
            train=self.examples("train")[: self.bootstrap_histories],
            dev=dev,
            metric=self.metric(),
            feedback=self.metric(with_feedback=True),
            lm=self.memory_lm,
            teacher_lm=self.teacher_lm,
            settings=self.settings,
            threshold=self.settings.threshold,
            check=self.check,
            say=self.say,
        )

    def graft(self, part: str, chosen: dspy.Module, program: Any) -> Any:
        """See `Task.graft`."""
        return graft(chosen, program)

    def calibrate(self, part: str, program: Any) -> Calibrated | None:
        """See `Task.calibrate`: `learned`."""
        return Learner(self, program).learn() if part == LEARNED else None

    def examples(self, split: str) -> list[dspy.Example]:
        """Histories of a split, each cut in two."""
        return examples_of(self.data.splits[split], self.data.tools)

    # -- scores

    def item_scores(self, program: Any, split: str, tick: Callable[[], None] = lambda: None) -> list[float]:
        """One likelihood a history; one whose memory cannot be built knows nothing."""
        builder, metric = part_of(program, "memory"), self.metric()
        scores = []
        for example in self.examples(split):
            scores.append(float(metric(example, self.built(builder, example))))
            tick()
        return scores

    def built(self, builder: dspy.Module, example: dspy.Example) -> dspy.Prediction:
        """The memory of an example's first part; without one where the LM failed."""
        with dspy.context(lm=self.memory_lm):
            try:
                prediction: dspy.Prediction = builder(**example.inputs())
            except PrefineError:
                raise
            except Exception:
                prediction = dspy.Prediction()
        self.check()
        return prediction

    def units(self, split: str) -> tuple[int, str]:
        """See `Task.units`."""
        return len(self.examples(split)), "histories"

    def compare(self, split: str, before: Sequence[Any] | None, after: Sequence[Any] | None) -> Scores:
        """Mean likelihoods, intervals over histories."""
        names = [str(number) for number in range(len(self.examples(split)))]
        differences = [a - b for a, b in zip(after, before, strict=True)] if before and after else []
        return Scores(
            before={self.main_figure: mean_figure(before, names)} if before else {},
            after={self.main_figure: mean_figure(after, names)} if after else {},
            difference={self.main_figure: mean_figure(differences, names, paired=True)} if differences else {},
        )

    def calls_before(self) -> int:
        """See `Task.calls_before`."""
        return calls_a_build(self, "dev")

    def calls_after(self, parts: Sequence[str]) -> int:
        """See `Task.calls_after`."""
        return calls_a_build(self, "dev") + 2 * calls_a_build(self, "test")

    def stages(self, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
        """See `Task.stages`."""
        return forecast(self, program, optimizer, parts)

    # -- manifest

    def metric_names(self, parts: Sequence[str]) -> dict[str, str]:
        """See `Task.metric_names`."""
        return dict.fromkeys(parts, self.metric().__name__)

    def arguments(self) -> dict[str, Any]:
        """See `Task.arguments`."""
        return {"bootstrap_histories": self.bootstrap_histories}

    def data_part(self) -> DataPart:
        """See `Task.data_part`. Users are counted and hashed, not named."""
        splits = {
            name: SplitPart(
                histories=len(those),
                queries=0,
                identity=sha256("\n".join(one.id for one in those).encode("utf-8", "replace")).hexdigest(),
            )
            for name, those in self.data.splits.items()
        }
        return DataPart(name=self.data.name, identity=self.data.identity, splits=splits)

    def lm_parts(self) -> dict[str, LMPart]:
        """See `Task.lm_parts`."""
        lms = {"lm": self.lm, "memory_lm": self.memory_lm, "teacher_lm": self.teacher_lm}
        return {role: LMPart.of(lm) for role, lm in lms.items()}

    def sizes(self) -> str:
        """See `Task.sizes`."""
        splits = ", ".join(f"{name} {len(those)} histories" for name, those in self.data.splits.items())
        return f"{self.data.name}: {splits}"


class Predicting:
    """A metric whose predictions are made by a given LM, whoever runs the program that is judged.

    Args:
        metric: of an example and a prediction.
        lm: predicts.
        check: called after an LM error; raises when the run has to end.
    """

    def __init__(self, metric: PredictiveLikelihood, lm: dspy.BaseLM, check: Callable[[], None]) -> None:
        self.metric = metric
        self.lm = lm
        self.check = check
        self.__name__ = metric.__name__

    def __call__(
        self, gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """See `PredictiveLikelihood`; what cannot be predicted is not known."""
        with dspy.context(lm=self.lm):
            try:
                return self.metric(gold, pred, trace, pred_name, pred_trace)
            except PrefineError:
                raise
            except Exception:
                self.check()
        if not self.metric.with_feedback:
            return KNOWS_NOTHING
        return dspy.Prediction(score=KNOWS_NOTHING, feedback="What this note predicts could not be measured.")
