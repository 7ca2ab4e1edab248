"""Exact probabilities from llama.cpp inside the process: an engine that answers requests for probabilities only.

    prompt tokens | the answer up to the value | tokens of the values
    cached            cached for the next            one question where values part

The questions are single tokens, so a question costs the part of its prompt that the server has not cached.
"""

from __future__ import annotations

import json
import math
import urllib.request
from collections.abc import Iterable
from typing import Any

from dspy import lm15

from prefine_dspy.lm.engine import LlamaCppEngine, raise_on_error
from prefine_dspy.lm.request_body import chat_body, refused
from prefine_dspy.lm.values.question import OPEN, written
from prefine_dspy.lm.values.trie import END, NextTokens, Path, measure

LISTED = 200
"""Tokens listed at each question; those beyond are known to have less than the last of them."""
_TIMEOUT = 60.0  # seconds; see prefine_dspy.lm.loopback


class LlamaCppProbabilities:
    """Args:
    engine: the loaded model, shared with the LM that answers.
    paths: the tokens of values that are known already; added to.
    """

    supports_function_calling = False
    supports_response_schema = True
    supports_reasoning = False
    supported_params = frozenset({"response_format", "max_tokens"})

    def __init__(self, engine: LlamaCppEngine, paths: dict[tuple[str, str], Path] | None = None) -> None:
        self.engine = engine
        self._paths = {} if paths is None else paths

    def __deepcopy__(self, memo: dict[int, Any]) -> LlamaCppProbabilities:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Measure the one string property of the answer that has a choice.

        The response holds the distribution (`response.probabilities`); its usage counts as cached what the server had
        in its prompt cache, and as output the questions asked.

        Raises:
            lm15.UnsupportedFeatureError: the schema is not one property with a choice, after others without.
            lm15.ContextLengthError: the prompt does not fit.
        """
        prefill, field, values, is_open = _asked(request)
        head = self._tokens(self._head(request), special=True)
        tail = self._tokens(prefill)
        paths = {value: self._path(prefill, tail, value) for value in values}
        counts = _Counts(len(head) + len(tail))

        def ask(path: Path) -> NextTokens:
            return self._next([*head, *tail, *path], counts, len(path))

        found = measure(paths, ask, everywhere=is_open)
        total = math.fsum(found.mass.values())
        distribution = {value: found.mass[value] / total for value in values}
        best = max(values, key=distribution.__getitem__)
        part = lm15.DataPart(
            value={field: best}, probabilities={field: distribution}, method="candidate_sequence_likelihood"
        )
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant([part]),
            finish_reason="stop",
            usage=counts.usage(),
            provider_data={"missing_mass": found.missing, "coverage": found.coverage},
        )

    # -- the server

    def _next(self, tokens: list[int], counts: _Counts, depth: int) -> NextTokens:
        body = {"prompt": tokens, "n_predict": 1, "n_probs": LISTED, "cache_prompt": True, "post_sampling_probs": False}
        try:
            answer = self.engine.server().handle_completions(body)
        except (ValueError, RuntimeError) as error:
            raise lm15.InvalidRequestError(f"llama.cpp refused the request: {error}") from error
        if isinstance(answer, bytes | str):
            answer = json.loads(answer)
        raise_on_error(answer)
        counts.add(answer, depth)
        return _next_tokens(answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"])

    def _path(self, prefill: str, tail: list[int], value: str) -> Path:
        """The tokens of a value after the prefill.

        Where the closing quotation mark does not melt into the value's last token, it counts with everything else that
        begins with one: an LM ends a value with `",` or `"}` just as well.
        """
        known = self._paths.get((prefill, value))
        if known is not None:
            return known
        inside = written(value)[1:-1]
        bare, closed = self._tokens(prefill + inside), self._tokens(prefill + inside + '"}')
        start = _common(tail, closed)
        if start < len(tail):
            # the value's first letters melt into the prefill: the LM reads it in pieces that it would not write
            path = (*self._tokens(inside), END)
        elif closed[: len(bare)] == bare:
            path = (*bare[start:], END)
        else:
            path = tuple(closed[start:])
        self._paths[prefill, value] = path
        return path

    def _head(self, request: lm15.Request) -> str:
        """The prompt in the model's chat template, up to where the assistant begins."""
        plain = lm15.Request(model=request.model, messages=request.messages, system=request.system)
        return str(self._post("/apply-template", {"messages": chat_body(plain)["messages"]})["prompt"])

    def _tokens(self, text: str, special: bool = False) -> list[int]:
        body = {"content": text, "add_special": special, "parse_special": special}
        return [int(token) for token in self._post("/tokenize", body)["tokens"]]

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.engine.server().listening_address}{path}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.engine.key}"},
        )
        # no proxy: see prefine_dspy.lm.loopback
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=_TIMEOUT) as answer:
            return dict(json.load(answer))


class _Counts:
    """What the questions of one distribution took, in tokens."""

    def __init__(self, prompt: int) -> None:
        self.prompt = prompt
        self.questions = 0
        self.evaluated = 0
        self.deeper = 0

    def add(self, answer: dict[str, Any], depth: int) -> None:
        timings = answer.get("timings") or {}
        self.questions += 1
        self.deeper += depth
        self.evaluated += int(timings.get("prompt_n", 0))

    def usage(self) -> lm15.Usage:
        """The prompt counts once, though every question sends it: only what the cache lacks is read."""
        if not self.questions:
            return lm15.Usage(input_tokens=0, output_tokens=0, total_tokens=0, cache_read_tokens=0)
        sent = max(self.prompt + self.deeper, self.evaluated)
        return lm15.Usage(
            input_tokens=sent,
            output_tokens=self.questions,
            total_tokens=sent + self.questions,
            cache_read_tokens=sent - self.evaluated,
        )


def _asked(request: lm15.Request) -> tuple[str, str, tuple[str, ...], bool]:
    """(the answer up to the value, the property's name, its values, whether they are some of many)."""
    form = request.config.response_format or {}
    properties = dict((form.get("schema") or {}).get("properties") or {})
    if not properties or any(not one.get("enum") for one in properties.values()):
        raise refused("probabilities of anything but strings with an enum")
    *given, (field, asked) = properties.items()
    if any(len(one["enum"]) > 1 for _, one in given):
        raise refused("probabilities of more than one property")
    before = "".join(f"{json.dumps(name)}:{written(one['enum'][0])}," for name, one in given)
    return f"{{{before}{json.dumps(field)}:" + '"', field, tuple(asked["enum"]), bool(asked.get(OPEN))


def _next_tokens(listed: Iterable[dict[str, Any]]) -> NextTokens:
    found: dict[int, float] = {}
    ends, total, least = 0.0, 0.0, 1.0
    for one in listed:
        probability = math.exp(min(0.0, float(one["logprob"])))
        total += probability
        least = min(least, probability)
        found[int(one["id"])] = probability
        if bytes(one.get("bytes") or ()).startswith(b'"'):
            ends += probability
    return NextTokens({**found, END: ends}, max(0.0, 1.0 - total), least)


def _common(left: list[int], right: list[int]) -> int:
    """How many tokens both begin with."""
    pairs = zip(left, right, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
