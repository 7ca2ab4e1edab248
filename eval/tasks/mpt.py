"""MPT (PRefine): memories first, then queries; parallel over histories, in order inside one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dspy

from eval.data.load import Schema, balanced, catalogue_of, load_benchmark
from eval.grading import grade
from eval.instance import Benchmark, Instance
from eval.items import ItemGroup, ItemRunner, answered
from eval.markdown import brief_text, report_text
from eval.memories import Key, MemoryBuilder, MemoryTask
from eval.plots import draw
from eval.run_config import identity_of
from eval.run_folder import RunFolder
from eval.tables import score_rows, summarise
from eval.tasks.attempt import Attempt, RunGuard
from eval.tasks.task import Phase, Presentation, Record, Slice, Summary
from eval.tokens import counting
from prefine_dspy.errors import InputError
from prefine_dspy.rendering import history_text
from prefine_dspy.types import Memory
from programs.memory_backends.system import BackendSystem
from programs.system import System

PRESENTATION = Presentation(summarise, brief_text, report_text, score_rows, draw)


def load(data: str, limit: int | None, seed: int, *, query: str, schema: Schema) -> Slice:
    """The wanted instances of a benchmark.

    Args:
        data: as `load_benchmark` takes it.
        limit: instances at most, balanced over query and reasoning types; None for all.
        seed: of that choice.
        query: "cg", "cf" or "both".
        schema: "base" or "extended".

    Raises:
        InputError: the data cannot be read, or holds none of the wanted instances.
    """
    benchmark = load_benchmark(data, schema)
    instances = choose(benchmark, query, limit, seed)
    config = {
        "data": benchmark.name,
        "data_identity": benchmark.identity,
        "data_schema": schema,
        "query": query,
        "instances": len(instances),
        "instances_identity": identity_of([instance.id for instance in instances]),
    }
    return Slice(config, lambda systems, lm, memory_lm: MPTTask(systems, benchmark, instances, lm, memory_lm))


def choose(benchmark: Benchmark, query: str, limit: int | None, seed: int) -> list[Instance]:
    """The instances of the wanted query type, at most `limit`, balanced.

    Raises:
        InputError: there are none.
    """
    chosen = [one for one in benchmark.instances if query in ("both", one.query_type)]
    if not chosen:
        if query == "both":
            raise InputError(f"{benchmark.name} has no queries under this --schema: give other --data")
        raise InputError(f"{benchmark.name} has no {query} queries: try --query both")
    if limit is None or limit >= len(chosen):
        return chosen
    lengths = {name: len(history_text(history)) for name, history in benchmark.histories.items()}
    return balanced(chosen, limit, seed, lengths)


@dataclass
class MPTTask:
    """A run's work on MPT.

    Args:
        systems: by label, in order.
        benchmark: its histories, catalogues and preference slots are used; its instances are not.
        instances: the chosen ones.
        lm: the inference LM.
        memory_lm: the LM of memory updates.
    """

    systems: dict[str, System]
    benchmark: Benchmark
    instances: Sequence[Instance]
    lm: dspy.BaseLM
    memory_lm: dspy.BaseLM

    def __post_init__(self) -> None:
        self._counting = counting(self.lm)
        self._memories: dict[Key, Memory] = {}

    def phases(self, folder: RunFolder, guard: RunGuard) -> Iterator[Phase]:
        """Memories where a program keeps any, then items."""
        for system in self.systems.values():
            if isinstance(system, BackendSystem):
                # a library's files stay in the run's folder, and its tokens are counted like everybody's
                system.folder, system.count = folder.path / "stores", self._counting.count
        builder = MemoryBuilder(
            folder.memories, self.memory_lm, guard, self.benchmark.catalogues["base"], self._counting.count
        )
        tasks = self._memory_tasks()
        void = builder.restore(tasks)
        if tasks:
            yield builder.phase(tasks)
        self._memories = builder.memories
        items = ItemRunner(folder.items, self.lm, guard, self._ask, self._record)
        items.restore(lambda line: (line["program"], line["history_id"]) in void)
        yield items.phase(self._groups())

    def summary(self, folder: RunFolder) -> Summary:
        """What `eval.tables` makes of the journals, and whose tokens were counted."""
        found = summarise(folder.items.read(), folder.memories.read())
        return {**found, "memory_tokens_counted_by": self._counting.method}

    def _by_history(self) -> dict[str, list[Instance]]:
        """The chosen instances by history, both in the order of first appearance."""
        grouped: dict[str, list[Instance]] = {}
        for instance in self.instances:
            grouped.setdefault(instance.history_id, []).append(instance)
        return grouped

    def _memory_tasks(self) -> list[MemoryTask]:
        return [
            MemoryTask(label, system, self.benchmark.histories[history])
            for label, system in self.systems.items()
            if system.builds_memory
            for history in self._by_history()
        ]

    def _groups(self) -> list[ItemGroup]:
        by_history = self._by_history().values()
        return [ItemGroup(label, system, queries) for label, system in self.systems.items() for queries in by_history]

    def _memory(self, label: str, instance: Instance) -> Memory:
        """A program without a memory of this history gets the empty one."""
        return self._memories.get((label, instance.history_id), Memory())

    def _ask(self, group: ItemGroup, instance: Instance) -> dspy.Prediction:
        history = self.benchmark.histories[instance.history_id]
        tools = catalogue_of(self.benchmark, instance)
        prediction: dspy.Prediction = group.system.answer(
            instance.query, tools, history, self._memory(group.label, instance)
        )
        return prediction

    def _record(self, group: ItemGroup, instance: Instance, attempt: Attempt[dspy.Prediction]) -> Record:
        answer = answered(attempt.answer)
        memory = self._memory(group.label, instance)
        tools = catalogue_of(self.benchmark, instance)
        slots = self.benchmark.preference_slots
        graded = grade(instance, answer.calls, slots, attempt.failure, answer.parse_failed, tools)
        # a program that shows the LM something else than the memory's text (retrieved notes, the history) says so
        shown = getattr(attempt.answer, "memory_text", None)
        shown = memory.text if shown is None else str(shown)
        return {
            "history_id": instance.history_id,
            "query_type": instance.query_type,
            "reasoning_type": instance.reasoning_type,
            "preference": instance.preference,
            "schema": instance.schema_name,
            "contested": instance.contested,
            "evidence": instance.evidence.model_dump() if instance.evidence else None,
            "status": graded.status,
            "calls": [call.model_dump(mode="json") for call in answer.calls],
            "raw": answer.raw,
            "problems": answer.problems,
            "gold": [call.model_dump(mode="json") for call in instance.gold],
            "scores": graded.scores,
            # of a store with notes what was shown; all of it is in memories.jsonl once
            "memory": shown if memory.notes else memory.text,
            "memory_tokens": self._counting.count(shown),
        }
