"""What a run is: everything that decides its results, so that two different runs never share a folder."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import dspy
from pydantic import BaseModel, ConfigDict, Field

from prefine_dspy.errors import InputError

SCHEMA_VERSION = 1
FIRST_TASK = "mpt"
"""The benchmark of runs that do not name theirs: they were written when there was no other."""
# LM settings that change its answers and hold no address or secret: only these are written down.
_LM_SETTINGS = (
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "top_p",
    "top_k",
    "seed",
    "stop",
    "n",
    "reasoning_effort",
    "frequency_penalty",
    "presence_penalty",
)


class LMConfig(BaseModel):
    """An LM as the run names it, the model string that identifies its answers, and its sampling settings."""

    model_config = ConfigDict(frozen=True)

    name: str
    model: str
    settings: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, name: str, lm: dspy.BaseLM) -> LMConfig:
        settings = {key: lm.kwargs[key] for key in _LM_SETTINGS if lm.kwargs.get(key) is not None}
        return cls(name=name, model=lm.model, settings=json.loads(json.dumps(settings, default=str)))


class ProgramConfig(BaseModel):
    """A program of the run.

    Args:
        label: as asked for, e.g. "prefine:record=full".
        name: its name in the registry of programs.
        options: what it was loaded with.
        fingerprint: sha256 over its prompts, demonstrations and predictors.
        files: by option that names a file (`tags`), a hash over its content: the name alone says nothing.
        memory: of a memory library, what is at work: its version, the embedding model, k; None for all others.
    """

    model_config = ConfigDict(frozen=True)

    label: str
    name: str
    options: dict[str, Any] = Field(default_factory=dict)
    fingerprint: str = ""
    files: dict[str, str] = Field(default_factory=dict)
    memory: dict[str, Any] | None = None


class RunConfig(BaseModel):
    """Everything that decides a run's results. A run is only resumed under the same one.

    Args:
        task: the benchmark (see `eval.tasks.kinds`).
        programs, lm, memory_lm: what is asked.
        user_lm, judge_lm: of episodes, where an LM plays the user or a judge; None elsewhere.
        data, data_identity: what was loaded, and a hash over its content.
        data_schema, query: of MPT; None elsewhere.
        split: of NLSI and of episodes; None elsewhere, and for all tasks.
        trials: of episodes, how often each task is played; None elsewhere.
        max_steps: of episodes, actions after which one is given up; None elsewhere, and for the environment's own.
        limit, seed: how instances were chosen.
        instances, instances_identity: how many, and a hash over their ids; of episodes, trials count one by one.
        memories: a hash over the configuration of the run whose memories are reused; None where all are built.
        place_names: of NLSI, a hash over the table of places that the reference scorer read, or "none" where it knew
            our own names only; None elsewhere.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: int = SCHEMA_VERSION
    task: str = FIRST_TASK
    programs: list[ProgramConfig]
    lm: LMConfig
    memory_lm: LMConfig
    user_lm: LMConfig | None = None
    judge_lm: LMConfig | None = None
    data: str
    data_identity: str
    data_schema: str | None = None
    query: str | None = None
    split: str | None = None
    trials: int | None = None
    max_steps: int | None = None
    limit: int | None
    seed: int
    instances: int
    instances_identity: str
    memories: str | None = None
    place_names: str | None = None
    dspy: str = Field(default_factory=lambda: dspy.__version__)


def fingerprint(program: dspy.Module, compiled_with: dict[str, Any] | None = None) -> str:
    """A short hash over what a program tells its LM: signatures, demonstrations, names of predictors.

    Args:
        program: as it is run.
        compiled_with: the options that a compiled program brings with it (`programs.compiled_options`): they decide
            how often and in what order its LM is asked, and are in no prompt.
    """
    state = program.dump_state(json_mode=True)
    for predictor in state.values():
        if isinstance(predictor, dict):
            predictor.pop("lm", None)  # never the LM: it is configured apart, and may hold a key
    if compiled_with:
        state = {"program": state, "options": compiled_with}
    return hashlib.sha256(json.dumps(state, sort_keys=True, default=str).encode("utf-8")).hexdigest()[:16]


def identity_of(ids: list[str]) -> str:
    """A short hash over the ids of the chosen instances, in order."""
    return hashlib.sha256("\n".join(ids).encode("utf-8", "replace")).hexdigest()[:16]


def provenance(module: str) -> dict[str, Any]:
    """Where a result comes from: commit, versions, command. Recorded, not compared.

    Args:
        module: the command's, e.g. "eval.run".
    """
    return {
        "commit": commit(),
        "command": shlex.join(["python", "-m", module, *sys.argv[1:]]),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "versions": {name: _version(name) for name in ("prefine-dspy", "dspy", "litellm", "xllamacpp", "dateparser")},
    }


def commit() -> str | None:
    """The checkout's commit, with "+changes" when files differ from it; None outside of a checkout."""
    here = Path(__file__).resolve().parent
    try:
        run = [["git", "-C", str(here), *words] for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])]
        head, changes = (
            subprocess.run(one, capture_output=True, text=True, encoding="utf-8", timeout=10) for one in run
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if head.returncode:
        return None
    return head.stdout.strip()[:12] + ("+changes" if changes.stdout.strip() else "")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def differences(before: dict[str, Any], now: dict[str, Any], prefix: str = "") -> list[str]:
    """One line for each key whose value is not the same: `seed: 1 -> 2`."""
    lines = []
    for key in sorted({*before, *now}):
        old, new = before.get(key), now.get(key)
        if old == new:
            continue
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            old, new = dict(enumerate(old)), dict(enumerate(new))
        if isinstance(old, dict) and isinstance(new, dict):
            lines += differences(
                {str(k): v for k, v in old.items()}, {str(k): v for k, v in new.items()}, f"{prefix}{key}."
            )
        else:
            lines.append(
                f"  {prefix}{key}: {json.dumps(old, ensure_ascii=False)} -> {json.dumps(new, ensure_ascii=False)}"
            )
    return lines


def check_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on under another configuration.

    Raises:
        InputError: they differ; the message has one line for each key.
    """
    if "task" in now:
        before = {"task": FIRST_TASK, **before}
    # older runs did not say whose names of places they knew: that cannot be compared
    if "place_names" in now:
        before = {"place_names": now["place_names"], **before}
    # nor did they say what was in their programs' files, or which library was at work: that cannot be compared
    there, here = before.get("programs", []), now.get("programs", [])
    if "programs" in now and len(there) == len(here):
        unsaid = [
            {"files": new.get("files", {}), "memory": new.get("memory"), **old}
            for old, new in zip(there, here, strict=True)
        ]
        before = {**before, "programs": unsaid}
    if lines := differences(before, now):
        raise InputError(
            f"{folder} was started with another configuration; "
            "use its settings again or give a new --out. What differs (then -> now):\n" + "\n".join(lines)
        )
