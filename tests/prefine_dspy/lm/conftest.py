import pytest

from prefine_dspy.lm import resolve


@pytest.fixture
def models(tmp_path, monkeypatch):
    """An empty models folder."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("PREFINE_MODELS", str(folder))
    return folder


@pytest.fixture(scope="session")
def tiny():
    """The small local LM, loaded once, on one thread (so that a busy machine does not slow it much)."""
    lm = resolve("local:smollm2-135m", context=1024, slots=2, threads=1, cache=False, max_tokens=60)
    yield lm
    lm.engine.close()
