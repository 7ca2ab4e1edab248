import math

import pytest
from predictive_world import lift

from prefine_dspy.predictive.lift import LiftRule
from prefine_dspy.predictive.observations import Observation, session_weights
from prefine_dspy.predictive.verification import (
    MOST_GAIN,
    Held,
    held_out_gain,
    predicted_gain,
    role,
    select,
    tally,
    verdict,
)

RULE = LiftRule(threshold=0.15)
COST = {"cheap": 0.5, "dear": 0.5}
TO_CHEAP, TO_DEAR = lift({"cheap": 0.9, "dear": 0.1}, COST), lift({"cheap": 0.1, "dear": 0.9}, COST)
STILL = lift({"cheap": 0.52, "dear": 0.48}, COST)


def places(move, *functions):
    return {(one, "cost"): move for one in functions}


CHEAP = places(TO_CHEAP, "F", "G", "H")
DEAR = places(TO_DEAR, "F", "G", "H")


def record(*choices):
    """ "F cheap" a session."""
    return [
        Observation(*(one.split()[0], "cost", one.split()[1]), session=f"s{number}")
        for number, one in enumerate(choices)
    ]


def weights(observed, half_life=None):
    return session_weights([one.session for one in observed], half_life)


def judged(observed, lifts=CHEAP, half_life=None):
    return verdict(observed, lifts, RULE, weights(observed, half_life))


@pytest.mark.parametrize(
    ("value", "move", "expected"),
    [
        ("cheap", TO_CHEAP, "supporting"),
        ("dear", TO_CHEAP, "competing"),
        ("cheap", STILL, "unrelated"),
        ("cheap", None, "unrelated"),
        ("odd", TO_CHEAP, "unrelated"),
    ],
)
def test_the_role_of_an_observation(value, move, expected):
    assert role(Observation("F", "cost", value, "s"), move, RULE) == expected


def test_supporting_must_strictly_outnumber_competing():
    assert judged(record("F cheap", "G cheap", "H cheap", "F dear")).accepted
    assert not judged(record("F cheap", "G cheap", "F dear", "G dear")).accepted


def test_two_functions_and_two_sessions_are_needed():
    assert judged(record("F cheap", "G cheap")).accepted
    assert not judged(record("F cheap", "F cheap", "F cheap")).accepted
    one_session = [one._replace(session="s0") for one in record("F cheap", "G cheap")]
    assert not judged(one_session).accepted


def test_unrelated_observations_drown_nothing():
    noise = [Observation("N", "genre", "x", f"n{number}") for number in range(50)]
    observed = record("F cheap", "G cheap")
    everything = [*noise, *observed]
    assert judged(everything).accepted
    assert judged(everything).gain == pytest.approx(judged(observed).gain)


def test_the_feedback_names_the_contradictions():
    found = judged(record("F cheap", "G dear", "H dear"))
    assert "cost=dear (G)" in found.feedback and "cost=dear (H)" in found.feedback
    assert "no choice" in judged(record("F cheap", "G cheap"), {}).feedback
    assert "only these" in judged(record("F cheap", "F cheap")).feedback
    assert judged(record("F cheap", "G cheap")).feedback == ""


def test_a_left_out_session_is_predicted_from_the_others():
    # alone in its support: without it nothing speaks for the hypothesis
    single = record("F cheap", "N x")
    assert held_out_gain(single, [CHEAP], RULE, weights(single)) == 0
    both = record("F cheap", "G cheap")
    assert held_out_gain(both, [CHEAP], RULE, weights(both)) == pytest.approx(2 * TO_CHEAP.log_ratio("cheap"))


def test_of_two_hypotheses_the_one_that_moves_an_argument_more_predicts_it():
    weak = Held({("F", "cost"): lift({"cheap": 0.2, "dear": 0.8}, COST)}, 1.0)
    one = Observation("F", "cost", "cheap", "s")
    assert predicted_gain(one, [weak, Held(CHEAP, 1.0)], RULE) == pytest.approx(TO_CHEAP.log_ratio("cheap"))
    sure = Held({("F", "cost"): lift({"cheap": 0.0, "dear": 1.0}, COST)}, 1.0)
    assert predicted_gain(one, [sure], RULE) == -MOST_GAIN
    assert predicted_gain(one, [sure._replace(reliability=0.5)], RULE) == pytest.approx(math.log(0.5), abs=1e-3)


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_a_majority_of_one_is_enough_however_sure_the_lm_is(n):
    functions = ("F", "G", "H")
    choices = [f"{functions[k % 3]} {value}" for k in range(n + 1) for value in ("cheap", "dear")][:-1]
    sure = places(lift({"cheap": 0.99, "dear": 0.01}, COST), *functions)
    assert judged(record(*choices), sure).accepted


def test_recent_sessions_can_win_against_more_old_ones():
    observed = record(*["F dear", "G dear", "H dear", "F dear"], *["F cheap", "G cheap", "H cheap"])
    assert not judged(observed).accepted and judged(observed, DEAR).accepted
    assert judged(observed, half_life=2).accepted and not judged(observed, DEAR, half_life=2).accepted


def selected(observed, candidates, **more):
    return select(observed, candidates, RULE, weights(observed), **more)


def test_the_majority_is_selected():
    observed = record("F cheap", "G cheap", "H dear", "F cheap")
    assert selected(observed, {"dear": DEAR, "cheap": CHEAP}) == ["cheap"]


def test_two_hypotheses_about_different_things_are_both_kept():
    observed = record("F cheap", "G cheap", "P cheap", "Q cheap")
    other = places(TO_CHEAP, "P", "Q")
    assert set(selected(observed, {"cheap": places(TO_CHEAP, "F", "G"), "other": other})) == {"cheap", "other"}
    assert len(selected(observed, {"cheap": places(TO_CHEAP, "F", "G"), "other": other}, most=1)) == 1


def test_the_same_in_other_words_is_not_kept_twice():
    observed = record("F cheap", "G cheap", "H cheap")
    assert selected(observed, {"a": CHEAP, "b": dict(CHEAP)}) == ["a"]


def test_the_old_memory_stays_unless_another_is_really_better():
    observed = record("F cheap", "G cheap", "H cheap")
    slightly = places(lift({"cheap": 0.92, "dear": 0.08}, COST), "F", "G", "H")
    assert selected(observed, {"old": CHEAP, "new": slightly}, old=["old"]) == ["old"]
    narrow = places(TO_CHEAP, "F", "G")
    assert selected(observed, {"old": narrow, "new": CHEAP}, old=["old"]) == ["new"]


def test_a_contradicted_memory_goes():
    observed = record("F dear", "G dear", "H dear", "F cheap")
    assert selected(observed, {"old": CHEAP}, old=["old"]) == []


def test_the_tally_is_weighed():
    observed = record("F cheap", "G dear")
    found = tally(observed, CHEAP, RULE, weights(observed, 1))
    assert (found.supporting, found.competing) == (0.5, 1.0)
    assert found.confidence == pytest.approx(1 / 3)
