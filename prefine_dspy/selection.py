"""Which of a user's standing instructions apply to a request (NLSI's first subtask).

A selector is called with a request whose `profile` holds all instructions and returns a prediction with `selected`, the
ids of those that apply, in the profile's order. Rank selectors take a fixed number, as NLSI's retrieval baselines do;
the LM decides how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.lm.embedding import resolve_embedder
from prefine_dspy.parsing_values import clean_text
from prefine_dspy.rendering import query_text
from prefine_dspy.signatures import SelectInstructions
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.taps import Default
from prefine_dspy.tools import Catalogue

By = Literal["lm", "bm25", "embedding"]


class BM25Selector(dspy.Module):
    """The `k` instructions that share the rarest words with the dialogue.

    Args:
        k: at most so many; those that share no word are left out.
    """

    def __init__(self, k: int = 3) -> None:
        super().__init__()
        self.k = _positive(k)

    def forward(self, request: InstructedQuery, tools: Catalogue | None = None) -> dspy.Prediction:
        """Returns a prediction with `selected` (instruction ids) and `scores` (by id)."""
        try:
            import bm25s
        except ImportError:
            raise MissingExtra("the BM25 selector", "rag") from None
        texts = [one.text for one in request.profile]
        words = bm25s.tokenize(
            [*texts, query_text(request.query)], stopwords="en", show_progress=False, return_ids=False
        )
        if not texts or not any(words[:-1]) or not words[-1]:
            return _ranked(request.profile, [0.0] * len(texts), self.k)
        index = bm25s.BM25()
        index.index(words[:-1], show_progress=False)
        return _ranked(request.profile, [float(score) for score in index.get_scores(words[-1])], self.k)


class EmbeddingSelector(dspy.Module):
    """The `k` instructions nearest to the dialogue by cosine.

    Args:
        k: so many.
        embedder: see `prefine_dspy.lm.embedding.resolve_embedder`.
    """

    def __init__(self, k: int = 3, embedder: str = "local") -> None:
        super().__init__()
        self.k = _positive(k)
        self._embed = resolve_embedder(embedder)

    def forward(self, request: InstructedQuery, tools: Catalogue | None = None) -> dspy.Prediction:
        """See `BM25Selector.forward`."""
        if not request.profile:
            return _ranked((), [], self.k)
        rows = self._embed([*(one.text for one in request.profile), query_text(request.query)])
        asked = [float(x) for x in rows[-1]]
        scores = [_cosine([float(x) for x in row], asked) for row in rows[:-1]]
        return _ranked(request.profile, scores, self.k)


class LMSelector(dspy.Module):
    """The LM names the numbers of those that apply."""

    def __init__(self) -> None:
        super().__init__()
        self.select = dspy.Predict(SelectInstructions)

    def forward(self, request: InstructedQuery, tools: Catalogue | None = None) -> dspy.Prediction:
        """See `BM25Selector.forward`; also `raw` and `parse_failed`. Numbers that no instruction has are `problems`."""
        if not request.profile:
            return dspy.Prediction(selected=[], raw="", parse_failed=False, problems=[])
        lines = numbered_lines(request.profile)
        with dspy.context(adapter=CompactAdapter()):
            try:
                answer: Any = self.select(profile=lines, query=query_text(request.query)).numbers
            except AdapterParseError as error:
                return dspy.Prediction(selected=[], raw=error.lm_response or "", parse_failed=True, problems=[])
            except RecursionError:  # nested too deeply for a JSON reader
                return dspy.Prediction(selected=[], raw="", parse_failed=True, problems=[])
        numbers = {one for one in answer if isinstance(one, int)}
        known = range(1, len(request.profile) + 1)
        return dspy.Prediction(
            selected=[request.profile[number - 1].id for number in known if number in numbers],
            raw=str(answer),
            parse_failed=False,
            problems=[f"no instruction has the number {number}" for number in sorted(numbers) if number not in known],
        )


class SelectThenInterpret(dspy.Module):
    """NLSI's whole task: a selector, and `Default` over what it selected. Arguments: see `selector`."""

    def __init__(self, by: By = "lm", k: int = 3, embedder: str = "local") -> None:
        super().__init__()
        self.selector = selector(by, k, embedder)
        self.default = Default()

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `Default.forward`; with the selector's `selected`. The request's own applicable instructions are not
        looked at."""
        chosen = self.selector(request=request, tools=tools)
        prediction = self.default(request=with_selected(request, chosen.selected), tools=tools)
        prediction.selected = chosen.selected
        prediction.problems = [*chosen.problems, *prediction.problems]
        return prediction


def selector(by: By, k: int, embedder: str) -> dspy.Module:
    """The selector of that name; `k` and `embedder` are for those that rank.

    Raises:
        InputError: unknown name, or a `k` or `embedder` that is none.
    """
    _positive(k)
    if not isinstance(embedder, str):
        raise InputError(f"embedder must be local, or provider/model as LiteLLM knows it, not {embedder!r}")
    if by == "lm":
        return LMSelector()
    if by == "bm25":
        return BM25Selector(k)
    if by == "embedding":
        return EmbeddingSelector(k, embedder)
    raise InputError(f"by must be lm, bm25 or embedding, not {by!r}")


def numbered_lines(profile: Sequence[StandingInstruction]) -> str:
    """Instructions as `LMSelector` shows them: one a line, numbered from 1."""
    return clean_text("\n".join(f"{number}. {' '.join(one.text.split())}" for number, one in enumerate(profile, 1)))


def with_selected(request: InstructedQuery, selected: Sequence[str]) -> InstructedQuery:
    """The request with the selected instructions as the applicable ones."""
    wanted = set(selected)
    return request.model_copy(update={"applicable": tuple(one for one in request.profile if one.id in wanted)})


def _ranked(profile: Sequence[StandingInstruction], scores: Sequence[float], k: int) -> dspy.Prediction:
    """The best `k` with a positive score; of equal ones the earlier."""
    order = sorted(range(len(profile)), key=lambda at: -scores[at])[:k]
    chosen = {at for at in order if scores[at] > 0}
    return dspy.Prediction(
        selected=[one.id for at, one in enumerate(profile) if at in chosen],
        scores={one.id: round(score, 4) for one, score in zip(profile, scores, strict=True)},
        raw="",
        parse_failed=False,
        problems=[],
    )


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    norms = sum(x * x for x in a) ** 0.5 * sum(y * y for y in b) ** 0.5
    return dot / norms if norms else 0.0


def _positive(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k must be a whole number of at least 1, not {k!r}")
    return k
