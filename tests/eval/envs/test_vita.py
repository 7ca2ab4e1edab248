from __future__ import annotations

from pathlib import Path

import pytest
from dspy import lm15
from scripted_lm import Answer, Script, lm_of, prompt_of

from eval.envs.protocol import Reply
from eval.envs.vita import VitaBench
from prefine_dspy.types import ToolCall

STOP = "###STOP###"


def user(request: lm15.Request) -> Answer:
    return "I am hungry." if len(request.messages) < 3 else STOP


def judge(request: lm15.Request) -> Answer:
    # every rubric that the prompt lists, met
    import re

    names = dict.fromkeys(re.findall(r"(?:overall_rubric|rubric|state)[\w.-]*_\d+", prompt_of(request)))
    return (
        "```json\n"
        + str([{"rubric_idx": name, "justification": "", "meetExpectation": True} for name in names])
        .replace("'", '"')
        .replace("True", "true")
        + "\n```"
    )


def test_an_episode_with_named_lms(vita_checkout: Path) -> None:
    pytest.importorskip("vita.registry")
    graded = Script(judge)
    environment = VitaBench("delivery", user=lm_of(Script(user)), judge=lm_of(graded))
    first = environment.tasks[0].id
    assert environment.greeting and environment.reset(first).text == "I am hungry."
    assert environment.now is not None and environment.now[:10] in environment.policy
    assert len(environment.tools) == 20 and 0 < len(environment.writes) < 20
    step = environment.step(ToolCall.of("delivery_product_search_recommand", keywords=["rice"]))
    assert step.observation is not None and not step.observation.error and not step.done
    bad = environment.step(ToolCall.of("no_such_tool"))
    assert bad.observation is not None and bad.observation.error
    done = environment.step(Reply(text="Goodbye."))
    assert done.done and done.termination == "user_stop" and done.observation is None
    assert done.details["rubrics"]["total"] >= 1 and graded.requests
    # goods of the task before are gone
    environment.reset(environment.tasks[1].id)
    again = environment.step(ToolCall.of("delivery_product_search_recommand", keywords=["rice"]))
    assert again.observation is not None and len(again.observation.text) < 50_000
