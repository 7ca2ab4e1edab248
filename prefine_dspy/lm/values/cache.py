"""Distributions that were measured before, by a hash of everything they depend on.

A distribution depends on a hypothesis and an argument, not on a user; so those of a program's own hypotheses, and those
given nothing, are free after the first time. Of a question only its hash is kept: no text of any user's can be read
back. On disk the same answers are kept by DSPy's cache, where the LM has it switched on.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict

from prefine_dspy.lm.values.distribution import ValueDistribution
from prefine_dspy.lm.values.question import ValueQuestion

MAX_ENTRIES = 100_000


class ValueCache:
    """The last distributions; for threads.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int = MAX_ENTRIES) -> None:
        self.most = most
        self._found: OrderedDict[str, ValueDistribution] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, model: str, samples: int, question: ValueQuestion) -> ValueDistribution | None:
        """A distribution measured before with the same LM."""
        key = _key(model, samples, question)
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, model: str, samples: int, question: ValueQuestion, distribution: ValueDistribution) -> None:
        """Keep a distribution."""
        with self._lock:
            self._found[_key(model, samples, question)] = distribution
            while len(self._found) > self.most:
                self._found.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()


def _key(model: str, samples: int, question: ValueQuestion) -> str:
    parts = [
        model,
        samples,
        question.instructions,
        question.text,
        question.given,
        question.field,
        question.values,
        question.open,
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()
