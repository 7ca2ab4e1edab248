"""A llama.cpp server whose tokens are letters and whose probabilities are given, and an LM on it."""

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import dspy

from prefine_dspy.lm import request_body
from prefine_dspy.lm.engine import AsyncLlamaCppEngine, LlamaCppEngine
from prefine_dspy.lm.values import ValueCache, ask


class LetterServer:
    """Stands for the loaded server core.

    Args:
        weights: from the prompt up to a value's place, the probability of each value there; what is left of 1 goes to
            a value that nobody asks about.
        answer: from a chat's messages, the text of the answer.
        listed: letters that are listed at each question at the most.
        ends: how the probability of a value's end is shared among the tokens that begin with a quotation mark.
    """

    def __init__(self, weights, answer=None, listed=None, ends=(('"}', 0.5), ('",', 0.5))):
        self.weights = weights
        self.answer = answer
        self.listed = listed
        self.ends = ends
        self.prompts = []
        self.chats = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.listening_address = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()

    def handle_completions(self, body):
        assert body["n_predict"] == 1 and body["cache_prompt"] and not body["post_sampling_probs"]
        prompt = "".join(map(chr, body["prompt"]))
        place = prompt.rindex('":"') + 3
        listed = self._next(prompt[:place], prompt[place:])
        before = self.prompts[-1] if self.prompts else ""
        same = next(
            (at for at, (a, b) in enumerate(zip(before, prompt, strict=False)) if a != b), min(len(before), len(prompt))
        )
        self.prompts.append(prompt)
        top = [_listed(text, p) for text, p in sorted(listed.items(), key=lambda one: -one[1]) if p > 0]
        top = top[: min(body["n_probs"], self.listed or len(top))]
        content = [{"token": "x", "top_logprobs": top}]
        return {
            "choices": [{"text": "x", "logprobs": {"content": content}}],
            "timings": {"cache_n": same, "prompt_n": len(prompt) - same},
        }

    def _next(self, prompt, value):
        weights = {json.dumps(one, ensure_ascii=False)[1:-1]: p for one, p in self.weights(prompt).items()}
        weights["~"] = weights.get("~", 0.0) + max(0.0, 1.0 - sum(weights.values()))
        alive = {text: p for text, p in weights.items() if text.startswith(value)}
        total = sum(alive.values()) or 1.0
        found = {}
        for text, p in alive.items():
            if text == value:
                for end, share in self.ends:
                    found[end] = found.get(end, 0.0) + share * p / total
            else:
                letter = text[len(value)]
                found[letter] = found.get(letter, 0.0) + p / total
        return found

    def handle_chat_completions(self, body):
        self.chats.append(body["messages"])
        content = self.answer(body["messages"])
        content = content if isinstance(content, str) else json.dumps(content)
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        }


def _listed(text, probability):
    # tokens of several letters have numbers of their own
    number = ord(text) if len(text) == 1 else 1_000_000 + sum(map(ord, text))
    return {"id": number, "token": text, "bytes": list(text.encode()), "logprob": math.log(probability)}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802 - the standard library's name
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            answer = {"tokens": list(map(ord, body["content"]))}
        else:
            answer = {"prompt": "".join(f"<{one['role']}>{one['content']}" for one in body["messages"]) + "<assistant>"}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


def letter_lm(monkeypatch, weights, answer=None, **options):
    """(the LM, its server), with an empty cache of distributions; the caller closes the server."""
    server = LetterServer(weights, answer, **options)
    engine = LlamaCppEngine("/somewhere/letters.gguf", context=128, slots=1)
    monkeypatch.setattr(engine, "_load", lambda: server)
    monkeypatch.setattr(request_body, "compact_grammar", lambda schema: "root ::= x")
    monkeypatch.setattr(ask, "_SHARED", ValueCache())
    lm = dspy.LM(
        "llamacpp/letters",
        engine=engine,
        async_engine=AsyncLlamaCppEngine(engine),
        temperature=0.0,
        max_tokens=100,
        cache=False,
        num_retries=0,
    )
    return lm, server
