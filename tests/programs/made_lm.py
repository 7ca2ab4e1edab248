"""An LM that knows the answers of the mini data, but only tells the caller's when it was shown how."""

from __future__ import annotations

from typing import Any

import dspy
from dspy import lm15

from eval.data.labels.caller import explicit
from eval.data.load import catalogue_of, load_benchmark
from prefine_dspy.call_schema import UNSPECIFIED
from prefine_dspy.rendering import query_text
from tests.scripted_lm import Script, prompt_of, stage_of, verdict


class Knowing:
    """Args:
    demonstrated: the right call is only given when the prompt holds a demonstration and the memory is of use, which
        it is when the refiner was shown how to write it.
    reject_first: the verifier rejects what the generator wrote, so that the refiner is asked, too.
    """

    def __init__(self, demonstrated: bool = True, reject_first: bool = True) -> None:
        self.demonstrated = demonstrated
        self.reject_first = reject_first
        benchmark = load_benchmark("mini")
        self.calls = {}
        # one answer a query, whoever asks: that of those who want it cheap, as the memory will say
        for instance in sorted(benchmark.instances, key=lambda one: one.preference == "low_cost"):
            tool = catalogue_of(benchmark, instance).get(instance.gold[0].name)
            self.calls[query_text(instance.query)] = explicit(instance.gold[0], tool)
        self.script = Script(self.answer)

    @property
    def lm(self) -> dspy.LM:
        return dspy.LM(
            "scripted/knowing", engine=self.script, temperature=0.0, max_tokens=200, cache=True, num_retries=0
        )

    def answer(self, request: lm15.Request) -> Any:
        stage = stage_of(request)
        text = request.messages[-1].text or ""
        if stage == "generate":
            return {"hypothesis": "The user prefers things as they come."}
        if stage == "refine":
            shown = not self.demonstrated or len(request.messages) > 2
            return {"refined": f"The user prefers {'low-cost options' if shown else 'nice things'}."}
        if stage == "verify":
            return verdict(not (self.reject_first and "as they come" in text))
        if stage == "call":
            return {"call": self._call(request, text)}
        return "Write the call."

    def _call(self, request: lm15.Request, text: str) -> dict[str, Any]:
        query = text[text.index("User: ", text.rindex("query:")) :] if "query:" in text else text
        call = self.calls[query.strip()]
        useless = "memory: The user prefers nice things." in text
        if self.demonstrated and (useless or len(request.messages) < 3):
            return {**call, "arguments": dict.fromkeys(call["arguments"], UNSPECIFIED)}
        return call

    @property
    def prompts(self) -> list[str]:
        return [prompt_of(request) for request in self.script.requests]
