import dspy
import pytest
from model_files import CONTENT, made_up

from prefine_dspy.errors import InputError
from prefine_dspy.lm import registry, resolve, storage
from prefine_dspy.lm.engine import LlamaCppEngine
from prefine_dspy.lm.resolve import MAX_TOKENS, identity


@pytest.fixture
def tiny_model(models, monkeypatch):
    """A made-up model in the registry and in the models folder."""
    model = made_up()
    monkeypatch.setitem(registry.MODELS, "tiny", model)
    monkeypatch.setattr(registry, "DEFAULT", "tiny")
    (models / model.file).write_bytes(CONTENT)
    return model


@pytest.mark.parametrize("name", ["local", "local:", "local:tiny"])
def test_a_local_model_by_name(tiny_model, models, name):
    lm = resolve(name)
    assert isinstance(lm.engine, LlamaCppEngine)
    assert lm.engine.path == models / "tiny.gguf"
    assert lm.engine.context == 512
    assert lm.supports_response_schema and lm.supports_function_calling
    assert (lm.kwargs["temperature"], lm.kwargs["max_tokens"]) == (0.0, MAX_TOKENS)


def test_a_local_model_by_path(tmp_path):
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF")
    assert resolve(f"local:{path}").engine.path == path


def test_options_go_to_the_engine_or_to_dspy(tiny_model):
    lm = resolve("local", context=128, slots=1, threads=1, max_tokens=7, temperature=0.5, cache=False)
    assert (lm.engine.context, lm.engine.slots, lm.engine.threads) == (128, 1, 1)
    assert (lm.kwargs["max_tokens"], lm.kwargs["temperature"], lm.cache) == (7, 0.5, False)


def test_a_model_is_loaded_once_for_the_same_settings(tiny_model):
    assert resolve("local").engine is resolve("local:tiny", max_tokens=5).engine
    assert resolve("local").engine is not resolve("local", context=64).engine


def test_the_model_string_names_weights_and_context_and_no_path(models):
    """It is all by which DSPy's cache tells two LMs apart."""
    path = models / "tiny.gguf"
    path.write_bytes(CONTENT)
    first = identity(path, 512)
    assert first.startswith("tiny@") and storage.sha256_of(path)[:16] in first and "ctx512" in first
    assert "/" not in first
    assert identity(path, 1024) != first
    path.write_bytes(CONTENT + b"!")
    assert identity(path, 512) != first


def test_the_lms_name_is_its_identity(tiny_model, models):
    assert resolve("local").model == f"llamacpp/{identity(models / 'tiny.gguf', 512)}"


def test_a_file_with_a_wrong_hash_is_not_used(tiny_model, models):
    (models / "tiny.gguf").write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(storage.WrongHash):
        resolve("local")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "try 'local' or"),
        ("local:gpt5", "no local model is called 'gpt5'; known:"),
        ("local:/nowhere/x.gguf", "no model file /nowhere/x.gguf"),
        (f"local:{__file__}", "is no GGUF file"),
        ("local:smollm2-135m", "fetch it with: python -m prefine_dspy.lm pull smollm2-135m"),
        ("gpt-5-mini", "'provider/model' like 'openai/gpt-5-mini'"),
        ("vllm:", "name the model after '#': vllm:http://127.0.0.1:8000#<model>"),
    ],
)
def test_names_that_cannot_be_used_say_what_to_type(models, name, says):
    with pytest.raises(InputError, match=says) as caught:
        resolve(name)
    assert "\n" not in str(caught.value)


def test_hosted_models_are_deterministic_by_default():
    lm = resolve("openai/gpt-4o-mini")
    assert isinstance(lm, dspy.LM) and lm.model == "openai/gpt-4o-mini"
    assert (lm.kwargs["temperature"], lm.kwargs["max_tokens"]) == (0.0, MAX_TOKENS)


def test_reasoning_models_keep_dspys_defaults():
    lm = resolve("openai/gpt-5-mini")
    assert lm.kwargs.get("temperature") in (None, 1.0)
    assert lm.kwargs.get("max_tokens") != MAX_TOKENS
    assert resolve("openai/gpt-5-mini", max_tokens=20_000).model == "openai/gpt-5-mini"
