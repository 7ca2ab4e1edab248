"""The NLSI systems as the runner drives them."""

from __future__ import annotations

import math

import dspy
import pytest

from eval.data.nlsi import MINI_NLSI, load_nlsi
from prefine_dspy.errors import InputError
from programs import SYSTEMS, load_system, systems_for
from programs.one_shot import demonstration
from programs.tag_tables import angle_tags
from tests.programs.nlsi_lm import KnowingNlsi

NAMES = ["interpret", "ext_tag", "joint_tag", "taps", "one_shot", "select", "select_then_interpret"]


@pytest.fixture(scope="module")
def data():
    return load_nlsi("mini_nlsi", "test")


def instance(data, kind):
    return next(one for one in data.instances if one.reasoning_type == kind)


def answer(system, data, kind, **lm_options):
    knowing = KnowingNlsi(demonstrated=False, **lm_options)
    one = instance(data, kind)
    with dspy.context(lm=knowing.lm):
        return system.answer(one.request, data.tools), one, knowing


def test_they_are_the_systems_of_nlsi():
    assert set(NAMES) <= set(systems_for("nlsi"))
    assert {SYSTEMS[name].task for name in NAMES} == {"nlsi"}


@pytest.mark.parametrize("name", NAMES)
def test_every_system_answers_in_the_agreed_form(data, name):
    system = load_system(name)
    assert system.name == name
    prediction, one, _ = answer(system, data, "Plain")
    assert not prediction.parse_failed and isinstance(prediction.raw, str)
    if name == "select":
        assert prediction.calls == []
    else:
        assert prediction.calls == one.gold_calls()
    if name.startswith("select"):
        assert prediction.selected == [applicable.id for applicable in one.request.applicable]
    if name in ("ext_tag", "joint_tag"):
        assert len(prediction.tags) == len(one.request.applicable)


def test_taps_tags_where_it_is_unsure(data):
    system = load_system("taps", threshold=0.2)
    hard, one, _ = answer(system, data, "MultiHop")
    assert hard.tagged and hard.calls == one.gold_calls() != hard.first_calls
    assert hard.uncertainty["least_confidence"] > 0.2
    easy, one, _ = answer(system, data, "Plain")
    assert not easy.tagged and easy.calls == one.gold_calls() == easy.first_calls


def test_without_instructions_taps_tags_nothing(data):
    prediction, one, knowing = answer(load_system("taps", threshold=0.0), data, "NoneApplicable")
    assert not one.request.applicable
    assert not prediction.tagged and len(knowing.requests) == 1


def test_gold_tags_from_a_file_take_the_taggers_place(data):
    tags = str(MINI_NLSI / "tags.csv")
    prediction, one, knowing = answer(load_system("ext_tag", tags=tags), data, "MultiHop")
    assert prediction.calls == one.gold_calls()
    assert prediction.tagger_calls == 0 and len(knowing.requests) == 1
    assert all("<a:" in text for text in prediction.tags)


def test_one_shot_shows_its_own_demonstration(data):
    system = load_system("one_shot")
    _, _, knowing = answer(system, data, "Plain")
    (request,) = knowing.requests
    assert len(request.messages) == 3
    assert demonstration().query in request.messages[0].text
    predictor = system.program.interpreter.interpret
    assert set(demonstration().keys()) == set(predictor.signature.fields)


def test_selectors_that_rank_ask_no_lm(data):
    pytest.importorskip("bm25s")
    one = instance(data, "Plain")
    prediction = load_system("select", by="bm25", k=3).answer(one.request, data.tools)
    assert prediction.calls == [] and 0 < len(prediction.selected) <= 3


@pytest.mark.parametrize(
    "name, options, said",
    [
        ("taps", {"estimator": "guess"}, "estimator must be one of"),
        ("taps", {"threshold": "high"}, "threshold must be a number"),
        ("select", {"by": "magic"}, "lm, bm25 or embedding"),
        ("select", {"by": "bm25", "k": 0}, "whole number"),
        ("interpret", {"k": 3}, "has no option"),
        ("ext_tag", {"tags": "nowhere.csv"}, "cannot read the tags"),
    ],
)
def test_wrong_options_are_one_line(name, options, said):
    with pytest.raises(InputError, match=said) as error:
        load_system(name, **options)
    assert "\n" not in str(error.value)


def test_a_file_without_tags_says_what_it_lacks(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="org and aug"):
        load_system("ext_tag", tags=str(file))


@pytest.mark.parametrize(
    "name, options, said",
    [
        ("taps", {"threshold": math.nan}, "threshold must be a number"),
        ("taps", {"threshold": True}, "threshold must be a number"),
        ("tag_and_repair", {"estimator": "guess"}, "estimator must be one of"),
        ("tag_and_repair", {"threshold": "high"}, "threshold must be a number"),
        ("interpret", {"linked": "no"}, "linked must be true or false, not 'no'"),
        ("joint_tag", {"linked": 0}, "linked must be true or false"),
        ("ext_tag", {"linked": None}, "linked must be true or false"),
        ("taps", {"linked": "off"}, "linked must be true or false"),
        ("ext_tag", {"tags": ""}, "tags must be a CSV file"),
        ("ext_tag", {"tags": 5}, "tags must be a CSV file"),
        ("taps", {"tags": [1]}, "tags must be a CSV file"),
        ("ext_tag", {"tags": "a\0b"}, "cannot read the tags"),
        ("ext_tag", {"tagger_lm": ""}, "an LM needs a name"),
        ("taps", {"tagger_lm": 5}, "tagger_lm must be the name of an LM"),
        ("tag_and_repair", {"tagger_lm": "openai/"}, "the LM openai/ cannot be used"),
        ("select", {"k": 0}, "whole number"),
        ("select", {"by": "embedding", "embedder": 5}, "embedder must be local"),
    ],
)
def test_options_of_a_wrong_kind_are_one_line(name, options, said):
    with pytest.raises(InputError, match=said) as error:
        load_system(name, **options)
    assert "\n" not in str(error.value)


def test_a_flag_may_be_written_as_python_writes_it():
    assert load_system("interpret", linked="False").program.interpreter.linked is False
    assert load_system("interpret", linked="True").program.interpreter.linked is True


def test_tags_that_fit_nowhere_are_no_table(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("org,aug\nPlay some Jazz whenever I come home,<a:GetMusic> something else</a>\n", encoding="utf-8")
    with pytest.raises(InputError, match="keep their instruction's words"):
        load_system("ext_tag", tags=str(file))


def test_a_changed_file_is_read_again_and_the_first_of_repeated_rows_counts(tmp_path):
    file = tmp_path / "x.csv"
    for label in ("GENRE", "ARTIST"):
        rows = [f"Play Jazz,[IN:GET_MUSIC Play [SL:{slot} Jazz ] ]" for slot in (label, "TITLE")]
        file.write_text("\n".join(["org,aug", *rows]) + "\n", encoding="utf-8")
        assert angle_tags(file) == {"Play Jazz": f"<a:GET_MUSIC> Play <sl:{label}> Jazz</sl></a>"}
