import pytest
from predictive_world import TOOLS, call
from small_world import session

from prefine_dspy.types import History
from programs.compilation.private import names_private, private_values

CALLS = (
    call("GetFlights", flight_class="Economy", passengers="2", destination="New York"),
    call("GetMusic", artist="Jay Chou"),
    call("Unknown", code="4711", when="March 5th"),
)
VALUES = private_values([History(id="h", sessions=(session("s", *CALLS),))], TOOLS)


def test_values_of_closed_sets_and_small_numbers_are_no_secret():
    assert {"New York", "Jay Chou", "4711", "March 5th"} == VALUES


@pytest.mark.parametrize(
    "text",
    [
        "The user likes Jay Chou.",
        "The user likes jay chou songs.",
        "The user likes songs by Chou.",
        "They fly often. To York, mostly.",
        "Code 4711 is used.",
        "The user flies in March.",
    ],
)
def test_a_name_or_a_part_of_one_gives_it_away(text):
    assert names_private(text, VALUES)


@pytest.mark.parametrize(
    "text", ["The user prefers Economy for 2.", "New things are liked.", "The user prefers new things.", ""]
)
def test_what_kind_of_thing_somebody_prefers_does_not(text):
    assert not names_private(text, VALUES)
