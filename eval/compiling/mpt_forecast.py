"""The stages of a compilation on MPT and their sizes, for `--dry-run`: measured on the prompts that would be sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dspy

from eval.compiling.call_size import mean, size_of
from eval.data.load import catalogue_of
from prefine_dspy.caller import with_tools
from prefine_dspy.rendering import history_text
from programs.compilation.demonstrations import choose
from programs.compilation.estimate import CALLS_PER_SESSION, CallSize, Stage, search_metric_calls, tokens
from programs.compilation.optimizers import SEARCHING
from programs.compilation.parts import PartName

if TYPE_CHECKING:
    from eval.compiling.mpt import MPTTask

# prompts that alternate: the catalogues of context-guided and context-free queries; generator, verifier and refiner
CALLER_PREFIXES, BUILDER_PREFIXES = 2, 3


def forecast(task: MPTTask, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
    """Every step that calls an LM, in order."""
    sized = _Forecast(task, program)
    found = sized.scores("score dev, uncompiled", "dev", fresh_memories=True)
    for part in parts:
        found += sized.search(part, optimizer)
    changed = "memory" in parts
    found += sized.scores("score dev, compiled", "dev", fresh_memories=changed, compiled=True)
    found += sized.scores("score test, uncompiled", "test", fresh_memories=True)
    found += sized.scores("score test, compiled", "test", fresh_memories=changed, compiled=True)
    return [stage for stage in found if stage.lm_calls]


class _Forecast:
    def __init__(self, task: MPTTask, program: Any) -> None:
        self.task = task
        self.program = program
        self.builds = hasattr(program, "memory")
        self.sizes = {(part, many): self._size(part, many) for part in self._parts() for many in (False, True)}

    def _parts(self) -> tuple[PartName, ...]:
        return ("memory", "caller") if self.builds else ("caller",)

    def scores(self, name: str, split: str, fresh_memories: bool, compiled: bool = False) -> list[Stage]:
        queries = len(self.task.splits[split].instances)
        found = []
        if self.builds and fresh_memories:
            found.append(self._memories(f"{name}: memories", split, 0, compiled))
        return [*found, Stage(name, queries, queries, self.sizes["caller", compiled], CALLER_PREFIXES)]

    def search(self, part: str, optimizer: str) -> list[Stage]:
        """Running examples of a part; for the builder each is a history and its queries."""
        train, dev = (len(self._histories(split)) for split in ("train", "dev"))
        asked = self.task.splits
        queries = {split: self._queries(split) for split in ("train", "dev")}
        if part == "caller":
            runs = search_metric_calls(optimizer, self.task.settings, queries["train"], queries["dev"])
            found = []
            if self.builds and optimizer != "labeled":
                needed = ("train", "dev") if optimizer in SEARCHING else ("train",)
                sessions = sum(len(history.sessions) for split in needed for history in self._histories(split))
                found.append(self._sessions("caller: memories", sessions, 0, True))
            calls = sum(runs)
            prefixes = CALLER_PREFIXES * (self.task.settings.candidates + 1)
            return [*found, Stage(f"caller: {optimizer}", calls, calls, self.sizes["caller", True], prefixes)]
        runs = search_metric_calls(optimizer, self.task.settings, train, dev)
        sessions = round(sum(runs) * mean([len(history.sessions) for history in asked["train"].histories]))
        found = [self._sessions(f"memory: {optimizer}", sessions, sum(runs), True)]
        if self.task.builder_score == "queries":
            answers = round(runs[0] * queries["train"] / max(1, train) + runs[1] * queries["dev"] / max(1, dev))
            found.append(
                Stage("memory: queries of its metric", 0, answers, self.sizes["caller", False], CALLER_PREFIXES)
            )
        return found

    def _histories(self, split: str) -> Any:
        found = self.task.splits[split].histories
        return found[: self.task.bootstrap_histories] if split == "train" else found

    def _queries(self, split: str) -> int:
        ids = {history.id for history in self._histories(split)}
        return sum(instance.history_id in ids for instance in self.task.splits[split].instances)

    def _memories(self, name: str, split: str, metric_calls: int, compiled: bool) -> Stage:
        sessions = sum(len(history.sessions) for history in self.task.splits[split].histories)
        return self._sessions(name, sessions, metric_calls, compiled)

    def _sessions(self, name: str, sessions: int, metric_calls: int, compiled: bool) -> Stage:
        calls = round(sessions * CALLS_PER_SESSION)
        return Stage(name, metric_calls, calls, self.sizes["memory", compiled], BUILDER_PREFIXES)

    def _size(self, part: PartName, compiled: bool) -> CallSize:
        """Of a typical call, with the demonstrations that a compiled program will have."""
        k = self.task.settings.demos
        pools = self.task.pools(part, self.program)
        sizes = []
        for name, predictor in self.program.named_predictors():
            pool = pools.get(name)
            if pool:
                demos = choose(pool, k, self.task.settings.seed) if compiled else list(predictor.demos)
                sizes.append(self._call_size(predictor, demos, choose(pool, 8, 1)))
        if not sizes:
            return CallSize(0, 0, 0)
        return CallSize(*(round(mean([size[at] for size in sizes])) for at in range(3)))

    def _call_size(self, predictor: Any, demos: list[Any], samples: list[dspy.Example]) -> CallSize:
        signature = predictor.signature
        if "call" in signature.output_fields:
            instances = self.task.splits["train"].instances
            if instances:
                signature = with_tools(signature, catalogue_of(self.task.benchmark, instances[0]))
        fresh = round(mean([self._fresh(signature, sample) for sample in samples]))
        return size_of(signature, demos, samples, fresh)

    def _fresh(self, signature: Any, sample: dspy.Example) -> int:
        inputs = {name: sample[name] for name in signature.input_fields}
        if "call" in signature.output_fields and not self.builds:
            # the queries of one history follow each other, so its text is read once for each catalogue
            split = self.task.splits["train"]
            text = mean([tokens(history_text(history)) for history in split.histories])
            per_history = max(1.0, len(split.instances) / max(1, len(split.histories)))
            return round(text * min(1.0, CALLER_PREFIXES / per_history)) + tokens(inputs["query"])
        return sum(tokens(str(value)) for value in inputs.values())
