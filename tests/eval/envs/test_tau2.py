from __future__ import annotations

import os
from pathlib import Path

import pytest
from scripted_lm import Script, lm_of

from eval.envs.protocol import Reply, Stop
from eval.envs.tau2 import Tau2
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

DOMAIN = os.environ.get("PREFINE_TAU2_DOMAIN", "retail")
STOP = "###STOP###"


@pytest.fixture
def environment(tau2_checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Tau2:
    pytest.importorskip("tau2.registry")
    judge = Script(lambda request: {"results": []})
    return Tau2(
        DOMAIN, user=lm_of(Script(lambda request: "Hello." if len(request.messages) < 3 else STOP)), judge=lm_of(judge)
    )


def test_gold_replay_earns_the_reward_and_wrong_ids_do_not(environment: Tau2) -> None:
    changing = [task for task in environment.tasks if any(call.name in environment.writes for call in task.gold)]
    for task in changing[:2]:
        for spoil in (False, True):
            assert environment.reset(task.id).text == "Hello."
            for call in task.gold:
                arguments = {k: "#W0" if spoil and k.endswith("_id") else v for k, v in call.arguments.items()}
                step = environment.step(ToolCall(name=call.name, arguments=arguments))
                if step.done:  # ten failed calls
                    break
            else:
                step = environment.step(Reply(text=" ".join(task.outputs) or "Done."))
            assert step.done and (spoil or step.termination == "user_stop")
            assert step.reward == (0.0 if spoil else 1.0), (task.id, step.details)


def test_errors_are_marked_and_stopping_ends(environment: Tau2) -> None:
    environment.reset(environment.tasks[0].id)
    step = environment.step(ToolCall.of("no_such_tool"))
    assert step.observation is not None and step.observation.error
    assert environment.step(Stop()).termination == "agent_stop"
    environment.reset(environment.tasks[0].id)
    steps = [environment.step(ToolCall.of("no_such_tool")) for _ in range(10)]
    assert steps[-1].done and (steps[-1].termination, steps[-1].reward) == ("error", 0.0)


def test_without_an_lm_the_user_cannot_speak(tau2_checkout: Path) -> None:
    pytest.importorskip("tau2.registry")
    with pytest.raises(InputError, match="--user-lm"):
        (environment := Tau2(DOMAIN)).reset(environment.tasks[0].id)
