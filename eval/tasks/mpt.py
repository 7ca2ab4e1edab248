"""MPT (PRefine): memories first, then queries; parallel over histories, in order inside one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import dspy

from eval.data.drift import changes
from eval.data.load import balanced, catalogue_of, load_benchmark
from eval.grading import grade
from eval.instance import Benchmark, Instance
from eval.items import ItemGroup, ItemRunner, answered
from eval.memories import Key, MemoryBuilder, MemoryTask
from eval.run_config import RunConfig, identity_of
from eval.run_folder import RunFolder
from eval.tables import score_rows
from eval.tasks.attempt import Attempt, RunGuard
from eval.tasks.mpt_memories import ReusedMemories, read_memories, schema_of
from eval.tasks.mpt_tables import brief_text, draw, report_text, summarise
from eval.tasks.task import Phase, Presentation, Record, Slice, Summary
from eval.tokens import counting
from prefine_dspy.errors import InputError
from prefine_dspy.rendering import history_text
from prefine_dspy.types import Memory
from programs.memory_backends.system import BackendSystem
from programs.system import System

PRESENTATION = Presentation(summarise, brief_text, report_text, score_rows, draw)
Schema = Literal["base", "extended", "both"]


def load(data: str, limit: int | None, seed: int, *, query: str, schema: Schema) -> Slice:
    """The wanted instances of a benchmark.

    Args:
        data: as `load_benchmark` takes it.
        limit: instances at most, balanced over query and reasoning types; None for all.
        seed: of that choice.
        query: "cg", "cf" or "both".
        schema: "base", "extended" (functions that no history holds), or "both".

    Raises:
        InputError: the data cannot be read, or holds none of the wanted instances.
    """
    benchmark = read(data, schema)
    instances = choose(benchmark, query, limit, seed)
    config = {
        "data": benchmark.name,
        "data_identity": benchmark.identity,
        "data_schema": schema,
        "query": query,
        "instances": len(instances),
        "instances_identity": identity_of([instance.id for instance in instances]),
    }
    changed = changes(data)
    return Slice(config, lambda systems, lm, memory_lm: MPTTask(systems, benchmark, instances, lm, memory_lm, changed))


def read(data: str, schema: str) -> Benchmark:
    """The benchmark with the instances of one schema, or with those of both over the same histories.

    Raises:
        InputError: the data cannot be read, or has but one of the two.
    """
    if schema != "both":
        return load_benchmark(data, schema)  # type: ignore[arg-type]  # which refuses all others
    base, extended = load_benchmark(data, "base"), load_benchmark(data, "extended")
    for name, part in (("base", base), ("extended", extended)):
        if not part.instances:
            raise InputError(f"{base.name} has no queries of the {name} schema: leave --schema both out")
    return base._replace(
        histories={**base.histories, **extended.histories},
        instances=[*base.instances, *extended.instances],
        identity=identity_of([base.identity, extended.identity]),
    )


def choose(benchmark: Benchmark, query: str, limit: int | None, seed: int) -> list[Instance]:
    """The instances of the wanted query type, at most `limit`, balanced.

    Of the two schemas each gives half, as far as it has them; those of the extended one are taken over histories that
    the others need anyway, where that is possible.

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
    base, unseen = ([one for one in chosen if (one.schema_name == "extended") is seen] for seen in (False, True))
    if not base or not unseen:
        return balanced(chosen, limit, seed, lengths)
    of_unseen = max(min(limit // 2, len(unseen)), limit - len(base))
    first = balanced(base, limit - of_unseen, seed, lengths)
    read_anyway = {one.history_id for one in first}
    lengths = {name: 1 if name in read_anyway else length for name, length in lengths.items()}
    return [*first, *balanced(unseen, of_unseen, seed, lengths)]


@dataclass
class MPTTask:
    """A run's work on MPT.

    Args:
        systems: by label, in order.
        benchmark: its histories, catalogues and preference slots are used; its instances are not.
        instances: the chosen ones.
        lm: the inference LM.
        memory_lm: the LM of memory updates.
        changed: by id of a history whose user changed, the sessions before that.
        reused: memories that another run built.
    """

    systems: dict[str, System]
    benchmark: Benchmark
    instances: Sequence[Instance]
    lm: dspy.BaseLM
    memory_lm: dspy.BaseLM
    changed: dict[str, int] = field(default_factory=dict)
    reused: ReusedMemories | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._counting = counting(self.lm)
        self._memories: dict[Key, Memory] = {}

    def reuse(self, run: Path, config: RunConfig, data: str) -> RunConfig:
        """Take the memories of another run where they are what this one would build.

        Args:
            run: its folder.
            config: of this run.
            data: `--data` of this run.

        Returns:
            `config`, with the run named in it.

        Raises:
            InputError: they do not fit; the message names the first difference.
        """
        theirs = schema_of(run)
        there = self.benchmark if theirs == config.data_schema else read(data, theirs)
        self.reused = read_memories(run, config, self.systems, self.benchmark, there)
        return config.model_copy(update={"memories": self.reused.identity})

    def phases(self, folder: RunFolder, guard: RunGuard) -> Iterator[Phase]:
        """Memories where a program keeps any, then items."""
        for system in self.systems.values():
            if isinstance(system, BackendSystem):
                # a library's files stay in the run's folder, and its tokens are counted like everybody's
                system.folder, system.count = folder.path / "stores", self._counting.count
                system.writer = self.memory_lm.model
        if self.reused is not None:
            self.reused.take_over(folder.memories, self._counting.count)
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
        """What `mpt_tables` makes of the journals, whose tokens were counted, and what was taken from another run."""
        memories = folder.memories.read()
        found = summarise(folder.items.read(), memories)
        if self.reused is not None:
            sessions = sum(bool(one.get("reused")) for one in memories)
            found["memories_reused"] = {"run": str(self.reused.run), "sessions": sessions, "of": len(memories)}
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
            "changed_after": self.changed.get(instance.history_id, 0),
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
            **({"retrieval": found} if isinstance(found := getattr(attempt.answer, "retrieval", None), dict) else {}),
        }
