"""What makes two runs different runs."""

from __future__ import annotations

from pathlib import Path

import dspy
import pytest
from scripted_run import ChainSystem, ScriptedEngine, config_of, scripted_lm, tiny_benchmark

from eval.run_config import check_same, fingerprint
from prefine_dspy.errors import InputError

PROGRAM = dspy.Predict("text -> reply")


def test_a_recompilation_with_other_options_is_another_program() -> None:
    """K is in no prompt: two compiled programs may differ in nothing else."""
    assert fingerprint(PROGRAM, {"K": 3}) != fingerprint(PROGRAM, {"K": 5})
    assert fingerprint(PROGRAM, {"K": 3, "loop": "verify"}) == fingerprint(PROGRAM, {"loop": "verify", "K": 3})
    assert fingerprint(PROGRAM, {}) == fingerprint(PROGRAM)


def test_runs_from_before_there_was_a_second_benchmark_can_be_resumed() -> None:
    now = config_of({"chain": ChainSystem()}, tiny_benchmark(), scripted_lm(ScriptedEngine())).model_dump(mode="json")
    before = {key: value for key, value in now.items() if key not in ("task", "split")}
    check_same(Path("run"), before, now)
    with pytest.raises(InputError, match='task: "mpt" -> "nlsi"'):
        check_same(Path("run"), before, {**now, "task": "nlsi"})
