"""NLSI (TAPS): a dialogue and its user's standing instructions become calls; one phase, grouped by dialogue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dspy

from eval.data.nlsi import NlsiData, NlsiInstance, balanced, load_nlsi
from eval.items import ItemGroup, ItemRunner
from eval.metrics.locations import find_aliases
from eval.run_config import identity_of
from eval.run_folder import RunFolder
from eval.tasks.attempt import Attempt, RunGuard
from eval.tasks.nlsi_markdown import brief_text, report_text
from eval.tasks.nlsi_plots import draw
from eval.tasks.nlsi_record import record_of
from eval.tasks.nlsi_tables import score_rows, summarise
from eval.tasks.task import Phase, Presentation, Record, Slice, Summary
from programs.nlsi_system import NlsiSystem

PRESENTATION = Presentation(summarise, brief_text, report_text, score_rows, draw)


def load(data: str, limit: int | None, seed: int, *, split: str) -> Slice:
    """The wanted instances of a split.

    Args:
        data: as `load_nlsi` takes it.
        limit: instances at most, balanced over the reasoning types; None for all.
        seed: of that choice.
        split: "train", "validation" or "test".

    Raises:
        InputError: the data cannot be read.
    """
    loaded = load_nlsi(data, split)
    instances = loaded.instances if limit is None else balanced(loaded.instances, limit, seed)
    config = {
        "data": loaded.name,
        "data_identity": loaded.identity,
        "split": split,
        "instances": len(instances),
        "instances_identity": identity_of([instance.id for instance in instances]),
        "place_names": find_aliases().identity,
    }
    return Slice(config, lambda systems, lm, _: NlsiTask(systems, loaded, instances, lm))


@dataclass(frozen=True)
class NlsiTask:
    """A run's work on NLSI.

    Args:
        systems: by label, in order.
        data: its catalogue is used; its instances are not.
        instances: the chosen ones.
        lm: the LM that answers.
    """

    systems: dict[str, NlsiSystem]
    data: NlsiData
    instances: Sequence[NlsiInstance]
    lm: dspy.BaseLM

    def phases(self, folder: RunFolder, guard: RunGuard) -> Iterator[Phase]:
        """Items only."""
        items = ItemRunner(folder.items, self.lm, guard, self._ask, self._record)
        items.restore()
        yield items.phase(self._groups())

    def summary(self, folder: RunFolder) -> Summary:
        """What `nlsi_tables` makes of the items, and whose place names the reference scorer knew."""
        aliases = find_aliases()
        places = {"place_names": aliases.source, "place_names_identity": aliases.identity}
        return {**summarise(folder.items.read()), **places}

    def _groups(self) -> list[ItemGroup]:
        """By program and dialogue: the instances of one dialogue ask nearly the same."""
        grouped: dict[str, list[NlsiInstance]] = {}
        for instance in self.instances:
            grouped.setdefault(instance.dialogue_id or instance.id, []).append(instance)
        return [
            ItemGroup(label, system, instances)
            for label, system in self.systems.items()
            for instances in grouped.values()
        ]

    def _ask(self, group: ItemGroup, instance: NlsiInstance) -> dspy.Prediction:
        prediction: dspy.Prediction = group.system.answer(instance.request, self.data.tools)
        return prediction

    def _record(self, group: ItemGroup, instance: NlsiInstance, attempt: Attempt[dspy.Prediction]) -> Record:
        return record_of(group.system.name, instance, self.data.tools, attempt.answer, attempt.failure)
