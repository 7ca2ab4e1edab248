"""An LM whose answers come in given tokens with given probabilities, for the tests of confidence."""

import math

import dspy
from dspy import lm15
from scripted_lm import AsyncScript, Script


class Tokens(Script):
    """Answers always with these tokens.

    Args:
        tokens: (text, probability, alternatives as a dictionary from text to probability).
    """

    def __init__(self, tokens):
        super().__init__(lambda request: "".join(text for text, *_ in tokens), logprobs=True)
        self.tokens = tokens

    def complete(self, request):
        response = super().complete(request)
        scored = tuple(_token(*token) for token in self.tokens)
        asked = request.config.logprobs is not None
        return lm15.Response(
            id=None,
            model=response.model,
            message=response.message,
            finish_reason="stop",
            usage=response.usage,
            logprobs=scored if asked else None,
        )

    def lm(self):
        return dspy.LM("scripted/tokens", engine=self, async_engine=AsyncScript(self), cache=False, num_retries=0)


def sure(text):
    """A token that nothing competes with."""
    return text, 1.0, {}


def _token(text, probability, alternatives):
    def scored(kind, text, probability, **more):
        return kind(token=text, logprob=math.log(probability), bytes=tuple(text.encode()), **more)

    top = tuple(scored(lm15.TopLogprob, one, p) for one, p in alternatives.items())
    return scored(lm15.TokenLogprob, text, probability, top=top)
