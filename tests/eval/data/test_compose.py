"""Merging users: plurality, arrangements, order inside a user, nobody twice."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.data.compose import Record, Shape, arrange_contested, compose, interleave
from eval.data.observations import established, executed_calls
from eval.data.preferences import Stance
from eval.data.users import User
from eval.data.verify import verify_build
from tests.eval.data.made import MAPPING, cheap, dear, plain, session, user

SHAPE = Shape()


def town() -> list[User]:
    users = [user(f"c{k}", "sgd", *cheap(4), *plain(2)) for k in range(12)]
    users += [user(f"d{k}", "sgd", *dear(2 + 4 * (k % 2)), *plain(4)) for k in range(8)]
    return users + [user(f"p{k}", "sgd", *plain(6)) for k in range(6)]


def build(seed: int = 1) -> list[Record]:
    return compose(town(), MAPPING, random.Random(seed), SHAPE)


def test_contested_histories_keep_a_strict_plurality() -> None:
    contested = [record for record in build() if record.meta.contested]
    assert len(contested) >= 3 and {record.meta.majority for record in contested} == {"low_cost", "high_cost"}
    for record in contested:
        held = established(executed_calls(record.history.sessions), MAPPING)
        assert Stance(record.meta.majority) in held and Stance(record.meta.minority) not in held
    assert {record.meta.arrangement for record in contested} == {"ordered", "shuffled"}
    verify_build(build(), [], MAPPING, "paper")


def test_nobody_is_in_two_histories() -> None:
    names = [part.user for record in build() for part in record.meta.parts]
    assert len(set(names)) == len(names)


def test_same_seed_same_histories() -> None:
    assert build() == build() and build() != build(2)


def test_uncontested_histories_hold_one_side() -> None:
    for record in build():
        if not record.meta.contested:
            calls = executed_calls(record.history.sessions)
            labels = {stance.preference for call in calls for stance in MAPPING.labels(call)}
            assert not {"low_cost", "high_cost"} <= labels


def test_ties_and_two_sided_users_are_left_out() -> None:
    tied = [user("a", "sgd", *cheap(2), *plain(4)), user("b", "sgd", *dear(2), *plain(4))]
    assert not any(r.meta.contested for r in compose(tied, MAPPING, random.Random(1), Shape(contested=1.0)))
    assert compose([user("c", "sgd", *cheap(2), *dear(2))], MAPPING, random.Random(1), SHAPE) == []


def test_sources_are_mixed() -> None:
    users = [user(f"a{k}", "sgd", *cheap(3), *plain(3)) for k in range(6)]
    users += [user(f"b{k}", "homebench", *plain(5)) for k in range(6)]
    merged = [r for r in compose(users, MAPPING, random.Random(1), SHAPE) if r.meta.arrangement == "interleaved"]
    assert merged
    for record in merged:
        assert {part.source for part in record.meta.parts} == {"sgd", "homebench"}


def test_length_limits() -> None:
    users = [user(f"a{k}", s, *cheap(3), *plain(1)) for k in range(6) for s in ("x", "y")]
    shape = Shape(sessions=(8, 12), merge_all=True)
    for record in compose(users, MAPPING, random.Random(1), shape):
        assert 8 <= len(record.history.sessions) <= 12


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 99))
def test_interleaving_keeps_each_order_and_loses_nothing(sizes: list[int], seed: int) -> None:
    chains = [[session(name=f"{k}-{n}") for n in range(size)] for k, size in enumerate(sizes)]
    merged = [s.id for s in interleave(chains, random.Random(seed))]
    for chain in chains:
        names = [s.id for s in chain]
        assert [name for name in merged if name in names] == names
    assert len(merged) == sum(sizes)


@pytest.mark.parametrize("seed", range(20))
def test_arrangements(seed: int) -> None:
    major, minor, other = ([session(name=f"{kind}{n}") for n in range(2)] for kind in "abo")
    places = {}
    for arrangement in ("ordered", "shuffled"):
        merged = [s.id for s in arrange_contested(major, minor, [other], arrangement, random.Random(seed))]
        places[arrangement] = merged.index("b1") < merged.index("a0")
    assert places == {"ordered": True, "shuffled": False}
