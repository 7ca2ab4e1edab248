import dspy
import pytest
from letter_server import letter_lm
from predictive_world import (
    CHEAP,
    CHEAP_SESSIONS,
    DEAR,
    DEAR_FLIGHT,
    DEAR_FOOD,
    DEAR_HOTEL,
    TOOLS,
    taste,
)
from small_world import session

from prefine_dspy.predictive.memory import PredictiveMemory
from prefine_dspy.types import History, Memory, ToolCall
from programs.compilation.bank import learn_bank

SAME = "The user prefers low cost, always"
DEAR_SESSIONS = (session("d1", DEAR_FLIGHT), session("d2", DEAR_HOTEL), session("d3", DEAR_FOOD))


def histories(*sessions):
    return [History(id=f"h{number}", sessions=those) for number, those in enumerate(sessions)]


@pytest.fixture
def learnt(monkeypatch):
    servers = []

    def learn(users, **options):
        lm, server = letter_lm(monkeypatch, taste, by_choices)
        servers.append(server)
        with dspy.context(lm=lm):
            return learn_bank(PredictiveMemory(samples=1, K=0), users, TOOLS, **options)

    yield learn
    for server in servers:
        server.close()


def by_choices(messages):
    """A generator that reads the last session, and varies its words."""
    read = messages[-1]["content"]
    if any(one in read.rpartition("session:")[2] for one in ("Business", "=5", "pricey")):
        return {"hypothesis": DEAR}
    return {"hypothesis": SAME if "average_star" in read else CHEAP}


def test_a_bank_holds_what_several_users_bear_out_and_nothing_twice(learnt):
    users = histories(CHEAP_SESSIONS, CHEAP_SESSIONS, CHEAP_SESSIONS, DEAR_SESSIONS, DEAR_SESSIONS)
    found = learnt(users)
    assert len(found) == 2 and found[0] in (CHEAP, SAME) and found[1] == DEAR
    assert len(learnt(users, most=1)) == 1


def test_one_user_is_not_enough(learnt):
    found = learnt(histories(CHEAP_SESSIONS, CHEAP_SESSIONS, DEAR_SESSIONS))
    assert DEAR not in found


def test_a_run_can_end_after_any_history(learnt):
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learnt(histories(CHEAP_SESSIONS), check=stop)


def test_what_names_a_value_of_a_users_record_is_not_stored(monkeypatch):
    """Two users like the same singer: a true hypothesis, accepted for both, and nobody else's business."""
    fans = (
        session("s1", ToolCall.of("GetMusic", artist="Jay Chou")),
        session("s2", ToolCall.of("GetMovies", starring="Jay Chou")),
        session("s3", ToolCall.of("GetMusic", artist="Jay Chou")),
    )
    lm, server = letter_lm(monkeypatch, taste, lambda messages: {"hypothesis": "The user likes Jay Chou"})
    program = PredictiveMemory(samples=1, K=0)
    with dspy.context(lm=lm):
        for seen in range(1, 4):
            update = program(memory=Memory(), sessions=fans[:seen], tools=TOOLS)
        assert update.memory.text == "The user likes Jay Chou."
        assert learn_bank(program, histories(fans, fans), TOOLS) == []
    server.close()
