"""The stages of a compilation on NLSI and their sizes, for `--dry-run`: measured on the prompts that would be sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dspy

from eval.compiling.call_size import mean, size_of
from prefine_dspy import interpreter
from prefine_dspy.tagging import tagger
from programs.compilation.demonstrations import choose
from programs.compilation.estimate import CallSize, Stage, search_metric_calls
from programs.compilation.nlsi_parts import NlsiPart, module_at, nlsi_parts, predictor_in
from programs.compilation.optimizers import SEARCHING

if TYPE_CHECKING:
    from eval.compiling.nlsi import NlsiTask

SAMPLES = 8


def forecast(task: NlsiTask, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
    """Every step that calls an LM, in order."""
    sized = _Forecast(task, program, parts)
    found = [sized.scores("score dev, uncompiled", "dev", compiled=False)]
    for part in nlsi_parts(program):
        if part.name in parts:
            found += sized.search(part, optimizer)
    # a gate has asked all of that already
    answered = any(part.name in parts and part.step == "gate" for part in nlsi_parts(program))
    if not answered:
        found.append(sized.scores("score dev, compiled", "dev", compiled=True))
    found.append(sized.scores("score test, uncompiled", "test", compiled=False))
    found.append(sized.scores("score test, compiled", "test", compiled=True))
    return [stage for stage in found if stage.lm_calls]


class _Forecast:
    def __init__(self, task: NlsiTask, program: Any, parts: Sequence[str]) -> None:
        self.task = task
        self.samples = {False: task.samples(), True: task.samples(parts)}
        self.parts = [part for part in nlsi_parts(program) if part.step != "gate"]
        self.sizes = {
            (part.name, compiled): self._size(part, module_at(program, part.path), compiled)
            for part in self.parts
            for compiled in (False, True)
        }

    def scores(self, name: str, split: str, compiled: bool) -> Stage:
        calls = self.task.calls_of(split, self.samples[compiled])
        return Stage(name, self.task.units(split)[0], calls, self._mean(compiled), len(self.parts))

    def search(self, part: NlsiPart, optimizer: str) -> list[Stage]:
        dev = self.task.source.splits["dev"]
        if part.step == "gate":
            calls = self.task.calls_of("dev", self.samples[True])
            return [Stage("gate: dev with and without tags", 0, calls, self._mean(True), 3)]
        if optimizer == "labeled":
            return []
        bootstrapped = self.task.bootstrap_instances
        examples = (min(bootstrapped, len(self.task.source.splits["train"].instances)), len(dev.instances))
        if part.step == "tag":
            examples = (examples[0], len(dev.tags))
        calls = sum(search_metric_calls(optimizer, self.task.settings, *examples))
        found = []
        if part.step == "interpret_tagged" and optimizer in SEARCHING:
            found.append(Stage(f"{part.name}: tags of dev", 0, len(dev.instructions), self.sizes["tagger", True]))
        prefixes = self.task.settings.candidates + 1
        return [*found, Stage(f"{part.name}: {optimizer}", calls, calls, self.sizes[part.name, True], prefixes)]

    def _mean(self, compiled: bool) -> CallSize:
        sizes = [self.sizes[part.name, compiled] for part in self.parts]
        return CallSize(*(round(mean([size[at] for size in sizes])) for at in range(3)))

    def _size(self, part: NlsiPart, module: Any, compiled: bool) -> CallSize:
        settings = self.task.settings
        name, predictor = predictor_in(module)
        pool = self.task.pools(part, module)[name]
        if not pool:
            return CallSize(0, 0, 0)
        demos = choose(pool, settings.demos, settings.seed) if compiled else list(predictor.demos)
        signature, samples = self._signature(part, predictor), choose(pool, SAMPLES, 1)
        size, k = size_of(signature, demos, samples), int(self.task.options.get("nearest", 0))
        chosen = demos[int(self.task.options.get("fixed", 0)) :]
        if not k or not chosen or part.step in ("tag", "select"):
            return size
        # demonstrations that are chosen for each request are read anew
        fixed = size_of(signature, demos[: -len(chosen)], samples)
        fresh = round((size.prefix - fixed.prefix) * min(k, len(chosen)) / len(chosen))
        return fixed._replace(fresh=size.fresh + fresh)

    def _signature(self, part: NlsiPart, predictor: dspy.Predict) -> type[dspy.Signature]:
        if part.step == "select":
            return predictor.signature
        with_tools = tagger.with_tools if part.step == "tag" else interpreter.with_tools
        return with_tools(predictor.signature, self.task.source.tools)
