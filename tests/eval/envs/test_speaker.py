from __future__ import annotations

from types import ModuleType

import pytest
from scripted_lm import Script, lm_of

from eval.envs.speaker import Speaker, current_speaker, lead_to_speaker, required, speaking
from prefine_dspy.errors import InputError


def test_the_lm_is_asked_with_its_own_settings() -> None:
    script = Script(["Hello.", "Again."])
    lm = lm_of(script)
    lm.kwargs["temperature"] = 0.7
    speaker = Speaker(lm, trial=2)
    messages = [{"role": "system", "content": "Be a user."}, {"role": "user", "content": "Hi"}]
    assert speaker(messages) == "Hello."
    assert script.requests[0].config.temperature == 0.7
    assert "Be a user." in str(script.requests[0].system)
    assert speaker([*messages, {"role": "assistant", "content": None}, {"role": "user", "content": "?"}]) == "Again."


def test_a_speaker_is_there_only_inside_its_block() -> None:
    speaker = Speaker(lm_of(Script([])))
    with speaking(speaker):
        assert current_speaker() is speaker
    with pytest.raises(RuntimeError, match="nobody speaks"):
        current_speaker()


def test_no_lm_is_an_error_that_says_which_option() -> None:
    with pytest.raises(InputError, match="plays a judge: name it with --user-lm"):
        required(None, "a judge")


def test_a_function_is_led_to_the_speaker_only_inside_the_block() -> None:
    module = ModuleType("benchmark")
    module.ask = lambda question: f"native {question}"  # type: ignore[attr-defined]
    for _ in range(2):  # a second time changes nothing
        lead_to_speaker(module, "ask", lambda speaker, question: speaker([{"role": "user", "content": question}]))
    with speaking(Speaker(lm_of(Script(["spoken"])))):
        assert module.ask("a") == "spoken"
    assert module.ask("b") == "native b"
