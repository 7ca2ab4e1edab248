"""Each promise of a build, broken on purpose."""

import random

import pytest

from eval.data.compose import Record, Shape, compose
from eval.data.instances import Facts, build_instances
from eval.data.verify import BrokenInvariantError, verify_build
from eval.instance import Instance
from prefine_dspy.types import ToolCall
from tests.eval.data.made import MAPPING, STARS, cheap, dear, plain, rng, session, user

USERS = [
    *(user(f"c{k}", "sgd", *cheap(3), *plain(3)) for k in range(6)),
    *(user(f"d{k}", "sgd", *dear(2), *plain(4)) for k in range(4)),
]
RECORDS = compose(USERS, MAPPING, random.Random(1), Shape())
INSTANCES = [i for r in RECORDS for i in build_instances(Facts(r.history, MAPPING), rng())]


def test_a_real_build_passes() -> None:
    assert {i.reasoning_type for i in INSTANCES} == {"recall", "induction", "transfer"}
    verify_build(RECORDS, INSTANCES, MAPPING, "paper")


def broken(instance: Instance, **changed: object) -> list[Instance]:
    return [i.model_copy(update=changed) if i.id == instance.id else i for i in INSTANCES]


def first(reasoning_type: str) -> Instance:
    return next(i for i in INSTANCES if i.reasoning_type == reasoning_type and i.schema_name == "base")


@pytest.mark.parametrize(
    ("told", "real", "message"),
    [
        ("transfer", "recall", "occurs in its history"),
        ("induction", "recall", "occurs 2 times, not once"),
        ("induction", "transfer", "occurs 0 times, not once"),
        ("recall", "induction", "does not recur"),
    ],
)
def test_wrong_reasoning_type(told: str, real: str, message: str) -> None:
    instance = first(real)
    with pytest.raises(BrokenInvariantError, match=f"instance {instance.id}: .*{message}"):
        verify_build(RECORDS, broken(instance, reasoning_type=told), MAPPING, "paper")


def test_gold() -> None:
    instance = first("recall")
    for gold in ((), (*instance.gold, ToolCall.of("GetWeather")), (*instance.gold, ToolCall.of(instance.gold[0].name))):
        with pytest.raises(BrokenInvariantError, match=instance.id):
            verify_build(RECORDS, broken(instance, gold=gold), MAPPING, "paper")


def test_one_query_once() -> None:
    copy = INSTANCES[0].model_copy(update={"id": "another"})
    with pytest.raises(BrokenInvariantError, match="query used more than once"):
        verify_build(RECORDS, [*INSTANCES, copy], MAPPING, "paper")
    verify_build(RECORDS, [*INSTANCES, copy], MAPPING, "released")


def test_unknown_history_and_double_ids() -> None:
    with pytest.raises(BrokenInvariantError, match="no history nowhere"):
        verify_build(RECORDS, broken(INSTANCES[0], history_id="nowhere"), MAPPING, "paper")
    with pytest.raises(BrokenInvariantError, match="instance id used more than once"):
        verify_build(RECORDS, [INSTANCES[0], INSTANCES[0]], MAPPING, "paper")
    with pytest.raises(BrokenInvariantError, match="history id used more than once"):
        verify_build([RECORDS[0], RECORDS[0]], [], MAPPING, "paper")


def with_sessions(record: Record, sessions: list) -> Record:
    return record.model_copy(update={"history": record.history.model_copy(update={"sessions": tuple(sessions)})})


def test_shared_sessions_and_lost_order() -> None:
    one, two = RECORDS[:2]
    shared = with_sessions(two, [*two.history.sessions, one.history.sessions[0]])
    with pytest.raises(BrokenInvariantError, match="session used more than once"):
        verify_build([one, shared], [], MAPPING, "paper")
    turned = with_sessions(one, list(reversed(one.history.sessions)))
    with pytest.raises(BrokenInvariantError, match="out of order"):
        verify_build([turned], [], MAPPING, "paper")


def test_plurality_and_arrangement() -> None:
    record = next(r for r in RECORDS if r.meta.contested)
    swapped = {"majority": record.meta.minority, "minority": record.meta.majority}
    with pytest.raises(BrokenInvariantError, match="no strict plurality"):
        verify_build([record.model_copy(update={"meta": record.meta.model_copy(update=swapped)})], [], MAPPING, "paper")
    other = "shuffled" if record.meta.arrangement == "ordered" else "ordered"
    renamed = record.meta.model_copy(update={"arrangement": other})
    with pytest.raises(BrokenInvariantError, match=f"not arranged as {other}"):
        verify_build([record.model_copy(update={"meta": renamed})], [], MAPPING, "paper")


def test_both_sides_of_a_preference_that_is_not_contested() -> None:
    record = next(r for r in RECORDS if r.meta.preferences == ("low_cost",) and not r.meta.contested)
    sessions = list(record.history.sessions)
    for n, allowed in ((1, True), (2, False)):  # once is an accident, twice is a side
        changed = with_sessions(record, [*sessions, *(session(call) for call in dear(2)[:n])])
        if allowed:
            verify_build([changed], [], MAPPING, "paper")
            continue
        with pytest.raises(BrokenInvariantError, match=r"both sides of cost.*high_cost 2, low_cost [2-9]"):
            verify_build([changed], [], MAPPING, "paper")


def test_both_sides_of_a_second_preference_beside_the_contested_one() -> None:
    record = next(r for r in RECORDS if r.meta.contested)
    stars = [session(ToolCall.of("GetMusic", artist=star)) for star in STARS for _ in range(2)]
    with pytest.raises(BrokenInvariantError, match=r"both sides of star.*Star One 2, Star Two 2"):
        verify_build([with_sessions(record, [*record.history.sessions, *stars])], [], MAPPING, "paper")
