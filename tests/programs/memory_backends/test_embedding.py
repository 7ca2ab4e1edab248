import pytest

from programs.memory_backends import embedding
from programs.memory_backends.account import Account
from programs.memory_backends.embedding import CountedEmbedding, EmbeddingModel


@pytest.fixture
def model(monkeypatch):
    """A model that tells what it was asked."""
    asked = []

    def vectors(texts):
        asked.extend(texts)
        return [[float(len(text)), 1.0] for text in texts]

    monkeypatch.setattr(embedding, "resolve_embedder", lambda name: vectors)
    made = EmbeddingModel("made/up")
    made.asked = asked
    return made


def test_a_text_is_embedded_once(model):
    assert model.vectors(["one", "three", "one"]) == [[3.0, 1.0], [5.0, 1.0], [3.0, 1.0]]
    assert model.vectors(["three", "four"]) == [[5.0, 1.0], [4.0, 1.0]]
    assert model.asked == ["one", "three", "four"]


def test_the_oldest_vectors_are_forgotten(model, monkeypatch):
    monkeypatch.setattr(embedding, "REMEMBERED", 1)
    model.vectors(["one"])
    model.vectors(["two"])
    model.vectors(["one"])
    assert model.asked == ["one", "two", "one"]


def test_dimensions_are_those_of_a_vector(model):
    assert model.dimensions == 2


def test_what_a_library_asks_is_counted_known_or_not_and_what_a_store_holds_is_not(model):
    account = Account(count=len)
    embed = CountedEmbedding(model, account)
    embed(["one", "three"])
    embed(["one"])
    embed.stored(["never counted"])
    assert (account.embedded_texts, account.embedding_tokens) == (3, 11)


def test_an_empty_text_has_a_vector(model):
    assert CountedEmbedding(model, Account())([""]) == [[1.0, 1.0]]


def test_an_error_is_kept(model, monkeypatch):
    def down(texts):
        raise OSError("gone")

    monkeypatch.setattr(model, "_model", down)
    account = Account()
    with pytest.raises(OSError, match="gone"):
        CountedEmbedding(model, account)(["one"])
    assert isinstance(account.error, OSError)


def test_what_is_no_text_is_refused_without_blame_for_the_model(model):
    account = Account()
    with pytest.raises(TypeError):
        CountedEmbedding(model, account)([5])
    assert account.error is None


def test_a_hosted_model_is_known_by_its_name(model):
    assert model.identity == "made/up"
