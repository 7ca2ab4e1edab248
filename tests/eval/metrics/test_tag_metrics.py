import pytest

from eval.metrics.tag_metrics import read_tags, score_tags, summarise_tags

BRACKETS = "[IN:GET_SALONS I go to [SL:CITY Half Moon Bay ] for a [SL:IS_UNISEX unisex ] salon. ]"
ANGLES = "<a:GET_SALONS> I go to <sl:CITY> Half Moon Bay</sl> for a <sl:IS_UNISEX> unisex</sl> salon.</a>"
PLAIN = "I go to Half Moon Bay for a unisex salon."


def labels(text):
    return [label for _, label in read_tags(text).tokens]


def test_both_forms_are_read_alike():
    assert read_tags(BRACKETS) == read_tags(ANGLES)
    assert labels(BRACKETS) == ["O"] * 3 + ["CITY"] * 3 + ["O"] * 2 + ["IS_UNISEX", "O", "O"]
    assert [token.text for token in read_tags(PLAIN).tokens] == [token.text for token in read_tags(ANGLES).tokens]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[SL: CITY Napa ]", ["CITY"]),
        ("[sl:city Napa ]", ["CITY"]),
        ("[SL:CITY Napa", ["CITY"]),
        ("[SL:A a [SL:B b ] a ] o", ["A", "B", "A", "O"]),
        ("Napa ] ]", ["O", "O", "O"]),
        ("[IN:X Napa ] ] ]", ["O"]),
        ("</sl> Napa </a>", ["O"]),
        ("<a:X><sl:CITY>Napa</a> in</sl> May", ["CITY", "CITY", "O"]),
        ("a[1]", ["O"] * 4),
        ("", []),
    ],
)
def test_odd_tags(text, expected):
    assert labels(text) == expected


def test_a_copy_is_right_in_either_form():
    for predicted in (BRACKETS, ANGLES):
        score = score_tags(BRACKETS, predicted)
        assert (score.f1, score.precision, score.recall) == (1.0, 1.0, 1.0)
        assert score.aligned
        assert score.actions_right


def test_the_mean_over_labels_by_hand():
    """CITY one of two tokens: P 1, R 1/2, F1 2/3. O three of three, one too much: P 3/4, R 1, F1 6/7."""
    gold, predicted = "a b c [SL:CITY New York ]", "a b c New [SL:CITY York ]"
    score = score_tags(gold, predicted)
    assert score.precision == pytest.approx((1 + 3 / 4) / 2)
    assert score.recall == pytest.approx((1 / 2 + 1) / 2)
    assert score.f1 == pytest.approx((2 / 3 + 6 / 7) / 2)


def test_a_label_of_the_prediction_alone_counts():
    score = score_tags("see [SL:CITY Napa ]", "see [SL:AREA Napa ]")
    assert score.f1 == pytest.approx(1 / 3)  # CITY 0, AREA 0, O 1


def test_changed_words_are_errors_of_their_labels():
    dropped = score_tags("I see [SL:CITY New York ] now", "I see [SL:CITY York ] now")
    assert not dropped.aligned
    assert dropped.counts["CITY"] == (1, 0, 1)
    added = score_tags("I see [SL:CITY York ]", "Sure: I see [SL:CITY York ]")
    assert added.counts == {"CITY": (1, 0, 0), "O": (2, 2, 0)}
    assert score_tags("I see [SL:CITY York ]", "").f1 == 0.0


def test_a_long_answer_is_not_aligned():
    assert score_tags("a b", "a b " * 1000).f1 == 0.0


def test_actions_are_compared_apart():
    assert not score_tags("[IN:GET_SALONS x ]", "[IN:GET_BANKS x ]").actions_right
    assert score_tags("[IN:GET_HOUSE_STAYS x ]", "<a:GetHouseStays>x</a>").actions_right
    assert score_tags("[IN:GET_SALONS x ]", "[IN:GET_BANKS x ]").f1 == 1.0


def test_summary():
    scores = [
        score_tags("see [SL:CITY Napa ]", "see [SL:CITY Napa ]"),
        score_tags("see [SL:CITY Napa ]", "see Napa"),
        score_tags("see [SL:CITY Napa ]", "[SL:CITY Napa ]"),
    ]
    figures = summarise_tags(scores)
    assert (figures.n, figures.misaligned) == (3, 1)
    assert figures.aligned_f1 == pytest.approx((1 + (0 + 2 / 3) / 2) / 2)
    assert figures.f1 == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    assert figures.corpus_f1 == pytest.approx((0.8 + 2 / 3) / 2)  # CITY 2 of 3; O 2, one too much, one missed
    assert figures.micro_f1 == pytest.approx(2 * 4 / (5 + 6))
    assert summarise_tags([]).f1 == 0.0
