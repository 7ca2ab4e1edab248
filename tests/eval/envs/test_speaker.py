from __future__ import annotations

import pytest
from scripted_lm import Script, lm_of

from eval.envs.speaker import Speaker, current_speaker, speaking
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
        assert current_speaker("a user") is speaker
    with pytest.raises(InputError, match="plays a judge: name it with --user-lm"):
        current_speaker("a judge")
