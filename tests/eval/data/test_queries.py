"""The templates: right arguments, and every stated value can be copied from the user's words."""

import pytest

from eval.data.catalogue import base_catalogue, extended_catalogue, preference_slots, unseen_functions
from eval.data.preferences import Mapping
from eval.data.queries import Template, first_templates, templates, unseen_template, unseen_templates
from prefine_dspy.types import ToolCall

EVERY = (*templates(), *unseen_templates())


def test_functions_with_a_query() -> None:
    guided, free = first_templates("cg"), first_templates("cf")
    assert len(guided) == 15 and len(free) == 23 and guided.keys() <= free.keys()
    assert "GetFan" not in free
    assert {t.function for t in unseen_templates() if t.query_type == "cg"} == set(unseen_functions())
    assert {t.function for t in unseen_templates() if t.query_type == "cf"} == set(unseen_functions())


def test_ids_and_wordings_differ() -> None:
    assert len({t.id for t in EVERY}) == len(EVERY)
    assert len({t.turns for t in EVERY}) == len(EVERY)


@pytest.mark.parametrize("template", EVERY, ids=lambda t: t.id)
def test_template(template: Template) -> None:
    catalogue = extended_catalogue() if template.function in unseen_functions() else base_catalogue()
    assert catalogue.problems(ToolCall(name=template.function, arguments=template.stated)) == []
    said = " ".join(turn.text for turn in template.query().turns if turn.role == "user").lower()
    assert [turn.role for turn in template.query().turns] == ["user", "assistant", "user"][: len(template.turns)]
    for value in template.stated.values():
        words = {"turn_on": "turn it on"}.get(value, value.replace("_", " ").lower())
        assert words in said
    for target in template.targets:
        assert target in preference_slots()[template.function] and target not in template.stated
    if template.query_type == "cf":
        assert len(template.turns) == 1 and not template.stated
    else:
        assert template.stated and template.targets


def test_no_query_gives_a_preference_away() -> None:
    values = {
        value.lower()
        for stance in Mapping().stances()
        for r in (*Mapping().realisations(stance), *Mapping().unseen_realisations(stance))
        for value in r.values
        if len(value) > 2 and value != "True"
    }
    for template in EVERY:
        said = " ".join(template.turns).lower()
        assert not any(value in said for value in values)
        assert "prefer" not in said and "usual" not in said


def test_an_unseen_function_has_a_template_for_each_of_its_targets() -> None:
    for stance in Mapping().stances():
        for function, argument, _ in Mapping().unseen_realisations(stance):
            guided = unseen_template("cg", function, argument)
            assert guided is not None and argument in guided.targets
            assert unseen_template("cf", function, argument) is not None
    assert unseen_template("cg", "GetCampground", "pet_friendly") is None
