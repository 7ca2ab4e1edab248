"""An LM that gives prepared answers at once and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from typing import Any

import dspy
from dspy import lm15

Answer = str | dict[str, Any] | Exception


class Script:
    """An engine for `dspy.LM`.

    Args:
        answers: given in this order, or a function of the request. A dict is sent as JSON, an exception is raised.
        schema: whether it says that it can be held to a schema.
        tools: whether it says that it can call tools.
        logprobs: whether its answers carry log-probabilities.
    """

    supports_reasoning = False

    def __init__(
        self,
        answers: Iterable[Answer] | Callable[[lm15.Request], Answer],
        schema: bool = True,
        tools: bool = True,
        logprobs: bool = False,
    ) -> None:
        self._answer = answers if callable(answers) else _one_by_one(answers)
        self._lock = threading.Lock()
        self.supports_response_schema = schema
        self.supports_function_calling = tools
        self.supported_params = frozenset(
            "temperature max_tokens response_format tools tool_choice logprobs top_logprobs".split()
        )
        self.logprobs = logprobs
        self.requests: list[lm15.Request] = []

    def __deepcopy__(self, memo: Any) -> Script:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        with self._lock:
            self.requests.append(request)
            answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer, separators=(",", ":"))
        scored = tuple(lm15.TokenLogprob(token=token, logprob=-0.5) for token in text.split())
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant([lm15.TextPart(text)]),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=10, output_tokens=2, total_tokens=12),
            logprobs=scored if self.logprobs else None,
        )

    @property
    def stages(self) -> list[str]:
        """What was asked for, call by call: generate, verify, refine, call, or other."""
        return [stage_of(request) for request in self.requests]


class AsyncScript:
    """The async side of a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.supports_reasoning = script.supports_reasoning
        self.supports_response_schema = script.supports_response_schema
        self.supports_function_calling = script.supports_function_calling
        self.supported_params = script.supported_params

    def __deepcopy__(self, memo: Any) -> AsyncScript:
        return self

    async def complete(self, request: lm15.Request) -> lm15.Response:
        return self.script.complete(request)


def lm_of(script: Script) -> dspy.LM:
    """The LM; never cached, never retried."""
    return dspy.LM(
        "scripted/script",
        engine=script,
        async_engine=AsyncScript(script),
        temperature=0.0,
        max_tokens=100,
        cache=False,
        num_retries=0,
    )


def stage_of(request: lm15.Request) -> str:
    """Told by the answer's schema, not by the wording of a prompt."""
    form = request.config.response_format or {}
    fields = form.get("schema", {}).get("properties", {})
    by_field = {"hypothesis": "generate", "evidence_support": "verify", "refined": "refine", "call": "call"}
    return next((stage for field, stage in by_field.items() if field in fields), "other")


def prompt_of(request: lm15.Request) -> str:
    """Everything that the LM reads."""
    return "\n".join([str(request.system or ""), *(message.text or "" for message in request.messages)])


def verdict(ok: bool = True, feedback: str = "say it in general words") -> dict[str, Any]:
    """A verifier's answer: all four criteria met, or one of them not."""
    return {
        "evidence_support": True,
        "abstraction_quality": ok,
        "actionability": True,
        "temporal_consistency": True,
        "error": "none" if ok else "over-specific",
        "feedback": feedback,
    }


def _one_by_one(answers: Iterable[Answer]) -> Callable[[lm15.Request], Answer]:
    left = iter(list(answers))

    def answer(request: lm15.Request) -> Answer:
        try:
            return next(left)
        except StopIteration:
            raise AssertionError(f"the script has no answer left for: {prompt_of(request)[:200]}") from None

    return answer
