"""PredictiveMemory: PRefine's update with candidates in place of one proposal and predictions in place of opinions.

    old hypotheses + bank ---------------+
    generator's samples, rewrites, ... --+--> lifts (one batch) --> select --> memory

What is known already is tried first: the lifts of the bank are measured once for all users, those of the old hypotheses
once for each new argument. The generator is asked only when the session holds something that they do not explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import dspy

from prefine_dspy.errors import InputError
from prefine_dspy.evidence import persistent_calls, recurring
from prefine_dspy.hypothesis import one_line
from prefine_dspy.lm.values.ask import Asked
from prefine_dspy.predictive.candidates import merged, rewritten, sampled
from prefine_dspy.predictive.correction import Prior, Priors, correction
from prefine_dspy.predictive.kept import hypotheses, with_hypotheses
from prefine_dspy.predictive.lift import Measure, lift_rule
from prefine_dspy.predictive.verification import role
from prefine_dspy.predictive.verifier import Judged, PredictiveVerifier
from prefine_dspy.signatures import GenerateHypothesis, RefineHypothesis
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Memory, MemoryUpdate, Session, ToolCall


class PredictiveMemory(dspy.Module):
    """Builds and revises a user's memory, one update a session; like `HypothesisMemory`, which it can replace.

    Args:
        K: rewrites at most, when no candidate is accepted.
        samples: of the generator; 0 asks it never and lives on the bank.
        bank: hypotheses that were accepted for users of the training data (`programs.compilation.bank`).
        most: hypotheses that are kept at the most.
        merges: also try the candidates two by two.
        measure, threshold: see `LiftRule`.
        half_life: see `PredictiveVerifier`.
        prior, priors: see `Correction`.
        evidence: how many recurring choices are kept beside the hypotheses.
    """

    record = "calls"

    def __init__(
        self,
        K: int = 1,  # noqa: N803 - the paper's name
        samples: int = 2,
        bank: Sequence[str] = (),
        most: int = 3,
        merges: bool = False,
        measure: Measure = "kl",
        threshold: float = 0.15,
        half_life: float | None = None,
        prior: Prior = "uniform",
        priors: Priors | None = None,
        evidence: int = 8,
    ) -> None:
        super().__init__()
        for name, value in (("K", K), ("samples", samples), ("most", most), ("evidence", evidence)):
            if type(value) is not int or value < 0:
                raise InputError(f"{name} must be a whole number, 0 or more, not {value!r}")
        if not isinstance(merges, bool):
            raise InputError(f"merges must be true or false, not {merges!r}")
        if half_life is not None and (
            isinstance(half_life, bool) or not isinstance(half_life, int | float) or not half_life > 0
        ):
            raise InputError(f"half_life must be a number of sessions above 0, or none, not {half_life!r}")
        if isinstance(bank, str) or not all(isinstance(one, str) and one.strip() for one in bank):
            raise InputError('bank must be a list of hypotheses: bank=["The user prefers ..."]')
        self.K = K
        self.samples = samples
        self.bank = tuple(one_line(one) for one in bank)
        self.most = most
        self.merges = merges
        self.evidence = evidence
        self.verifier = PredictiveVerifier(lift_rule(measure, threshold), half_life, correction(prior, priors))
        self.generate = dspy.Predict(GenerateHypothesis)
        self.refine = dspy.Predict(RefineHypothesis)

    def forward(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """The memory after `sessions[-1]`, all earlier ones having been seen."""
        return self._updated(memory, sessions, tools)

    async def aforward(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """See `forward`; runs in a thread under the caller's settings."""
        return await dspy.asyncify(self._updated)(memory, sessions, tools)

    def _updated(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        session = sessions[-1]
        seen = memory.model_copy(update={"sessions": (*memory.sessions, session.id)})
        new = persistent_calls(session, tools)
        if not new:
            return MemoryUpdate(memory=seen, attempts=({"stage": "skip", "reason": "the session holds no evidence"},))
        update = _Update(self, hypotheses(memory), sessions, tools)
        update.score("known", [*update.old, *self.bank])
        if self.samples and update.unexplained():
            update.generate(memory.text, new)
        chosen = update.chosen()
        changed = with_hypotheses(seen, chosen, update.judged.verdicts, update.open_values(), session.id)
        changed = changed.model_copy(update={"evidence": recurring(sessions, tools, most=self.evidence)})
        return MemoryUpdate(
            memory=changed,
            accepted=changed.version > memory.version,
            attempts=tuple(update.attempts),
            parse_failures=update.parse_failures,
        )


class _Update:
    """One update while it runs."""

    def __init__(
        self, program: PredictiveMemory, old: list[str], sessions: Sequence[Session], tools: Catalogue
    ) -> None:
        self.program = program
        self.old = old
        self.sessions = sessions
        self.tools = tools
        self.judged = Judged({}, {}, Asked())
        self.attempts: list[dict[str, Any]] = []
        self.parse_failures = 0

    def score(self, stage: str, texts: Sequence[str]) -> list[str]:
        """Judge those that were not yet; returns them."""
        new = [one for one in dict.fromkeys(texts) if one not in self.judged.verdicts]
        found = self.program.verifier.judge(new, self.sessions, self.tools)
        self.judged = Judged(
            {**self.judged.verdicts, **found.verdicts},
            {**self.judged.lifts, **found.lifts},
            self.judged.asked + found.asked,
        )
        told = {
            text: {
                "accepted": one.accepted,
                "supporting": round(one.tally.supporting, 3),
                "competing": round(one.tally.competing, 3),
                "gain": round(one.gain, 3),
                "feedback": one.feedback,
            }
            for text, one in found.verdicts.items()
        }
        asked = {"questions": found.asked.questions, "evaluated_tokens": found.asked.evaluated}
        self.attempts.append({"stage": "score", "of": stage, "verdicts": told, **asked})
        return new

    def generate(self, previous: str, new: Sequence[ToolCall]) -> None:
        """Samples, and rewrites while nothing of them is accepted."""
        program = self.program
        written = sampled(program.generate, previous, self.sessions, new, self.tools, program.samples)
        self._note("generate", written.texts, written.unparsed)
        fresh = self.score("generate", [*written.texts, *self._merges(written.texts)])
        for _ in range(program.K):
            if not fresh or any(self.judged.verdicts[text].accepted for text in fresh):
                return
            best = max(fresh, key=lambda text: self.judged.verdicts[text].gain)
            feedback = self.judged.verdicts[best].feedback
            texts, unparsed = rewritten(program.refine, best, feedback, self.sessions, self.tools)
            self._note("refine", texts, unparsed)
            fresh = self.score("refine", texts)

    def unexplained(self) -> bool:
        """Whether the last session holds a choice that no hypothesis to be kept supports."""
        kept = [self.judged.lifts[text] for text in self.chosen()]
        record = self.program.verifier.record(self.sessions, self.tools)
        rule = self.program.verifier.rule
        return any(
            all(role(one, lifts.get((one.function, one.argument)), rule) != "supporting" for lifts in kept)
            for one in record
            if one.session == self.sessions[-1].id
        )

    def chosen(self) -> list[str]:
        return self.program.verifier.select(self.judged, self.sessions, self.tools, self.old, self.program.most)

    def open_values(self) -> list[str]:
        """What the record holds that has no closed set."""
        record = self.program.verifier.record(self.sessions, self.tools)
        found = []
        for one in record:
            tool = self.tools.get(one.function)
            parameter = tool.parameter(one.argument) if tool else None
            if parameter is not None and not parameter.choices():
                found.append(one.value)
        return list(dict.fromkeys(found))

    def _merges(self, texts: Sequence[str]) -> list[str]:
        if not self.program.merges:
            return []
        return [merged(left, right) for left, right in combinations([*self.old, *texts], 2)]

    def _note(self, stage: str, texts: Sequence[str], unparsed: Sequence[str]) -> None:
        self.parse_failures += len(unparsed)
        self.attempts += [{"stage": stage, "hypothesis": text} for text in texts]
        self.attempts += [{"stage": stage, "unparsed": text} for text in unparsed]
