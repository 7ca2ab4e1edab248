"""LM servers on this machine or network, declared to DSPy so that they keep schemas and tools.

DSPy reads an LM's abilities from a table of hosted models; a local server is not in it and would get neither.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

import dspy
from dspy import lm15

from prefine_dspy.errors import InputError

DEFAULT_URLS = {
    "llama-server": "http://127.0.0.1:8080",
    "vllm": "http://127.0.0.1:8000",
    "ollama": "http://127.0.0.1:11434",
}


def is_server(name: str) -> bool:
    """Whether the name is of the form "<kind>:[URL]#model" for a known kind of server."""
    return name.partition(":")[0] in DEFAULT_URLS and ":" in name


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0  # .port may refuse
    except ValueError:
        return False


def server_lm(name: str, **options: Any) -> dspy.LM:
    """The LM behind a local HTTP server that speaks OpenAI's chat protocol.

    Args:
        name: "llama-server:http://127.0.0.1:8080#model", "vllm:#Qwen/Qwen3-8B", "ollama:#qwen3:8b"; an empty URL is
            the kind's usual one.
        options: for `dspy.LM`.

    Raises:
        InputError: no model is named.
    """
    kind, _, rest = name.partition(":")
    url, _, model = rest.partition("#")
    if not model:
        raise InputError(f"name the model after '#': {kind}:{url or DEFAULT_URLS[kind]}#<model>")
    base = (url or DEFAULT_URLS[kind]).rstrip("/")
    if not _is_address(base):
        raise InputError(f"{url!r} is no address: write {kind}:{DEFAULT_URLS[kind]}#{model}")
    base = base if base.endswith("/v1") else f"{base}/v1"
    # The address is part of the provider's id: two servers must not share DSPy's cache.
    provider = f"{kind}-{hashlib.sha256(base.encode()).hexdigest()[:8]}"
    definition = lm15.ProviderDefinition.chat(
        lm15.AccessPolicy(provider=provider, base_url=base),
        compat=lm15.OpenAIChatCompat.preset("vllm"),
        placeholder_key="none",
    )
    supports = lm15.ModelSupport(function_calling=True, response_schema=True)
    lm15.register_provider(definition, supports=supports)
    return dspy.LM(f"{provider}/{model}", **options)
