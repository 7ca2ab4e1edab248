"""NLSI as something to compile on: examples, labelled demonstrations, metrics and scores of the TAPS programs' parts.

The train split gives demonstrations, validation is "dev" and chooses, test is only scored before and after. What a
later part reads is written by the parts before it, as they were compiled: the interpreter's dev examples hold the tags
of the program's own tagger; its train examples, which become demonstrations, hold gold tags.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from eval.compiling import nlsi_gate
from eval.compiling.nlsi_forecast import forecast
from eval.compiling.nlsi_scores import Item, before_and_after, clusters, item_of
from eval.compiling.nlsi_source import LICENCES, NlsiSource, NlsiSplit, sha256_of
from eval.compiling.task import Calibrated
from eval.data.labels import nlsi as labels
from eval.data.nlsi import NlsiInstance, balanced
from eval.metrics.nlsi_dspy import NlsiMetric
from eval.metrics.selection import SelectionMetric
from eval.metrics.tag_dspy import tag_f1, tag_f1_with_feedback
from prefine_dspy.confidence import scored
from prefine_dspy.errors import PrefineError
from prefine_dspy.gate import Gate
from prefine_dspy.manifest import DataPart, LMPart, Scores, SplitPart
from prefine_dspy.selection import with_selected
from prefine_dspy.taps import SAMPLES
from programs import load_system
from programs.compilation.demonstrations import Labelled, Pools
from programs.compilation.estimate import Stage
from programs.compilation.job import Job, Settings
from programs.compilation.nlsi_parts import NlsiPart, module_at, nlsi_parts, predictor_in
from programs.compilation.optimizers import SEARCHING
from programs.compilation.parts import graft

BOOTSTRAP_INSTANCES = 40


@dataclass
class NlsiTask:
    """Compiling one of the NLSI programs.

    Args:
        program: its short name.
        options: of the library's program.
        source: the data.
        lm, teacher_lm: see `Job`.
        tagger_lm: the tagger's LM where it is another one.
        settings: of the optimizer.
        metric: of whole answers and of the gate: exact match with the length rule, as in TAPS, or F1.
        bootstrap_instances: train instances that are run for traces; labelled demonstrations come from all.
        table: name of the file whose tags take the tagger's place in the program; "" for none.
        check, say: see `watch`.
    """

    program: str
    options: dict[str, Any]
    source: NlsiSource
    lm: dspy.BaseLM
    teacher_lm: dspy.BaseLM
    tagger_lm: dspy.BaseLM | None
    settings: Settings
    metric: nlsi_gate.Part = "em"
    bootstrap_instances: int = BOOTSTRAP_INSTANCES
    table: str = ""
    check: Callable[[], None] = lambda: None
    say: Callable[[str], None] = lambda line: None
    main_figure: str = "em"
    size_options: str = "--dev-instances or --test-instances"

    def watch(self, check: Callable[[], None], say: Callable[[str], None]) -> None:
        """See `Task.watch`."""
        self.check, self.say = check, say

    # -- parts

    def part(self, name: str, program: Any) -> NlsiPart:
        """The part of that name."""
        return next(part for part in nlsi_parts(program) if part.name == name)

    def job(self, part: str, program: Any, optimizer: str) -> Job:
        """See `Task.job`."""
        one = self.part(part, program)
        student = module_at(program, one.path).deepcopy()
        train: Sequence[dspy.Example] = ()
        dev: Sequence[dspy.Example] = ()
        if optimizer != "labeled":
            train = self._examples(one, program, self._bootstrapped(), gold=True)
        if optimizer in SEARCHING:
            dev = self._examples(one, program, self.source.splits["dev"], gold=False)
        metric, feedback = self._metrics(one)
        tags = one.step == "tag"
        return Job(
            name=part,
            student=student,
            pools=self.pools(one, student),
            train=train,
            dev=dev,
            metric=metric,
            feedback=feedback,
            lm=self.tagger_lm or self.lm if tags else self.lm,
            teacher_lm=self.teacher_lm,
            settings=self.settings,
            check=self.check,
            say=self.say,
        )

    def pools(self, part: NlsiPart, module: Any) -> Pools:
        """Labelled demonstrations of a part's only predictor, from the train split. No LM call."""
        return {predictor_in(module)[0]: self._labelled(part)}

    def _labelled(self, part: NlsiPart) -> list[Labelled]:
        train, tools = self.source.splits["train"], self.source.tools
        match part.step:
            case "interpret":
                return labels.interpreter_demonstrations(train.instances, tools)
            case "interpret_tagged":
                return labels.tagged_demonstrations(train.instances, train.tags, tools)
            case "joint":
                return labels.joint_demonstrations(train.instances, train.tags, tools)
            case "tag":
                return labels.tagger_demonstrations(train.tags, tools)
            case "select":
                return labels.selector_demonstrations(train.instances)
        raise ValueError(f"{part.name} has no demonstrations")

    def graft(self, part: str, chosen: dspy.Module, program: Any) -> Any:
        """See `Task.graft`."""
        return graft(chosen, program, self.part(part, program).path)

    def calibrate(self, part: str, program: Any) -> Calibrated | None:
        """The gate's estimator and threshold, by the answers to dev; see `nlsi_gate`."""
        if self.part(part, program).step != "gate":
            return None
        cases = self._cases(program)
        rows = nlsi_gate.rows_of(cases, self.metric)
        best = rows[0]
        copy = program.deepcopy()
        copy.gate = Gate(estimator=best.estimator, threshold=best.threshold.value)
        share = f"{100 * best.threshold.tagged:.0f}% of the dev requests with instructions"
        note = f"{best.estimator} from {best.threshold.value:.3f} on, which tags {share}"
        return Calibrated(
            program=copy,
            options={"estimator": best.estimator, "threshold": best.threshold.value},
            note=note,
            table=nlsi_gate.table(rows, cases),
            record=nlsi_gate.record(rows),
        )

    def _cases(self, program: Any) -> list[nlsi_gate.Case]:
        """Both answers to every dev request."""
        instances = self.source.splits["dev"].instances
        cases = []
        for number, instance in enumerate(instances, 1):
            first = self._asked(lambda request: program.default(request=request, tools=self.source.tools), instance)
            gated = bool(instance.request.applicable)
            second = first
            if gated and first is not None:  # without a first answer the program never comes to the second
                second = self._asked(
                    lambda request: program.ext_tag(request=request, tools=self.source.tools), instance
                )
            uncertainty = dict(first.uncertainty) if first is not None else {}
            default, tagged = (item_of(instance, one, self.source.tools, selects=False) for one in (first, second))
            cases.append(nlsi_gate.Case(uncertainty, default, tagged, gated))  # type: ignore[arg-type]
            if number % 20 == 0:
                self.say(f"gate: {number} of {len(instances)} dev requests answered with and without tags")
        if any(case.uncertainty for case in cases):
            return cases
        # an LM without log-probabilities; where it gives them, single answers that could not be read have none either
        sampled = [self._sampled(program, instance) for instance in instances]
        return [case._replace(uncertainty=one) for case, one in zip(cases, sampled, strict=True)]

    def _sampled(self, program: Any, instance: NlsiInstance) -> dict[str, float]:
        """For LMs without log-probabilities: by samples."""
        probe = program.deepcopy()
        probe.gate = Gate(estimator="disagreement", threshold=2.0)  # never tags
        answer = self._asked(lambda request: probe(request=request, tools=self.source.tools), instance)
        return dict(answer.uncertainty) if answer is not None else {}

    # -- examples and metrics

    def _bootstrapped(self) -> NlsiSplit:
        train = self.source.splits["train"]
        return train._replace(instances=balanced(train.instances, self.bootstrap_instances, self.settings.seed))

    def _examples(self, part: NlsiPart, program: Any, split: NlsiSplit, gold: bool) -> tuple[dspy.Example, ...]:
        """Examples of a part.

        Args:
            gold: what an earlier part would have written is taken from the annotation, where that is there.
        """
        tools = self.source.tools
        if part.step == "tag":
            return tuple(
                dspy.Example(instruction=text, tools=tools, gold=split.tags[text]).with_inputs("instruction", "tools")
                for text in split.instructions
                if text in split.tags
            )
        found = []
        for instance in split.instances:
            request, more = instance.request, {}
            if part.step == "interpret_tagged":
                known = labels.gold_tags(instance, split.tags, tools) if gold else None
                more["tags"] = self._tags(part, program, instance) if known is None else known
            elif part.step == "interpret" and hasattr(program, "selector") and not gold:
                answer = self._asked(lambda one: program.selector(request=one, tools=tools), instance)
                request = with_selected(request, answer.selected if answer is not None else ())
            if part.step != "select":
                # nobody reads the profile, and MIPROv2 shows whole examples to an LM
                request = request.model_copy(update={"profile": ()})
            example = dspy.Example(
                request=request, tools=tools, gold=list(instance.gold), kind=labels.kind_of(instance), **more
            )
            found.append(example.with_inputs("request", "tools", *more))
        return tuple(found)

    def _tags(self, part: NlsiPart, program: Any, instance: NlsiInstance) -> list[str]:
        """Of the program's own tagger, as it is by now."""
        tagging = module_at(program, part.path.rpartition(".")[0])
        found = self._asked(lambda request: tagging.tags(request.texts(), self.source.tools).texts, instance)
        return list(found) if found is not None else list(instance.request.texts())

    def _asked(self, ask: Callable[[Any], Any], instance: NlsiInstance) -> Any:
        """What a program says to a request; None when it cannot."""
        with dspy.context(lm=self.lm):
            try:
                answer = ask(instance.request)
            except PrefineError:
                raise
            except Exception:
                answer = None
        self.check()
        return answer

    def _metrics(self, part: NlsiPart) -> tuple[Any, Any]:
        tools = self.source.tools
        if part.step == "tag":
            return tag_f1, tag_f1_with_feedback
        if part.step == "select":
            return SelectionMetric("f1"), SelectionMetric("f1", feedback=True)
        metric = NlsiMetric(self.metric, catalogue=tools)
        return metric, NlsiMetric(self.metric, feedback=True, catalogue=tools)

    def metric_names(self, parts: Sequence[str]) -> dict[str, str]:
        """See `Task.metric_names`."""
        program = load_system(self.program).program
        found = [self.part(name, program) for name in parts]
        return {one.name: self.metric if one.step == "gate" else self._metrics(one)[0].__name__ for one in found}

    # -- scores

    def item_scores(self, program: Any, split: str, tick: Callable[[], None] = lambda: None) -> list[Item]:
        """One score an instance."""
        system = load_system(self.program)
        system.program = program
        tools = self.source.tools
        scores = []
        for instance in self.source.splits[split].instances:
            answer = self._asked(lambda request: system.answer(request, tools), instance)
            scores.append(item_of(instance, answer, tools, selects=self.program == "select"))
            tick()
        return scores

    def units(self, split: str) -> tuple[int, str]:
        """See `Task.units`."""
        return len(self.source.splits[split].instances), "requests"

    def compare(self, split: str, before: Sequence[Any] | None, after: Sequence[Any] | None) -> Scores:
        """Means, intervals over dialogues."""
        return before_and_after(before, after, clusters(self.source.splits[split].instances))

    def calls_before(self) -> int:
        """See `Task.calls_before`."""
        return self.calls_of("dev", self.samples())

    def calls_after(self, parts: Sequence[str]) -> int:
        """See `Task.calls_after`."""
        before, after = self.samples(), self.samples(parts)
        return self.calls_of("dev", after) + self.calls_of("test", before) + self.calls_of("test", after)

    def samples(self, parts: Sequence[str] = ()) -> bool:
        """Whether the gate asks for samples: as the program begins, or, with its gate among `parts`, as it will."""
        if "gate" in parts:
            return scored(self.lm)[0] is self.lm  # it offers no log-probabilities
        return self.options.get("estimator") == "disagreement"

    def calls_of(self, split: str, sampling: bool = False) -> int:
        """LM calls of answering a split once, at most: an instruction is tagged once."""
        instances, instructions = self.source.splits[split].instances, self.source.splits[split].instructions
        n = len(instances)
        with_instructions = sum(bool(one.request.applicable) for one in instances)
        if sampling:
            return self.calls_of(split) + SAMPLES * n
        if self.program in ("ext_tag", "tag_and_repair"):
            return n + len(instructions)
        if self.program == "taps":
            return n + with_instructions + len(instructions)
        return 2 * n if self.program == "select_then_interpret" else n

    def stages(self, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
        """See `Task.stages`."""
        return forecast(self, program, optimizer, parts)

    # -- the manifest

    def arguments(self) -> dict[str, Any]:
        """See `Task.arguments`."""
        gold = [f"{text}\t{tags}" for name in ("train", "dev") for text, tags in self.source.splits[name].tags.items()]
        table = {"table": self.table} if self.table else {}
        return {"bootstrap_instances": self.bootstrap_instances, "gold_tags": sha256_of(gold)[:16], **table}

    def data_part(self) -> DataPart:
        """See `Task.data_part`; a split's histories are its dialogues."""
        return DataPart(
            name=self.source.name,
            identity=self.source.identity,
            splits={
                name: SplitPart(
                    histories=len({one.dialogue_id or one.id for one in split.instances}),
                    queries=len(split.instances),
                    identity=split.identity,
                )
                for name, split in self.source.splits.items()
            },
            licence=LICENCES.get(self.source.name, ""),
        )

    def lm_parts(self) -> dict[str, LMPart]:
        """See `Task.lm_parts`."""
        lms = {"lm": self.lm, "teacher_lm": self.teacher_lm, "tagger_lm": self.tagger_lm}
        return {role: LMPart.of(lm) for role, lm in lms.items() if lm is not None}

    def sizes(self) -> str:
        """See `Task.sizes`."""
        splits = [f"{name} {len(one.instances)} requests" for name, one in self.source.splits.items()]
        tags = [f"{len(self.source.splits[name].tags)} of {name}" for name in ("train", "dev")]
        return f"{self.source.name}: {', '.join(splits)}; gold tags of instructions: {', '.join(tags)}"
