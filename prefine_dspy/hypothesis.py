"""PRefine: one textual hypothesis of a user's latent preference, revised after every session (PRefine section 5.1,
Algorithm 1): a generator proposes, a verifier judges against the accumulated record, a refiner rewrites what was
rejected; only an accepted hypothesis replaces the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.errors import InputError
from prefine_dspy.evidence import persistent_calls, recurring
from prefine_dspy.rendering import NOTHING, calls_text, choices_text, record_text, sessions_text, turns_text
from prefine_dspy.signatures import GenerateHypothesis, RefineHypothesis, VerifyHypothesis
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Memory, MemoryUpdate, Session, ToolCall

Record = Literal["calls", "full"]
Loop = Literal["verify", "refine", "generate"]
CRITERIA = ("evidence_support", "abstraction_quality", "actionability", "temporal_consistency")
MAX_HYPOTHESIS_LENGTH = 400


class _Trace:
    """The steps of one update while it runs."""

    def __init__(self) -> None:
        self.attempts: list[dict[str, Any]] = []
        self.parse_failures = 0


class HypothesisMemory(dspy.Module):
    """Builds and revises a user's memory, one update a session.

    Args:
        K: refinement steps at most (the paper's K, 5).
        loop: "verify" is the paper's loop; "refine" refines K times without a verifier and "generate" takes the first
            candidate (the ablations of Table 4).
        record: what the verifier reads: "calls", the executed calls without transient arguments, or "full", the
            accumulated dialogues as published.
        dialogue: show the generator the session's dialogue also when `record` is "calls"; "full" always does.
        evidence: how many recurring choices are kept beside an accepted hypothesis; 0 is the paper's bare hypothesis.

    Example:
        builder = HypothesisMemory(K=3)
        with dspy.context(lm=resolve("local")):
            update = builder(memory=Memory(), sessions=history.sessions[:1], tools=catalogue)
    """

    def __init__(
        self,
        K: int = 5,  # noqa: N803 - the paper's name
        loop: Loop = "verify",
        record: Record = "calls",
        dialogue: bool = False,
        evidence: int = 0,
    ) -> None:
        super().__init__()
        for name, value in (("K", K), ("evidence", evidence)):
            if type(value) is not int or value < 0:
                raise InputError(f"{name} must be a whole number, 0 or more, not {value!r}")
        if not isinstance(dialogue, bool):
            raise InputError(f"dialogue must be true or false, not {dialogue!r}")
        if loop not in ("verify", "refine", "generate"):
            raise InputError(f"loop must be verify, refine or generate, not {loop!r}")
        if record not in ("calls", "full"):
            raise InputError(f"record must be calls or full, not {record!r}")
        self.K = K
        self.loop = loop
        self.record = record
        self.dialogue = dialogue
        self.evidence = evidence
        self.generate = dspy.Predict(GenerateHypothesis)
        self.verify = dspy.Predict(VerifyHypothesis)
        self.refine = dspy.Predict(RefineHypothesis)

    def forward(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """The memory after `sessions[-1]`, all earlier ones having been seen."""
        return self._run(memory, sessions, tools)

    async def aforward(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """See `forward`; runs in a thread under the caller's settings."""
        # not of `forward`: DSPy warns of whoever takes hold of it, and calling the module would tell callbacks twice
        return await dspy.asyncify(self._run)(memory, sessions, tools)

    def _run(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        with dspy.context(adapter=CompactAdapter()):
            return self._updated(memory, sessions, tools)

    def _updated(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        session = sessions[-1]
        seen = memory.model_copy(update={"sessions": (*memory.sessions, session.id)})
        trace = _Trace()
        new = session.calls if self.record == "full" else persistent_calls(session, tools)
        if not new and self.record == "calls":
            return MemoryUpdate(memory=seen, attempts=({"stage": "skip", "reason": "the session holds no evidence"},))
        record = sessions_text(sessions) if self.record == "full" else record_text(sessions, tools)
        candidate = self._ask(
            trace,
            self.generate,
            "generate",
            output="hypothesis",
            record=NOTHING if self.record == "full" else record_text(sessions[:-1], tools),
            previous=memory.text or NOTHING,
            session=self._session_text(session, new),
        )
        if self.loop == "refine" and candidate:
            for _ in range(self.K):
                # an answer that could not be used leaves the candidate as it is
                candidate = (
                    self._refine(trace, record, candidate, "make it more general and better supported") or candidate
                )
        accepted = self._judge(trace, record, candidate) if self.loop == "verify" else candidate
        if accepted:
            seen = seen.model_copy(update={"text": accepted, "version": memory.version + 1})
            seen = seen.model_copy(update={"evidence": recurring(sessions, tools, most=self.evidence)})
        return MemoryUpdate(
            memory=seen,
            accepted=bool(accepted),
            attempts=tuple(trace.attempts),
            parse_failures=trace.parse_failures,
        )

    def _session_text(self, session: Session, calls: Sequence[ToolCall]) -> str:
        """What the generator reads of the last session. Dialogue draws a small model to the topic and away from the
        values that were chosen, and is most of the tokens; so only the published form shows it by default."""
        if self.record == "full" or self.dialogue:
            return f"{turns_text(session.turns)}\nExecuted: {calls_text(calls)}"
        return choices_text(calls)

    def _judge(self, trace: _Trace, record: str, candidate: str) -> str:
        """The first candidate that meets all four criteria, or "" when the budget ends without one."""
        rejected: set[str] = set()
        for step in range(self.K + 1):
            if not candidate or candidate in rejected:
                # The same text would get the same verdict; asking again pays twice for one thing.
                trace.attempts.append({"stage": "stop", "reason": "no new candidate", "hypothesis": candidate})
                return ""
            verdict = self._verify(trace, record, candidate)
            if verdict is not None and all(verdict[criterion] for criterion in CRITERIA):
                return candidate
            rejected.add(candidate)
            if step < self.K:
                feedback = verdict["feedback"] if verdict else "it could not be judged; make it shorter and clearer"
                candidate = self._refine(trace, record, candidate, feedback)
        return ""

    def _verify(self, trace: _Trace, record: str, candidate: str) -> dict[str, Any] | None:
        try:
            judged = self.verify(record=record, hypothesis=candidate)
        except AdapterParseError as error:
            trace.parse_failures += 1
            trace.attempts.append({"stage": "verify", "hypothesis": candidate, "unparsed": error.lm_response})
            return None
        verdict: dict[str, Any] = {criterion: bool(judged[criterion]) for criterion in CRITERIA}
        verdict |= {"error": str(judged.error), "feedback": str(judged.feedback)}
        trace.attempts.append({"stage": "verify", "hypothesis": candidate, **verdict})
        return verdict

    def _refine(self, trace: _Trace, record: str, candidate: str, feedback: str) -> str:
        return self._ask(
            trace, self.refine, "refine", output="refined", record=record, hypothesis=candidate, feedback=feedback
        )

    def _ask(self, trace: _Trace, predict: dspy.Predict, stage: str, output: str, **inputs: str) -> str:
        """A candidate from the generator or the refiner; "" when its answer could not be used."""
        try:
            candidate = one_line(str(predict(**inputs)[output]))
        except AdapterParseError as error:
            trace.parse_failures += 1
            trace.attempts.append({"stage": stage, "unparsed": error.lm_response})
            return ""
        trace.attempts.append({"stage": stage, "hypothesis": candidate})
        return candidate


def one_line(text: str) -> str:
    """A hypothesis as it is stored: one line, no longer than `MAX_HYPOTHESIS_LENGTH` characters."""
    return " ".join(text.split())[:MAX_HYPOTHESIS_LENGTH]
