"""`resolve("local" | "local:<name>" | "local:/path/x.gguf" | "llama-server:URL#model" | "provider/model")`."""

from __future__ import annotations

import importlib.metadata
import os
import threading
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.exceptions import LMConfigurationError

from prefine_dspy.errors import InputError
from prefine_dspy.lm import registry, servers, storage
from prefine_dspy.lm.engine import AsyncLlamaCppEngine, LlamaCppEngine

MAX_TOKENS = 512
_loaded: dict[tuple[Any, ...], LlamaCppEngine] = {}
_lock = threading.Lock()


def resolve(name: str, **options: Any) -> dspy.LM:
    """A `dspy.LM` for a name.

    Args:
        name: "local" (the default model), "local:<name>" (see `python -m prefine_dspy.lm list`),
            "local:/path/model.gguf", "llama-server:http://127.0.0.1:8080#model" (also "vllm:" and "ollama:"; declared
            so that schemas and tools are sent), or any string that DSPy knows ("openai/gpt-5-mini").
        options: for a local model `context` (tokens a request), `slots`, `threads`; the rest goes to `dspy.LM`
            (temperature 0 and max_tokens 512 by default).

    Raises:
        InputError: unknown name, or the model's file is not on this machine.
    """
    # DSPy and LiteLLM would fetch a price table at the first use of any LM; the one they ship is enough
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    if not name:
        raise InputError("an LM needs a name: try 'local' or 'openai/gpt-5-mini'")
    if name == "local" or name.startswith("local:"):
        return _local(name.partition(":")[2] or registry.DEFAULT, options)
    if servers.is_server(name):
        return servers.server_lm(name, **(_deterministic() | options))
    if "/" not in name:
        raise InputError(
            f"{name!r} is no LM: give 'local', 'local:<name>', or 'provider/model' like 'openai/gpt-5-mini'"
        )
    try:
        return dspy.LM(name, **(_deterministic() | options))
    except LMConfigurationError:
        # Reasoning models refuse a temperature of 0 and a small limit on tokens; they get DSPy's own defaults.
        return dspy.LM(name, **options)


def _deterministic() -> dict[str, Any]:
    return {"temperature": 0.0, "max_tokens": MAX_TOKENS}


def _local(which: str, options: dict[str, Any]) -> dspy.LM:
    if which.endswith(".gguf") or "/" in which:
        path, context = Path(which).expanduser(), registry.MODELS[registry.DEFAULT].context
        if not path.is_file():
            raise InputError(f"there is no model file {which}")
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise InputError(f"{which} is no GGUF file: see python -m prefine_dspy.lm list")
    else:
        model = registry.find(which)
        path, context = storage.models_dir() / model.file, model.context
        if not path.is_file():
            raise InputError(
                f"the model {which} is not on this machine; fetch it with: python -m prefine_dspy.lm pull {which}"
            )
        storage.verify(path, model.sha256, model.size)
    context = options.pop("context", context)
    engine = _shared_engine(path, context, options.pop("slots", 2), options.pop("threads", None))
    return dspy.LM(
        f"llamacpp/{identity(path, context)}",
        engine=engine,
        async_engine=AsyncLlamaCppEngine(engine),
        **(_deterministic() | options),
    )


def identity(path: Path, context: int) -> str:
    """Names the weights, the context and the engine: DSPy's cache tells LMs apart by this string alone."""
    try:
        version = importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        version = "none"
    return f"{path.stem}@{storage.sha256_of(path)[:16]}-ctx{context}-xllamacpp{version}"


def _shared_engine(path: Path, context: int, slots: int, threads: int | None) -> LlamaCppEngine:
    """One loaded model a process for the same settings, however often it is resolved."""
    key = (str(path.resolve()), context, slots, threads)
    with _lock:
        if key not in _loaded:
            _loaded[key] = LlamaCppEngine(path, context=context, slots=slots, threads=threads)
        return _loaded[key]
