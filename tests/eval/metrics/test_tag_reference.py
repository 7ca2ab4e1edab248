"""The published tag parser and scorer, rule by rule, on examples of our own."""

import pytest

from eval.metrics.tag_reference import Unscorable, score_tags, tagged_calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[IN:GET_HOUSE_STAYS in [SL:WHERE_TO Rome ] ]", ['GetHouseStays(where_to="Rome")']),
        ("so: [IN:GET_A x [SL:B c] ]", ['GetA(b="c")']),
        ("[IN:GetA [SL:b c ] ]", ['Geta(b="c")']),
        ("[SL:B c ]", []),
        ("<a:GET_A> <sl:B> c</sl></a>", []),
        ('[IN:GET_A [SL:B "c" ] ]', ['GetA(b="c")']),
        ("[IN:GET_A [SL: B c ] ]", ['GetA(b="B c")']),
        ("[IN:GET_A [SL:B] c ]", ['GetA(b]="")']),
        ("[IN:GET_A [SL:B c [SL:D e ] ]", ['GetA(b="c [SL:D e")']),
        ("[IN:GET_A no slot ]", ["GetA()"]),
        # several actions: the first closing bracket ends it all
        ("[IN:GET_A [SL:X 1 ] ] and [IN:GET_B [SL:Y 2 ] ]", ['GetA(x="1")']),
        ("[IN:GET_A a [IN:GET_B b [SL:Y 2 ] ] [SL:X 1 ] ]", ['GetB(y="2")', "GetA()"]),
        ("[IN:GET_A [SL:X 1 ] [IN:GET_B [SL:Y 2 ] ] ]", ['GetB(y="2")', 'GetA(x="1")']),
        ("[IN:GET_A a] and [IN:GET_B b ].", ["GetB()", "GetA()"]),
        ("[IN:GET_A a] and [IN:GET_B b].", []),
        ("[IN:", ["()"]),
        ("", []),
    ],
)
def test_tagged_calls(text, calls):
    assert [str(call) for call in tagged_calls(text)] == calls


def tagged(slots):
    return "[IN:GET_A " + " ".join(f"[SL:{name} {value} ]" for name, value in slots) + " ]"


def test_scores():
    gold = tagged([("CITY", "Rome"), ("DATE", "May 3")])
    assert score_tags(gold, gold)["f1"] == 1
    other = score_tags(gold, tagged([("CITY", "Rome"), ("DAY", "May 3")]))
    assert [other[name] for name in ("em", "f1", "func_f1", "slot_f1", "val_f1")] == [0, 0.5, 1, 0.5, 1]
    assert score_tags(gold, tagged([("DATE", "may 3"), ("CITY", "ROME")]))["em"] == 1


def test_one_name_for_kinds_of_events_and_for_versus():
    gold = tagged([("EVENT_TYPE", "A vs B")])
    assert score_tags(gold, tagged([("SUBCATEGORY", "a versus b")]))["em"] == 1


def test_exact_match_counts_doubles_and_f1_does_not():
    score = score_tags(tagged([("CITY", "Rome")]), tagged([("CITY", "Rome"), ("CITY", "Rome")]))
    assert (score["em"], score["f1"]) == (0, 1)


def test_nothing_against_nothing_is_exact_with_f1_0():
    score = score_tags("a", "b")
    assert (score["em"], score["f1"], score["func_em"]) == (1, 0, 1)


def test_too_many_and_too_few_calls():
    assert score_tags("a", tagged([("CITY", "Rome")]))["overgeneration_percent"] == 1
    assert score_tags(tagged([("CITY", "Rome")]), "a")["undergeneration_percent"] == 1


@pytest.mark.parametrize("text", ["[IN:GET_A x ]", "[IN:GET_A [SL:X a=b ] ]"])
def test_what_the_published_scorer_raises_for(text):
    with pytest.raises(Unscorable):
        score_tags(text, text)
