"""MPT as something to compile on: examples, labelled demonstrations and metrics of both parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import dspy

from eval.compiling.mpt_forecast import forecast
from eval.compiling.mpt_scores import Harness, before_and_after, clusters
from eval.compiling.task import Calibrated
from eval.data.instances import Facts
from eval.data.labels.builder import builder_demonstrations
from eval.data.labels.caller import caller_demonstrations, remembered
from eval.data.labels.hypotheses import mentions, shown
from eval.data.load import catalogue_of
from eval.data.preferences import Mapping
from eval.data.splits import Split
from eval.instance import Benchmark, Instance
from eval.metrics.compile_feedback import BlamingMetric
from eval.metrics.counts import ItemScore
from eval.metrics.dspy_metrics import MPTMetric
from prefine_dspy.manifest import DataPart, LMPart, Scores, SplitPart
from prefine_dspy.predictive import ContrastiveCaller
from prefine_dspy.rendering import NOTHING, history_text
from prefine_dspy.types import History, Memory
from programs import load_system
from programs.compilation.builder_metric import BuilderMetric, ProxyMetric
from programs.compilation.demonstrations import Labelled, Pools, choose, give
from programs.compilation.estimate import CALLS_PER_SESSION, Stage
from programs.compilation.job import Job, Settings
from programs.compilation.optimizers import SEARCHING
from programs.compilation.parts import as_read, graft, part_of
from programs.system import System

BuilderScore = Literal["queries", "proxy"]


@dataclass
class MPTTask:
    """Compiling one program on one benchmark.

    Args:
        program: its short name.
        options: of its constructor.
        benchmark, splits, mapping: the data.
        lm, memory_lm, teacher_lm: see `Job`; the memory LM runs the builder.
        settings: of the optimizer.
        parts: which get compiled.
        builder_score: "queries" asks the caller; "proxy" compares words and costs no call.
        bootstrap_histories: train histories that are run for traces; labelled demonstrations come from all.
        check, say: see `Job`.
    """

    program: str
    options: dict[str, Any]
    benchmark: Benchmark
    splits: dict[str, Split]
    mapping: Mapping
    lm: dspy.BaseLM
    memory_lm: dspy.BaseLM
    teacher_lm: dspy.BaseLM
    settings: Settings
    parts: tuple[str, ...] = ("caller",)
    builder_score: BuilderScore = "queries"
    bootstrap_histories: int = 3
    check: Callable[[], None] = lambda: None
    say: Callable[[str], None] = lambda line: None
    main_figure: str = "o_f1"
    size_options: str = "--dev-histories, --test-histories or --queries-per-history"

    @property
    def harness(self) -> Harness:
        return Harness(self.benchmark, self.lm, self.memory_lm, self.check)

    def watch(self, check: Callable[[], None], say: Callable[[str], None]) -> None:
        """See `Task.watch`."""
        self.check, self.say = check, say

    def system(self, program: Any) -> System:
        """The runner's view of a program."""
        system = load_system(self.program, **self.options)
        system.program = program
        return system

    def pools(self, part: str, program: Any) -> Pools:
        """Labelled demonstrations from the train split. No LM call."""
        train = self.splits["train"]
        if part == "memory":
            tools = self.benchmark.catalogues["base"]
            found = builder_demonstrations(program.memory, train.histories, self.mapping, tools)
            return {f"memory.{name}": pool for name, pool in found.items()}
        kind: Literal["hypothesis", "history"] = "hypothesis" if hasattr(program, "memory") else "history"
        pool = caller_demonstrations(
            train.histories, train.instances, self.mapping, self.tools_of, kind, self.settings.seed
        )
        if isinstance(program.caller, ContrastiveCaller):
            pool = _unremembered(pool)
        return {"caller.call_tool": pool}

    def job(self, part: str, program: Any, optimizer: str) -> Job:
        """One part of the program, to be compiled. Builds memories where the optimizer needs them: LM calls."""
        train = dev = ()
        examples = self._histories if part == "memory" else self._queries
        if optimizer != "labeled":
            train = examples(self._bootstrapped(), program, shorten=True)
        if optimizer in SEARCHING:
            dev = examples(self.splits["dev"], program, shorten=False)
        metric, feedback = self._metrics(part, self._read_by(program) if part == "memory" else program)
        return Job(
            name=part,
            student=part_of(program, part),
            pools=self.pools(part, program),
            train=train,
            dev=dev,
            metric=metric,
            feedback=feedback,
            lm=self.memory_lm if part == "memory" else self.lm,
            teacher_lm=self.teacher_lm,
            settings=self.settings,
            threshold=self.settings.threshold if part == "memory" else None,
            check=self.check,
            say=self.say,
        )

    def graft(self, part: str, chosen: dspy.Module, program: Any) -> Any:
        """See `Task.graft`."""
        return graft(chosen, program)

    def calibrate(self, part: str, program: Any) -> Calibrated | None:
        """Both parts have demonstrations."""
        return None

    def item_scores(self, program: Any, split: str, tick: Callable[[], None] = lambda: None) -> Sequence[ItemScore]:
        """One score a query."""
        return self.harness.item_scores(self.system(program), self.splits[split], tick)

    def units(self, split: str) -> tuple[int, str]:
        """Sessions, where memories are built, and queries."""
        asked = self.splits[split]
        total = len(asked.instances)
        if total and self.system(None).builds_memory:
            total += sum(len(history.sessions) for history in asked.histories if asked.of(history.id))
        return total, "sessions and queries"

    def compare(self, split: str, before: Sequence[Any] | None, after: Sequence[Any] | None) -> Scores:
        """Pooled figures, intervals over histories."""
        return before_and_after(before, after, clusters(self.splits[split]))

    def calls_before(self) -> int:
        """See `Task.calls_before`."""
        return self._calls("dev", memories=1)

    def calls_after(self, parts: Sequence[str]) -> int:
        """See `Task.calls_after`. Equal memories are built once."""
        changed = "memory" in parts
        return self._calls("dev", memories=int(changed)) + self._calls("test", memories=1 + changed, answers=2)

    def _calls(self, split: str, memories: int, answers: int = 1) -> int:
        builds = self.system(None).builds_memory
        sessions = sum(len(history.sessions) for history in self.splits[split].histories)
        return answers * len(self.splits[split].instances) + round(builds * memories * sessions * CALLS_PER_SESSION)

    def stages(self, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
        """See `Task.stages`."""
        return forecast(self, program, optimizer, parts)

    def arguments(self) -> dict[str, Any]:
        """See `Task.arguments`."""
        return {"bootstrap_histories": self.bootstrap_histories}

    def data_part(self) -> DataPart:
        """See `Task.data_part`."""
        return DataPart(
            name=self.benchmark.name,
            identity=self.benchmark.identity,
            splits={
                name: SplitPart(histories=len(one.histories), queries=len(one.instances), identity=one.identity)
                for name, one in self.splits.items()
            },
        )

    def lm_parts(self) -> dict[str, LMPart]:
        """See `Task.lm_parts`."""
        lms = {"lm": self.lm, "memory_lm": self.memory_lm, "teacher_lm": self.teacher_lm}
        return {role: LMPart.of(lm) for role, lm in lms.items()}

    def sizes(self) -> str:
        """See `Task.sizes`."""
        splits = ", ".join(
            f"{name} {len(one.histories)} histories ({len(one.instances)} queries)" for name, one in self.splits.items()
        )
        return f"{self.benchmark.name}: {splits}"

    def tools_of(self, instance: Instance) -> Any:
        """The catalogue that a query is asked with."""
        return catalogue_of(self.benchmark, instance)

    def metric_names(self, parts: Sequence[str]) -> dict[str, str]:
        """For the manifest."""
        metrics = {part: self._metrics(part, load_system(self.program, **self.options).program)[0] for part in parts}
        return {part: metric.__name__ for part, metric in metrics.items()}

    def _read_by(self, program: Any) -> Any:
        """The program whose caller judges memories: when the caller gets compiled as well, with the demonstrations that
        it can have before there are memories, for it will not read them uncompiled."""
        if "caller" not in self.parts:
            return program
        pools = self.pools("caller", program)
        demos = {name: choose(pool, self.settings.demos, self.settings.seed) for name, pool in pools.items()}
        return graft(give(part_of(program, "caller"), demos), program)

    def _bootstrapped(self) -> Split:
        train = self.splits["train"]
        histories = train.histories[: self.bootstrap_histories]
        ids = {history.id for history in histories}
        return Split(histories, tuple(one for one in train.instances if one.history_id in ids))

    def _metrics(self, part: str, program: Any) -> tuple[Any, Any]:
        if part == "caller":
            return MPTMetric(), BlamingMetric(self.mapping)
        if self.builder_score == "proxy":
            return ProxyMetric(self._agreement), ProxyMetric(self._agreement, with_feedback=True)
        caller = part_of(program, "caller")

        def answer(query: dspy.Example, memory: Memory) -> Any:
            with dspy.context(lm=self.lm, trace=[]):
                try:
                    return caller(query=query.query, tools=query.tools, memory=as_read(program.caller, memory))
                except Exception:
                    self.check()
                    return dspy.Prediction(calls=[], parse_failed=True)

        item, words = MPTMetric("pref"), BlamingMetric(self.mapping, "pref")
        return BuilderMetric(answer, item), BuilderMetric(answer, item, words, with_feedback=True)

    def _agreement(self, gold: dspy.Example, memory: str) -> tuple[float, str]:
        """F1 between the preferences that the history establishes and those that the memory mentions."""
        established = set(Facts(gold.history, self.mapping).established)
        said = {stance for stance in self.mapping.stances() if mentions(memory, stance)}
        hits = len(established & said)
        agreement = 2 * hits / (len(established) + len(said)) if established or said else 1.0
        lacking = ", ".join(shown(stance) for stance in sorted(established - said))
        invented = ", ".join(shown(stance) for stance in sorted(said - established))
        lines = [f"The note was {memory!r}."]
        lines += [f"It does not mention what the calls show: {lacking}."] if lacking else []
        lines += [f"It mentions what the calls do not bear out: {invented}."] if invented else []
        return agreement, " ".join(lines)

    def _histories(self, split: Split, program: Any, shorten: bool) -> tuple[dspy.Example, ...]:
        """The builder's examples: histories with the queries that are asked after them."""
        tools = self.benchmark.catalogues["base"]
        return tuple(
            dspy.Example(history=history, tools=tools, queries=queries).with_inputs("history", "tools")
            for history in split.histories
            if (queries := [self._query(instance, "") for instance in split.of(history.id)])
        )

    def _queries(self, split: Split, program: Any, shorten: bool) -> tuple[dspy.Example, ...]:
        """The caller's examples: queries with a memory, built once a history by the program as it is."""
        system = self.system(program)
        found = []
        for number, history in enumerate(split.histories):
            instances = split.of(history.id)
            if not instances:
                continue
            if system.builds_memory:
                self.say(f"caller: memory {number + 1} of {len(split.histories)}")
                read = as_read(program.caller, self.harness.memory(system, history))
                found += [self._query(instance, read) for instance in instances]
            else:
                found += [self._query(instance, self._history(history, instance, shorten)) for instance in instances]
        return tuple(found)

    def _history(self, history: History, instance: Instance, shorten: bool) -> str:
        """The whole history as the program reads it; in train examples, whose runs become demonstrations, only the
        sessions that matter."""
        tools = self.tools_of(instance)
        short = remembered(Facts(history, self.mapping), instance, tools, "history") if shorten else ""
        return short or history_text(history)

    def _query(self, instance: Instance, memory: Memory | str) -> dspy.Example:
        return dspy.Example(
            query=instance.query, tools=self.tools_of(instance), memory=memory, gold=list(instance.gold)
        ).with_inputs("query", "tools", "memory")


def _unremembered(pool: Sequence[Labelled]) -> list[Labelled]:
    """For a caller that is asked without the memory: what the query states, each once."""
    found: dict[str, Labelled] = {}
    for one in pool:
        if one.kind[0] == "abstains":
            demo = one.demo.copy(memory=NOTHING).with_inputs("memory", "query")
            found.setdefault(str(demo.query), Labelled(demo, one.kind))
    return list(found.values())


def is_public(data: str) -> bool:
    """Whether a benchmark's texts come from published corpora or are our own: demonstrations show them."""
    if data in ("mini", "mpt"):
        return True
    manifest = Path(data) / "manifest.json"
    if not manifest.is_file():
        return False
    try:
        document = json.loads(manifest.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(document, dict) and bool(document.get("inputs")) and "rules" in document
