"""Demonstrations for the three predictors of the memory builder, from the sessions of histories to train on.

The builder itself runs over each history with the annotation answering in the place of the LM. So the inputs of the
demonstrations are exactly those that the builder will give its LM, whatever its options are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import dspy

from eval.data.labels.hypotheses import BEGINNING, general, hypothesis, leading, shown, vague, value_words
from eval.data.observations import executed_calls, stance_counts
from eval.data.preferences import Mapping, Stance
from prefine_dspy.hypothesis import CRITERIA, HypothesisMemory
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, Session
from programs.compilation.demonstrations import Labelled

LONGEST_FEEDBACK = 120
# a hypothesis may be remembered when this many calls fit it
ENOUGH = 2
KEEP = "Keep it as it is."


class Fault(NamedTuple):
    """One way to be wrong: which criterion it misses, the label, a hypothesis that is wrong so, and what to do."""

    criterion: str
    error: str
    hypothesis: str
    feedback: str


def builder_demonstrations(
    builder: HypothesisMemory, histories: Iterable[History], mapping: Mapping, tools: Catalogue
) -> dict[str, list[Labelled]]:
    """By predictor of the builder, everything that can be demonstrated on these histories.

    Args:
        builder: its options decide what the predictors read; it is not changed and no LM is called.
        histories: of the train split.
        mapping: which arguments express which preference.
        tools: as the builder sees them.
    """
    pools: dict[str, list[Labelled]] = {"generate": [], "verify": [], "refine": []}
    for variant, history in enumerate(histories):
        memory = Memory()
        for seen in range(1, len(history.sessions) + 1):
            annotation = _Annotation(history.sessions[:seen], mapping, variant)
            asked = _ask(builder, memory, annotation, tools)
            if asked.generate and annotation.stances:
                pools["generate"].append(annotation.generation(memory, asked.generate))
            if asked.record and annotation.settled:
                pools["verify"] += annotation.verdicts(asked.record)
                pools["refine"] += annotation.refinements(asked.record)
            memory = asked.memory
    return pools


class _Asked(NamedTuple):
    generate: dict[str, str]
    record: str
    memory: Memory


def _ask(builder: HypothesisMemory, memory: Memory, annotation: _Annotation, tools: Catalogue) -> _Asked:
    """One update in which the annotation generates and accepts; what the predictors were given."""
    seen: dict[str, dict[str, str]] = {}

    def generate(**inputs: str) -> dspy.Prediction:
        seen["generate"] = inputs
        return dspy.Prediction(hypothesis=annotation.truth)

    def verify(**inputs: str) -> dspy.Prediction:
        seen["verify"] = inputs
        return dspy.Prediction(**dict.fromkeys(CRITERIA, True), error="none", feedback=KEEP)

    oracle = HypothesisMemory(K=0, loop="verify", **_options(builder))
    oracle.__dict__.update(generate=generate, verify=verify)
    update = oracle(memory=memory, sessions=annotation.sessions, tools=tools)
    return _Asked(seen.get("generate", {}), seen.get("verify", {}).get("record", ""), update.memory)


def _options(builder: HypothesisMemory) -> dict[str, Any]:
    names = ("record", "dialogue", "evidence")
    return {name: getattr(builder, name) for name in names if hasattr(builder, name)}


class _Annotation:
    """What the annotation says after some sessions of a history."""

    def __init__(self, sessions: Sequence[Session], mapping: Mapping, variant: int) -> None:
        self.sessions = sessions
        self.mapping = mapping
        self.variant = variant
        self.calls = executed_calls(sessions)
        self.stances = leading(self.calls, mapping)
        self.truth = hypothesis(self.calls, mapping, self.stances, variant=variant)
        self.about = self.stances[0].preference if self.stances else "other"

    @property
    def settled(self) -> bool:
        """Enough calls fit every preference that the true hypothesis names."""
        enough = leading(self.calls, self.mapping, ENOUGH)
        return bool(enough) and enough == self.stances

    def generation(self, memory: Memory, inputs: dict[str, str]) -> Labelled:
        """The note before and after the last session."""
        kind = "begin" if not memory.text else "keep" if memory.text == self.truth else "change"
        demo = dspy.Example(**inputs, hypothesis=self.truth).with_inputs(*inputs)
        return Labelled(demo, (kind, self.about))

    def verdicts(self, record: str) -> Iterator[Labelled]:
        """The true hypothesis accepted, and wrong ones rejected."""
        yield self._verdict(record, Fault("", "none", self.truth, KEEP))
        for fault in self._faults():
            yield self._verdict(record, fault)

    def refinements(self, record: str) -> Iterator[Labelled]:
        """Each wrong hypothesis rewritten as the true one."""
        for fault in self._faults():
            demo = dspy.Example(
                record=record, hypothesis=fault.hypothesis, feedback=fault.feedback, refined=self.truth
            ).with_inputs("record", "hypothesis", "feedback")
            yield Labelled(demo, ("rewrite", fault.error, self.about))

    def _verdict(self, record: str, fault: Fault) -> Labelled:
        demo = dspy.Example(
            record=record,
            hypothesis=fault.hypothesis,
            **{criterion: criterion != fault.criterion for criterion in CRITERIA},
            error=fault.error,
            feedback=fault.feedback[:LONGEST_FEEDBACK],
        ).with_inputs("record", "hypothesis")
        return Labelled(demo, ("reject", fault.error, self.about) if fault.criterion else ("accept", self.about))

    def _faults(self) -> Iterator[Fault]:
        """A hypothesis for every way to be wrong."""
        main = self.stances[0]
        values = list(dict.fromkeys(self._supporting(main)))
        text = f"{BEGINNING} {value_words(values[0])}."
        yield Fault("abstraction_quality", "over-specific", text, "Say what choices in different tools share.")
        if len(values) > 1:
            listed = ", ".join(value_words(one) for one in values[:3])
            feedback = f"Do not only list values: they are all about {shown(main)}."
            yield Fault("abstraction_quality", "not abstract", f"{BEGINNING} {listed}.", feedback)
        feedback = f"Say which kind of value to choose: the calls show {shown(main)}."
        yield Fault("actionability", "not actionable", vague(self.variant), feedback)
        foreign = self._foreign()
        feedback = f"No call shows {shown(foreign)}; several show {shown(main)}."
        yield Fault("evidence_support", "hallucinated", general(foreign, self.variant), feedback)
        if rival := self._rival(main):
            feedback = f"More calls show {shown(main)}."
            yield Fault("temporal_consistency", "hallucinated", general(rival, self.variant), feedback)

    def _foreign(self) -> Stance:
        """A preference of which the calls have nothing; another one from session to session."""
        seen = {stance.axis for stance in stance_counts(self.calls, self.mapping)}
        foreign = [stance for stance in self.mapping.stances() if stance.axis not in seen]
        if not foreign:
            foreign = [stance for stance in self.mapping.stances() if stance not in self.stances]
        names = sorted({stance.preference for stance in foreign})
        name = names[(self.variant + len(self.sessions)) % len(names)]
        fitting = [stance for stance in foreign if stance.preference == name]
        return fitting[self.variant % len(fitting)]

    def _rival(self, main: Stance) -> Stance | None:
        """The opposing side of a contested history."""
        counts = stance_counts(self.calls, self.mapping)
        rivals = [stance for stance in counts if stance.opposes(main)]
        return max(rivals, key=lambda stance: counts[stance], default=None)

    def _supporting(self, stance: Stance) -> Iterator[tuple[str, str, str]]:
        for call in self.calls:
            yield from (triplet for triplet in call.triplets() if self.mapping.label(triplet) == stance)
