"""An LM that knows the answers of mini_nlsi, but calls right only when it was shown how."""

from __future__ import annotations

import math
from typing import Any

import dspy
from dspy import lm15

from eval.data.labels.nlsi import gold_tagged
from eval.data.nlsi import SPLITS, load_nlsi
from prefine_dspy.rendering import query_text
from prefine_dspy.tagging.answers import answer_of
from prefine_dspy.types import value_text
from tests.scripted_lm import AsyncScript, Script, prompt_of

SURE, UNSURE = 0.99, 0.6


class KnowingNlsi(Script):
    """Answers by the step that asks, which it tells by the answer's schema.

    The interpreter's first answer is wrong, and unsure, where instructions follow from each other (MultiHop,
    MultiDomain); with tags it is right.

    Args:
        demonstrated: the interpreter's answers are wrong unless the prompt holds demonstrations.
        logprobs: whether it gives any.
    """

    def __init__(self, demonstrated: bool = True, logprobs: bool = True) -> None:
        super().__init__(self.answer, logprobs=logprobs)
        self.demonstrated = demonstrated
        self.by_query: dict[str, Any] = {}
        self.tags: dict[str, Any] = {}
        for split in SPLITS:
            data = load_nlsi("mini_nlsi", split)
            for instance in data.instances:
                self.by_query[query_text(instance.request.query)] = instance
                for text in instance.request.texts():
                    if (tagged := gold_tagged(text, data.tags, data.tools)) is not None:
                        self.tags[text] = answer_of(tagged)

    @property
    def lm(self) -> dspy.LM:
        return dspy.LM(
            "scripted/nlsi",
            engine=self,
            async_engine=AsyncScript(self),
            temperature=0.0,
            max_tokens=300,
            cache=True,
            num_retries=0,
        )

    def answer(self, request: lm15.Request) -> Any:
        fields = self._fields(request)
        text = request.messages[-1].text or ""
        if "tags" in fields:
            return {"tags": self.tags[text.partition("instruction: ")[2].strip()]}
        if not {"calls", "numbers"} & fields:
            return dict.fromkeys(fields, "Write the calls.") or "Write the calls."  # what optimizers ask for
        instance = self._instance(text)
        if "numbers" in fields:
            applicable = {one.id for one in instance.request.applicable}
            return {"numbers": [at for at, one in enumerate(instance.request.profile, 1) if one.id in applicable]}
        calls = [
            {"function": call.name, "arguments": {name: value_text(value) for name, value in call.arguments.items()}}
            for call in instance.gold_calls()
        ]
        if not self._right(request, text, instance):
            calls = [{"function": calls[0]["function"], "arguments": {}}]
        return {"tagged": list(instance.request.texts()), "calls": calls} if "tagged" in fields else {"calls": calls}

    def complete(self, request: lm15.Request) -> lm15.Response:
        response = super().complete(request)
        if not self.logprobs or request.config.logprobs is None:
            return lm15.Response(
                id=None,
                model=response.model,
                message=response.message,
                finish_reason="stop",
                usage=response.usage,
            )
        text = request.messages[-1].text or ""
        probability = SURE
        if "calls" in self._fields(request) and self._hard(self._instance(text)):
            probability = UNSURE
        scored = (lm15.TokenLogprob(token=response.message.text or "", logprob=math.log(probability)),)
        return lm15.Response(
            id=None,
            model=response.model,
            message=response.message,
            finish_reason="stop",
            usage=response.usage,
            logprobs=scored,
        )

    def _right(self, request: lm15.Request, text: str, instance: Any) -> bool:
        shown = not self.demonstrated or len(request.messages) > 2
        return shown and ("tagged:" in text or "tagged" in self._fields(request) or not self._hard(instance))

    @staticmethod
    def _hard(instance: Any) -> bool:
        return instance.reasoning_type in ("MultiHop", "MultiDomain")

    @staticmethod
    def _fields(request: lm15.Request) -> set[str]:
        form = request.config.response_format or {}
        return set(form.get("schema", {}).get("properties", {}))

    def _instance(self, text: str) -> Any:
        query = text[text.index("User: ", text.rindex("query:")) :]
        return self.by_query[query.strip()]

    @property
    def prompts(self) -> list[str]:
        return [prompt_of(request) for request in self.requests]
