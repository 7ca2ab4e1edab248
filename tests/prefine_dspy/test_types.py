import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from prefine_dspy.types import Choice, History, Memory, MemoryUpdate, Query, Session, ToolCall, Turn, value_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def test_a_call_string_is_mpts():
    call = ToolCall.of("GetFlights", flight_class="Economy", passengers=2, refundable=True)
    assert str(call) == 'GetFlights(flight_class="Economy", passengers="2", refundable="True")'
    assert str(ToolCall(name="GetTime")) == "GetTime()"


def test_a_list_means_that_the_argument_was_given_several_times():
    call = ToolCall.of("GetMovies", starring=["A", "B"])
    assert list(call.triplets()) == [("GetMovies", "starring", "A"), ("GetMovies", "starring", "B")]
    assert str(call) == 'GetMovies(starring="A", starring="B")'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Zürich", "Zürich"),
        (True, "True"),
        (None, "None"),
        (3, "3"),
        (2.5, "2.5"),
        ({"name": "日本"}, '{"name": "日本"}'),
    ],
)
def test_values_as_text(value, text):
    assert value_text(value) == text


def test_arguments_keep_their_order():
    assert list(ToolCall.of("F", b=1, a=2).arguments) == ["b", "a"]


@given(st.dictionaries(st.text(min_size=1), json_values, max_size=4))
def test_every_value_of_a_call_is_told_as_text(arguments):
    for _, argument, value in ToolCall(name="F", arguments=arguments).triplets():
        assert argument in arguments
        assert isinstance(value, str)


@pytest.mark.parametrize(
    "noun",
    [
        ToolCall.of("F", a=[1, "x"], b={"c": None}),
        Session(id="s", turns=(Turn(role="user", text="hi", calls=(ToolCall.of("F"),)),), calls=(ToolCall.of("F"),)),
        History(id="h", sessions=(Session(id="s"),)),
        Query.of("Book me a flight"),
        Memory(
            text="x",
            version=2,
            sessions=("s",),
            evidence=(Choice(function="F", argument="a", value="1", sessions=("s",)),),
        ),
        MemoryUpdate(memory=Memory(), accepted=True, attempts=({"stage": "generate"},), parse_failures=1),
    ],
    ids=lambda noun: type(noun).__name__,
)
def test_nouns_survive_json_and_compare_by_value(noun):
    assert type(noun).model_validate_json(noun.model_dump_json()) == noun
    assert type(noun).model_validate(noun.model_dump()) == noun


def test_nouns_cannot_be_changed():
    with pytest.raises(ValidationError):
        Memory().text = "other"  # type: ignore[misc]


def test_an_unknown_field_is_an_error():
    with pytest.raises(ValidationError, match="hypotesis"):
        Memory(hypotesis="The user prefers quiet places")  # type: ignore[call-arg]


def test_a_role_is_user_or_assistant():
    with pytest.raises(ValidationError):
        Turn(role="tool", text="x")  # type: ignore[arg-type]


def test_a_query_of_one_sentence():
    assert Query.of("Hi", id="q1") == Query(id="q1", turns=(Turn(role="user", text="Hi"),))
