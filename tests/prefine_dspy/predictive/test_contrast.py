import asyncio

import dspy
import pytest
from letter_server import letter_lm
from predictive_world import ALONE, CHEAP, TOOLS, taste

from prefine_dspy.predictive.contrast import SAID, ContrastiveCaller
from prefine_dspy.types import Choice, Memory, Note, Query

FLY = Query.of("Book me a flight to Oslo")


def calling(function, **arguments):
    def answer(messages):
        return {"call": {"function": function, "arguments": arguments}}

    return answer


@pytest.fixture
def asked(monkeypatch):
    servers = []

    def ask(answer, memory, query=FLY, weights=taste, **options):
        lm, server = letter_lm(monkeypatch, weights, answer)
        servers.append(server)
        with dspy.context(lm=lm):
            prediction = ContrastiveCaller(**options)(query=query, tools=TOOLS, memory=memory)
        prediction.server = server
        return prediction

    yield ask
    for server in servers:
        server.close()


def test_what_the_memory_moves_is_filled_in_and_the_rest_is_not(asked):
    found = asked(calling("GetFlights", destination="Oslo"), CHEAP)
    assert str(found.calls[0]) == 'GetFlights(flight_class="Economy", destination="Oslo")'
    by_name = {one.argument: one for one in found.considered[0]}
    assert by_name["flight_class"].filled and by_name["flight_class"].source == CHEAP
    assert not by_name["passengers"].filled
    assert found.confidences == [{"flight_class": by_name["flight_class"].confidence}]
    assert 0 < found.confidences[0]["flight_class"] < 1


def test_the_function_is_chosen_without_the_memory(asked):
    found = asked(calling("GetFlights", destination="Oslo"), CHEAP)
    assert not any(CHEAP in message["content"] for chat in found.server.chats for message in chat)


def test_without_a_memory_it_abstains_and_asks_nothing(asked):
    found = asked(calling("GetFlights", destination="Oslo"), "")
    assert str(found.calls[0]) == 'GetFlights(destination="Oslo")'
    assert found.server.prompts == [] and found.confidences == [{}]


def test_the_threshold_decides(asked):
    assert "flight_class" not in asked(calling("GetFlights"), CHEAP, threshold=5.0).calls[0].arguments


def test_what_was_stated_wins(asked):
    query = Query.of("Book me a flight to Oslo in Business class")
    found = asked(calling("GetFlights", flight_class="Business", destination="Oslo"), CHEAP, query)
    assert found.calls[0].arguments["flight_class"] == "Business"
    assert [one.argument for one in found.considered[0]] == ["passengers"]


def test_a_guess_of_the_lms_is_dropped_and_said(asked):
    found = asked(calling("GetFlights", flight_class="Business", passengers="2"), "")
    assert found.calls[0].arguments == {}
    assert {(one.kind, one.argument) for one in found.problems} == {
        ("not_grounded", "flight_class"),
        ("not_grounded", "passengers"),
    }


def test_a_guess_that_the_query_says_in_other_words_is_kept(asked):
    query = Query.of("Book me a flight, I want luxury")
    found = asked(calling("GetFlights", flight_class="Business"), "", query)
    assert found.calls[0].arguments == {"flight_class": "Business"}
    (one,) = found.considered[0]
    assert one.because == "query"
    assert any(SAID in prompt for prompt in found.server.prompts)


def test_several_hypotheses_each_apply_where_they_move_most(asked):
    notes = tuple(Note(id=str(number), text=text) for number, text in enumerate((ALONE, CHEAP)))
    found = asked(calling("GetFlights"), Memory(text=f"{ALONE}. {CHEAP}.", notes=notes))
    assert found.calls[0].arguments == {"flight_class": "Economy", "passengers": "1"}
    assert {one.argument: one.source for one in found.considered[0]} == {"flight_class": CHEAP, "passengers": ALONE}


def test_a_name_crosses_to_a_tool_that_was_never_used(asked):
    text = "The user likes Jay Chou"
    memory = Memory(text=text, notes=(Note(id="h1", text=text, data={"values": ["Jay Chou"]}),))
    found = asked(calling("GetMovies"), memory, Query.of("Find me a film"))
    assert found.calls[0].arguments == {"starring": "Jay Chou"}


def choice(value, times, argument="passengers"):
    sessions = tuple(f"s{number}" for number in range(times))
    return Choice(function="GetFlights", argument=argument, value=value, sessions=sessions)


def test_a_habit_is_followed_without_asking(asked):
    found = asked(calling("GetFlights"), Memory(evidence=(choice("3", 2),)))
    assert found.calls[0].arguments == {"passengers": "3"}
    assert found.considered[0][0].because == "habit" and found.server.prompts == []


def test_a_tie_is_no_habit(asked):
    found = asked(calling("GetFlights"), Memory(evidence=(choice("3", 2), choice("4", 2))))
    assert found.calls[0].arguments == {}


def test_an_unreadable_answer_is_as_before(asked):
    found = asked(lambda messages: {"answer": "no idea"}, CHEAP)
    assert found.parse_failed and found.calls == [] and found.considered == []


def test_async_gives_the_same(monkeypatch):
    lm, server = letter_lm(monkeypatch, taste, calling("GetFlights", destination="Oslo"))

    async def ask():
        with dspy.context(lm=lm):
            return await ContrastiveCaller().acall(query=FLY, tools=TOOLS, memory=CHEAP)

    assert asyncio.run(ask()).calls[0].arguments == {"flight_class": "Economy", "destination": "Oslo"}
    server.close()
