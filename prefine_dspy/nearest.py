"""Demonstrations near to a request: the saved ones that share its rarest words, put last, the nearest at the very end.

A small LM copies what it was shown last. With many labelled demonstrations, those about the same functions help most,
but a prompt that differs from its beginning on is read anew for every request. So the first ones stay where they are, a
prefix that every request shares and an LM keeps in its cache, and only what follows them is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import dspy

from prefine_dspy.errors import InputError, MissingExtra


@dataclass(frozen=True)
class Nearest:
    """Which of a predictor's demonstrations a request is shown.

    Args:
        k: how many are chosen for each request (BM25 over their input fields); 0 shows all of them to every request.
        fixed: the first of the saved ones, shown to every request before the chosen, which come from the others.

    Raises:
        InputError: a number that is none, or negative; `fixed` without `k`.
        MissingExtra: bm25s is not installed, and `k` is not 0.
    """

    k: int = 0
    fixed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("nearest", self.k), ("fixed", self.fixed)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"{name} must be a whole number of demonstrations, e.g. {name}=4, not {value!r}")
        if self.fixed and not self.k:
            raise InputError(f"fixed={self.fixed} is for nearest: add nearest=4, or leave it out")
        if self.k:
            _bm25s()

    def demonstrations(self, predictor: dspy.Predict, inputs: Mapping[str, Any]) -> list[Any]:
        """Those to be shown, in order, none twice; the request itself is not among the chosen.

        Args:
            predictor: whose demonstrations they are.
            inputs: its input fields for this request, as demonstrations show them.
        """
        if not self.k:
            return list(predictor.demos)
        fields = tuple(predictor.signature.input_fields)
        fixed, pool = predictor.demos[: self.fixed], predictor.demos[self.fixed :]
        asked, texts = _text(inputs, fields), tuple(_text(demo, fields) for demo in pool)
        shown = {asked, *(_text(demo, fields) for demo in fixed)}
        chosen: list[Any] = []
        for at in _nearest_first(texts, asked):
            if len(chosen) == self.k:
                break
            if texts[at] not in shown:
                shown.add(texts[at])
                chosen.append(pool[at])
        return [*fixed, *reversed(chosen)]


def _text(example: Any, fields: Sequence[str]) -> str:
    return "\n".join(str(example[name]) for name in fields if name in example)


def _nearest_first(texts: tuple[str, ...], asked: str) -> list[int]:
    """Places of the texts; of those that share as much, the earlier first."""
    index = _index(texts)
    words = _words((asked,))[0]
    scores = index.get_scores(words) if index is not None and words else [0.0] * len(texts)
    return sorted(range(len(texts)), key=lambda at: -float(scores[at]))


@lru_cache(maxsize=16)
def _index(texts: tuple[str, ...]) -> Any:
    """Of one pool; None where it holds no word."""
    words = _words(texts)
    if not any(words):
        return None
    index = _bm25s().BM25()
    index.index(words, show_progress=False)
    return index


def _words(texts: tuple[str, ...]) -> Any:
    return _bm25s().tokenize(list(texts), stopwords="en", show_progress=False, return_ids=False)


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError:
        raise MissingExtra("demonstrations near to a request (nearest)", "rag") from None
    return bm25s
