import pytest

from eval.data.labels.hypotheses import general, habits, hypothesis, leading, mapping_of, mentions, vague, value_words
from eval.data.preferences import CELEBRITIES, Mapping, Stance
from prefine_dspy.types import ToolCall
from tests.eval.data.made import MAPPING, STARS, cheap, dear, plain

call = ToolCall.of
LOW, HIGH = Stance("low_cost"), Stance("high_cost")
AIRLINE = call("GetFlights", airlines="Delta Airlines")


def test_the_side_with_more_calls_leads():
    assert leading(cheap(3) + dear(2), MAPPING) == [LOW]
    assert leading(dear(3) + cheap(2), MAPPING) == [HIGH]
    assert leading(cheap(2) + dear(2), MAPPING) == []
    assert leading(cheap(1), MAPPING, least=2) == []


def test_preferences_come_in_the_order_in_which_they_showed():
    star = call("GetMovies", starring=STARS[0])
    assert leading([star, *cheap(3)], MAPPING) == [Stance("prefers_star", STARS[0]), LOW]


def test_the_sentence_is_general_first_and_names_what_recurs():
    text = hypothesis(cheap(4), MAPPING)
    assert text.startswith("The user prefers low-cost")
    assert "rental cars car type Compact" in text and "travel free entry True" in text
    assert "Compact" not in hypothesis(cheap(1), MAPPING)


def test_habits_are_values_that_express_no_preference():
    assert habits([AIRLINE, AIRLINE, *cheap(2)], MAPPING) == [("GetFlights", "airlines", "Delta Airlines")]
    assert hypothesis([AIRLINE, AIRLINE], MAPPING) == "The user prefers flights airlines Delta Airlines."


def test_nothing_to_say_is_nothing():
    assert hypothesis(plain(3), MAPPING) == ""


def test_a_sentence_fits_its_limit():
    many = [*cheap(4), *([AIRLINE] * 2), *([call("GetFood", food_name="x" * 150)] * 2)]
    assert len(hypothesis(many, MAPPING)) <= 200


@pytest.mark.parametrize("variant", range(4))
@pytest.mark.parametrize("stance", list(Mapping(STARS).stances()), ids=str)
def test_what_is_said_of_a_preference_is_recognised_as_it_and_as_no_other(stance, variant):
    text = general(stance, variant)
    assert [other for other in MAPPING.stances() if mentions(text, other)] == [stance]
    assert not any(mentions(vague(variant), other) for other in MAPPING.stances())


def test_words_are_whole_words():
    assert not mentions("The user prefers economy flights.", Stance("eco"))
    assert mentions("The user prefers ECO mode.", Stance("eco"))


def test_values_read_like_words():
    assert value_words(("GetRentalCars", "car_type", "Compact")) == "rental cars car type Compact"
    assert value_words(("GetFood", "food_name", "pie")) == "food name pie"


def test_mini_has_celebrities_of_its_own(tmp_path):
    assert set(mapping_of("mini").stars).isdisjoint(CELEBRITIES)
    assert mapping_of(str(tmp_path)).stars == CELEBRITIES
