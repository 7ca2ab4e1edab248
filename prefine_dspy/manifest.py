"""manifest.json: what a compiled program is, how it was made, and how good it is."""

from __future__ import annotations

from typing import Any, Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from prefine_dspy.fingerprint import SignatureShape

FORMAT_VERSION = 1
# LM settings that change its answers and hold no address or secret: only these are written down.
_LM_SETTINGS = (
    *("temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "seed", "n", "reasoning_effort"),
    *("frequency_penalty", "presence_penalty"),
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProgramPart(_Part):
    """Which program: its short name ("prefine"), class ("prefine_dspy.prefine:PRefine") and constructor's options."""

    name: str
    class_path: str
    options: dict[str, Any] = Field(default_factory=dict)


class OptimizerPart(_Part):
    """How it was compiled.

    Args:
        name: "labeled", "bootstrap-rs" ...
        parts: what was compiled: "memory", "caller".
        arguments: of the optimizer, plain values.
        metric: the metrics' names by part.
        started_from: the name of the compiled program that this one began with; empty for an uncompiled one.
    """

    name: str
    parts: tuple[str, ...] = ()
    arguments: dict[str, Any] = Field(default_factory=dict)
    seed: int = 0
    metric: dict[str, str] = Field(default_factory=dict)
    started_from: str = ""


class SplitPart(_Part):
    """One split: how many histories (NLSI: dialogues) and queries, and a sha256 over their ids."""

    histories: int
    queries: int
    identity: str


class DataPart(_Part):
    """The data: its name, sha256 over its content, its splits ("train", "dev", "test"), and the licence of the texts
    that demonstrations show. Without one the key is not written, so that readers that do not know it stay content."""

    name: str
    identity: str
    splits: dict[str, SplitPart] = Field(default_factory=dict)
    licence: str = ""

    @model_serializer(mode="wrap")
    def _without_empty_licence(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        return document if self.licence else {key: value for key, value in document.items() if key != "licence"}


class LMPart(_Part):
    """An LM by the model string that identifies its answers and its sampling settings; no address, key or path."""

    model: str
    settings: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, lm: dspy.BaseLM) -> LMPart:
        """The identity of an LM; what could hold a secret or a path is not read."""
        settings = {
            key: lm.kwargs[key]
            for key in _LM_SETTINGS
            if isinstance(lm.kwargs.get(key), str | int | float | bool) and lm.kwargs[key] is not None
        }
        provider, _, name = lm.model.partition("/")
        # a server may call its model by the path of its file, or be addressed by its URL
        private = name.startswith(("/", "~", "\\", ".")) or "://" in lm.model or ":\\" in name
        model = f"{provider}/{name.replace(chr(92), '/').rsplit('/', 1)[-1]}" if private and name else lm.model
        return cls(model=model, settings=settings)


class Figure(_Part):
    """A figure between 0 and 1 with its 95 % interval over n queries; `p` only for differences."""

    value: float
    low: float
    high: float
    n: int
    p: float | None = None


class Scores(_Part):
    """Figures by name ("o_f1", "imp_f1", "exp_f1") before and after compiling, and the paired difference."""

    before: dict[str, Figure] = Field(default_factory=dict)
    after: dict[str, Figure] = Field(default_factory=dict)
    difference: dict[str, Figure] = Field(default_factory=dict)


class CostPart(_Part):
    """What compiling took, the scores included; `seconds` is how long the LMs took for their answers."""

    lm_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


class Manifest(_Part):
    """The whole file.

    Args:
        format_version: readers of a later version still read this one.
        program, optimizer, data, lms, scores, cost: see there. `lms` is by role: "lm", "memory_lm", "teacher_lm".
        signatures: by predictor, what it was compiled for; filled in when the program is saved.
        versions: of the packages that matter, by name.
        commit: of the checkout that compiled it; None outside of one.
        stopped: why compiling ended early with the best program so far; empty when it did not.
    """

    format_version: Literal[1] = 1
    program: ProgramPart
    signatures: dict[str, SignatureShape] = Field(default_factory=dict)
    optimizer: OptimizerPart
    data: DataPart | None = None
    lms: dict[str, LMPart] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    commit: str | None = None
    scores: dict[str, Scores] = Field(default_factory=dict)
    cost: CostPart = CostPart()
    stopped: str = ""
