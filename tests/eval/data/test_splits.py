"""Nobody and nothing is on two sides of a split."""

from __future__ import annotations

from collections import Counter

import pytest

from eval.data.load import load_benchmark
from eval.data.splits import Sources, check_disjoint, sources_of, split
from prefine_dspy.errors import InputError
from prefine_dspy.types import History


@pytest.fixture(scope="module")
def mini():
    return load_benchmark("mini")


@pytest.fixture(scope="module")
def sources(mini):
    return sources_of("mini", mini.histories)


def alone(mini):
    return {name: Sources(frozenset({name}), frozenset()) for name in mini.histories}


@pytest.mark.parametrize("seed", range(5))
def test_users_and_dialogues_are_on_one_side(mini, sources, seed):
    splits = split(mini, sources, {}, seed)
    users = [{user for history in one.histories for user in sources[history.id].users} for one in splits.values()]
    assert sum(map(len, users)) == len(set().union(*users))
    assert sum(len(one.histories) for one in splits.values()) == len(mini.histories)


def test_it_is_the_same_for_the_same_seed(mini, sources):
    first, again, other = (split(mini, sources, {}, seed) for seed in (1, 1, 2))
    assert first == again
    assert first["test"].identity == again["test"].identity != other["test"].identity


def test_every_split_has_the_common_preferences(mini, sources):
    for one in split(mini, sources, {"train": 9, "dev": 6, "test": 9}).values():
        assert len(Counter(instance.preference for instance in one.instances)) >= 4


def test_sizes_are_kept(mini, sources):
    splits = split(mini, sources, {"train": 3, "dev": 2, "test": 0}, per_history=4)
    assert [len(one.histories) for one in splits.values()] == [3, 2, 0]
    assert all(len(one.of(history.id)) <= 4 for one in splits.values() for history in one.histories)
    assert not splits["test"].instances


def test_too_much_asked_is_said(mini, sources):
    with pytest.raises(InputError, match="has 27 histories"):
        split(mini, sources, {"train": 20, "dev": 20})


def test_histories_that_share_a_user_stay_together(mini):
    pairs = alone(mini)
    first, second, *_ = mini.histories
    pairs[second] = Sources(pairs[first].users, frozenset())
    for seed in range(10):
        splits = split(mini, pairs, {"train": 9, "dev": 9, "test": 9}, seed)
        sides = {name for name, one in splits.items() for history in one.histories if history.id in (first, second)}
        assert len(sides) == 1


def test_sharing_is_passed_on(mini):
    """a shares with b and b with c: all three are one group."""
    chain = alone(mini)
    a, b, c, *_ = mini.histories
    chain[b] = Sources(chain[a].users | {"more"}, frozenset({"d1"}))
    chain[c] = Sources(frozenset({c}), frozenset({"d1"}))
    splits = split(mini, chain, {"train": 9, "dev": 9, "test": 9})
    assert len({name for name, one in splits.items() for history in one.histories if history.id in (a, b, c)}) == 1


@pytest.mark.parametrize("what, shared", [("user", ("u", "")), ("dialogue", ("", "d"))])
def test_a_shared_user_or_dialogue_is_an_error_that_names_it(what, shared):
    user, dialogue = shared
    sources = {
        "h1": Sources(frozenset({"u1", user} - {""}), frozenset({"d1", dialogue} - {""})),
        "h2": Sources(frozenset({"u2", user} - {""}), frozenset({"d2", dialogue} - {""})),
    }
    with pytest.raises(InputError, match=f"{what} '{user or dialogue}' is in train .*h1.* and in test .*h2"):
        check_disjoint({"train": ["h1"], "test": ["h2"]}, sources)
    check_disjoint({"train": ["h1", "h2"], "test": []}, sources)


def test_the_same_history_twice_is_an_error():
    sources = {"h1": Sources(frozenset({"u1"}), frozenset())}
    with pytest.raises(InputError, match="history 'h1'"):
        check_disjoint({"train": ["h1"], "test": ["h1"]}, sources)


def test_without_known_users_dialogues_are_told_apart_by_their_text(mini, tmp_path):
    first, second, *_ = mini.histories.values()
    renamed = tuple(session.model_copy(update={"id": f"x{n}"}) for n, session in enumerate(first.sessions))
    histories = {"a": first, "b": History(id="b", sessions=renamed), "c": second}
    found = sources_of(str(tmp_path / "some.json"), histories)
    assert found["a"].dialogues == found["b"].dialogues
    assert found["a"].dialogues != found["c"].dialogues
