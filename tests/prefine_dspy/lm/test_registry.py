import re

import pytest

from prefine_dspy.errors import InputError
from prefine_dspy.lm import registry


@pytest.mark.parametrize("model", registry.MODELS.values(), ids=lambda model: model.name)
def test_every_model_states_what_is_needed_to_trust_it(model):
    assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
    assert model.size > 1_000_000
    assert model.licence == "Apache-2.0"
    assert model.file.endswith(".gguf") and "/" not in model.file
    assert model.context >= 4096
    assert model.wheels or model.hub
    if model.hub:
        assert re.fullmatch(r"[0-9a-f]{40}", model.hub.revision)  # a branch would move


def test_the_default_model_can_be_found():
    assert registry.find(registry.DEFAULT).name == registry.DEFAULT


def test_parts_are_in_the_order_in_which_they_are_joined():
    members = [part.member for part in registry.QWEN.wheels]
    assert len(members) == 22
    assert members[0].endswith("part01.bin") and members[-1].endswith("part22.bin")
    assert members == sorted(members, key=lambda member: member.rpartition("/")[2])


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"'gpt5'; known: qwen2.5-coder-1.5b, smollm2-135m .*local:/path"):
        registry.find("gpt5")
