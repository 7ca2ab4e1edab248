"""Environments by name, as `--data` spells them."""

from __future__ import annotations

import dspy

from eval.envs.protocol import Environment
from prefine_dspy.errors import InputError

NAMES = "builtin, tau:airline, tau:retail, tau2:airline, tau2:retail, userbench:22, vita:delivery"


def load_environment(name: str, user_lm: dspy.BaseLM | None = None, judge_lm: dspy.BaseLM | None = None) -> Environment:
    """The environment of a name; benchmarks are imported only here.

    Args:
        name: "builtin"; "tau:airline"; "tau:retail" (":train", ":dev"); "tau2:airline", "tau2:retail"; "userbench:22"
            (":many": more than one recommendation an aspect); "vita:delivery", "vita:instore", "vita:ota", "vita:cross"
            (":chinese").
        user_lm: plays the user where the environment has no scripted one.
        judge_lm: judges where no code does; the user's LM when None.

    Raises:
        InputError: no such environment, or its benchmark is not installed.
    """
    family, _, rest = name.partition(":")
    domain, _, variant = rest.partition(":")
    if name == "builtin":
        from eval.envs.builtin import BuiltinEnvironment

        return BuiltinEnvironment()
    if family == "tau" and domain in ("airline", "retail"):
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
