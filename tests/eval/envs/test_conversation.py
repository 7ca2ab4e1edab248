from __future__ import annotations

from typing import Any

import pytest

from eval.envs import tau2, vita
from eval.envs.conversation import ending, tool_observation, user_observation
from eval.envs.load import load_environment
from eval.envs.tau2 import Tau2
from eval.envs.userbench import UserBench
from eval.envs.vita import VitaBench
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall


@pytest.mark.parametrize(
    ("text", "left", "why"),
    [
        ("Thanks. ###STOP###", "Thanks.", "user_stop"),
        ("###TRANSFER###", "", "transfer"),
        ("I do not know. ###OUT-OF-SCOPE###", "I do not know.", "user_stop"),
        ("Please stop the train.", "Please stop the train.", None),
        (None, "", None),
    ],
)
def test_control_tokens_end_the_conversation_and_are_not_shown(text: str | None, left: str, why: str | None) -> None:
    assert user_observation(text).text == left and ending(text) == why


def test_a_tool_return_keeps_its_text() -> None:
    call = ToolCall.of("search", keywords=["rice"])
    text = "Store(name=Our Kitchen, store_id=S1, score=4.5, tags=['quiet'])"
    assert tool_observation(call, text, False).text == text
    assert tool_observation(call, None, True).error


def test_the_parts_of_a_tau2_reward() -> None:
    info = {"reward": 0.0, "reward_breakdown": {"DB": 1.0, "NL_ASSERTION": 0.0}}
    assert tau2.reward_details(info) == {"checks": {"db": True, "nl_assertion": False}}
    assert tau2.reward_details({"reward": 0.0, "reward_breakdown": None}) == {"checks": {}}


def test_the_rubrics_of_a_vita_reward() -> None:
    info = {"nl_rubrics": [{"met": True}, {"met": False}, {"met": True}]}
    assert vita.reward_details(info) == {"rubrics": {"met": 2, "total": 3}, "checks": {"rubrics": False}}
    assert vita.reward_details({"nl_rubrics": None}) == {}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Tau2("airline"), "tau2-bench is not installed: git clone .*magnetic relaxation"),
        (lambda: VitaBench("delivery"), "VitaBench is not installed: git clone .*synthesizer"),
        (lambda: UserBench("22"), "UserBench is not installed: git clone .*UserBench"),
        (lambda: load_environment("tau:retail"), "tau-bench is not installed"),
    ],
)
def test_absent_they_say_how_to_install(nothing_installed: None, make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tau", "no environment 'tau'; choose one of builtin, tau:airline"),
        ("tau:hotel", "no environment"),
        ("builtin:x", "builtin has no split or group"),
        ("tau2:telecom", "choose tau2:airline or tau2:retail"),
        ("userbench:55", "choose userbench:22"),
        ("userbench:22:some", "no environment"),
        ("vita:bank", "choose vita:delivery"),
        ("vita:delivery:french", "no environment"),
    ],
)
def test_unknown_names_are_answered_with_known_ones(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        load_environment(name)


def test_the_builtin_environment_is_always_there(nothing_installed: None) -> None:
    assert load_environment("builtin").name == "builtin"
