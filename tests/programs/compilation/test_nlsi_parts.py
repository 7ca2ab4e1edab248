"""The parts of the NLSI programs."""

from __future__ import annotations

import dspy
import pytest

from prefine_dspy.errors import InputError
from prefine_dspy.selection import BM25Selector, LMSelector, SelectThenInterpret
from prefine_dspy.taps import Default, ExtTag, Taps
from programs.compilation.nlsi_parts import module_at, nlsi_parts, predictor_in
from programs.compilation.parts import graft


def names(program):
    return [part.name for part in nlsi_parts(program)]


def test_parts_come_in_the_order_in_which_they_read_each_other():
    assert names(Taps()) == ["default", "tagger", "tagged", "gate"]
    assert names(ExtTag()) == ["tagger", "interpreter"]
    assert names(Default()) == ["interpreter"]
    assert names(SelectThenInterpret()) == ["selector", "interpreter"]


def test_what_asks_no_lm_is_no_part():
    assert names(SelectThenInterpret(by="bm25")) == ["interpreter"]
    with pytest.raises(InputError, match="nothing to compile"):
        nlsi_parts(BM25Selector())


@pytest.mark.parametrize("kind", [Default, ExtTag, Taps, LMSelector, SelectThenInterpret])
def test_every_predictor_belongs_to_one_part(kind):
    program = kind()
    found = [
        f"{part.path}.{predictor_in(module_at(program, part.path))[0]}".lstrip(".")
        for part in nlsi_parts(program)
        if part.step != "gate"
    ]
    assert sorted(found) == sorted(name for name, _ in program.named_predictors())


def test_a_part_is_grafted_at_its_path_with_its_fields_only():
    program = Taps()
    part = module_at(program, "ext_tag.interpreter").deepcopy()
    demo = dspy.Example(augmented=True, tagged="- x", query="User: y", calls=[], logprobs={"content": []}, kind=("z",))
    part.interpret.demos = [demo]
    part.interpret.signature = part.interpret.signature.with_instructions("Do it.")
    whole = graft(part, program, "ext_tag.interpreter")
    (kept,) = whole.ext_tag.interpreter.interpret.demos
    assert dict(kept) == {"augmented": True, "tagged": "- x", "query": "User: y", "calls": []}
    assert whole.ext_tag.interpreter.interpret.signature.instructions == "Do it."
    assert not whole.default.interpreter.interpret.demos and not program.ext_tag.interpreter.interpret.demos
