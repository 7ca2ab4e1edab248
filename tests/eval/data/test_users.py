"""SGD's synthetic users."""

import random

from eval.data.compose import two_sided
from eval.data.observations import established, executed_calls, stance_counts
from eval.data.preferences import Stance
from eval.data.users import USER_SESSIONS, chunked_users, synthetic_users
from prefine_dspy.types import Session, ToolCall
from tests.eval.data.made import MAPPING, cheap, dear, plain, session


def corpus() -> list[Session]:
    tickets = [ToolCall.of("GetEvents", number_of_tickets="1"), ToolCall.of("GetBuses", group_size="1")]
    calls = [*cheap(60), *dear(14), *(tickets * 20), *plain(150)]
    made = [session(call) for call in calls] + [session()]
    random.Random(3).shuffle(made)
    return made


def test_every_user_holds_at_most_one_side_of_an_axis() -> None:
    users = synthetic_users(corpus(), MAPPING, random.Random(1))
    for user in users:
        stances = stance_counts(executed_calls(user.sessions), MAPPING)
        assert not two_sided(stances)
        assert 2 <= len(user.sessions) <= USER_SESSIONS[1]
    held = [established(executed_calls(user.sessions), MAPPING) for user in users]
    for stance in (Stance("low_cost"), Stance("high_cost"), Stance("solo_usage")):
        assert sum(stance in one for one in held) >= 3


def test_nobody_shares_a_session_and_sessions_without_a_call_are_left_out() -> None:
    sessions = [s for user in synthetic_users(corpus(), MAPPING, random.Random(1)) for s in user.sessions]
    assert len({s.id for s in sessions}) == len(sessions)
    assert all(s.calls for s in sessions)


def test_same_seed_same_users() -> None:
    made = corpus()
    first, second = (synthetic_users(made, MAPPING, random.Random(1)) for _ in range(2))
    assert first == second
    assert first != synthetic_users(made, MAPPING, random.Random(2))


def test_chunks_keep_the_order() -> None:
    sessions = [session(call) for call in plain(33)]
    users = chunked_users(sessions, "home", random.Random(1))
    joined = [s for user in users for s in user.sessions]
    assert joined == sessions[: len(joined)] and len(joined) > 28
    assert len({user.id for user in users}) == len(users)
