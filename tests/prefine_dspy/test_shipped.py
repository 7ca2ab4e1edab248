"""The compiled programs that the package ships."""

import json
import re
from pathlib import Path

import pytest

from prefine_dspy.artifact import load_program, read_manifest, shipped

OPTIMIZED = Path(__file__).resolve().parents[2] / "optimized"


def test_those_that_the_readme_names_are_there():
    assert {"full-history", "prefine-mpt"} <= set(shipped())


@pytest.mark.parametrize("name", shipped())
def test_each_loads_with_demonstrations_in_every_predictor(name):
    program = load_program(name).program
    assert {path: bool(predictor.demos) for path, predictor in program.named_predictors()} == {
        path: True for path, _ in program.named_predictors()
    }


@pytest.mark.parametrize("name", shipped())
def test_each_is_better_than_uncompiled_on_data_it_was_not_compiled_on(name):
    test = read_manifest(OPTIMIZED / name).scores["test"]
    figure = "o_f1" if "o_f1" in test.difference else "f1"
    assert test.difference[figure].low > 0


@pytest.mark.parametrize("name", shipped())
def test_none_holds_a_path_an_address_or_a_key(name):
    for file in (OPTIMIZED / name).iterdir():
        text = file.read_text(encoding="utf-8")
        assert isinstance(json.loads(text), dict)
        assert not re.search(r"https?://|api_key|api_base|(?<![\w.])/(?:home|root|tmp|work|Users)/", text)
