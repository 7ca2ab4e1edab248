"""Environments by name, as `--data` spells them."""

from __future__ import annotations

import dspy

from eval.envs.protocol import Environment
from prefine_dspy.errors import InputError

NAMES = "builtin, tau:airline, tau:retail, tau2:airline, tau2:retail, userbench:22, vita:delivery"

FAMILIES = ("builtin", "tau", "tau2", "userbench", "vita")
"""What names begin with, before the first ":"."""
_PLAYED: dict[str, tuple[str, ...]] = {
    "builtin": (),
    "tau": ("user_lm",),
    "tau2": ("user_lm", "judge_lm"),
    "userbench": ("user_lm",),
    "vita": ("user_lm", "judge_lm"),
}
_SPLIT_FAMILIES = ("builtin", "tau")


def lms_of(name: str) -> tuple[str, ...]:
    """Which LMs an environment asks: "user_lm", "judge_lm"; none where the user is scripted and code judges."""
    return _PLAYED.get(name.partition(":")[0], ())


def with_split(name: str, split: str | None) -> str:
    """The name of an environment with a split of its tasks.

    Args:
        name: as `load_environment` takes it.
        split: "train", "dev" or "test"; None for the environment's own choice (builtin: all tasks; tau-bench: test).

    Raises:
        InputError: its benchmark has no splits.
    """
    if split is None:
        return name
    if name.partition(":")[0] not in _SPLIT_FAMILIES:
        raise InputError(f"{name} has no splits: leave --split out, or give --data builtin")
    return f"{name}:{split}"


def load_environment(name: str, user_lm: dspy.BaseLM | None = None, judge_lm: dspy.BaseLM | None = None) -> Environment:
    """The environment of a name; benchmarks are imported only here.

    Args:
        name: "builtin" (":train", ":dev", ":test"; a group of its tasks, ":preference"; both); "tau:airline",
            "tau:retail" (":train", ":dev"); "tau2:airline", "tau2:retail"; "userbench:22" (":many": more than one
            recommendation an aspect); "vita:delivery", "vita:instore", "vita:ota", "vita:cross" (":chinese").
        user_lm: plays the user where the environment has no scripted one.
        judge_lm: judges where no code does; the user's LM when None.

    Raises:
        InputError: no such environment, or its benchmark is not installed.
    """
    family, _, rest = name.partition(":")
    domain, _, variant = rest.partition(":")
    if family == "builtin":
        from eval.envs.builtin import BuiltinEnvironment, chosen

        return BuiltinEnvironment(chosen(rest))
    if family == "tau" and domain in ("airline", "retail") and ":" not in variant:
        from eval.envs.tau_bench import TauBench

        return TauBench(domain, user_lm, variant or "test")  # type: ignore[arg-type]
    if family == "tau2" and not variant:
        from eval.envs.tau2 import Tau2

        return Tau2(domain, user_lm, judge_lm)
    if family == "userbench" and variant in ("", "many"):
        from eval.envs.userbench import UserBench

        return UserBench(domain, user_lm, one_choice=not variant)
    if family == "vita" and variant in ("", "english", "chinese"):
        from eval.envs.vita import VitaBench

        return VitaBench(domain, user_lm, judge_lm, variant or "english")  # type: ignore[arg-type]
    raise InputError(f"there is no environment {name!r}; choose one of {NAMES}")
