"""Embedding models by name."""

from __future__ import annotations

import sys

import dspy
import numpy as np
import pytest

from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.lm import embedding
from prefine_dspy.lm.embedding import LOCAL_DIMENSIONS, resolve_embedder


def test_the_local_model_needs_no_network(monkeypatch):
    pytest.importorskip("wordllama")
    monkeypatch.setattr("socket.socket.connect", lambda *a: pytest.fail("it went to the network"))
    embed = resolve_embedder("local")
    rows = np.asarray(embed(["Thai food in Porto", "A Thai restaurant", "tax return of a company"]))
    assert rows.shape == (3, LOCAL_DIMENSIONS)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    embedding._wordllama.cache_clear()
    with pytest.raises(MissingExtra, match="rag"):
        resolve_embedder("local")
    embedding._wordllama.cache_clear()


def test_hosted_models_go_by_their_name():
    embed = resolve_embedder("openai/text-embedding-3-small")
    assert isinstance(embed, dspy.Embedder)
    assert embed.model == "openai/text-embedding-3-small" and embed.caching is False


@pytest.mark.parametrize("name", ["", "maxilm"])
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="provider/model"):
        resolve_embedder(name)
