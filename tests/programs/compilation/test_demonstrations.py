from collections import Counter

import dspy
import pytest

from prefine_dspy.prefine import PRefine
from programs.compilation.demonstrations import (
    EmptyDemonstrationsError,
    Labelled,
    check_all_have_demonstrations,
    choose,
    fill_empty,
    give,
)


def pool(**kinds):
    return [
        Labelled(dspy.Example(kind=kind, number=number), tuple(kind.split("_")))
        for kind, n in kinds.items()
        for number in range(n)
    ]


def kinds(demos):
    return Counter(demo.kind for demo in demos)


@pytest.mark.parametrize("seed", range(6))
def test_kinds_are_in_balance_however_many_there_are_of_each(seed):
    chosen = choose(pool(accept_eco=90, reject_a=40, reject_b=3), 4, seed)
    assert kinds(chosen) == {"accept_eco": 2, "reject_a": 1, "reject_b": 1}


def test_a_rare_kind_gives_what_it_has_and_the_rest_is_filled_up():
    assert kinds(choose(pool(a=1, b=50), 6, 0)) == {"a": 1, "b": 5}
    assert len(choose(pool(a=2), 6, 0)) == 2
    assert choose([], 4, 0) == []


def test_no_demonstration_twice():
    chosen = choose(pool(a_x=5, a_y=5, b_x=5), 9, 1)
    assert len({(demo.kind, demo.number) for demo in chosen}) == 9


def test_a_seed_decides():
    many = pool(a=50, b=50)
    assert choose(many, 4, 1) == choose(many, 4, 1)
    assert len({str(choose(many, 4, seed)) for seed in range(5)}) > 1


def test_steps_of_own_runs_come_first_but_do_not_upset_the_balance():
    own = [Labelled(dspy.Example(kind="own", number=n), ("accept",)) for n in range(9)]
    chosen = choose(pool(accept=9, reject=9), 4, 0, first=own)
    assert kinds(chosen) == {"own": 2, "reject": 2}


def test_the_first_place_is_not_always_the_same_kind():
    firsts = {choose(pool(a=9, b=9), 2, seed)[0].kind for seed in range(8)}
    assert firsts == {"a", "b"}


def complete(predictor):
    return dspy.Example(**dict.fromkeys(predictor.signature.fields, "x"))


def test_an_empty_predictor_is_named():
    program = PRefine()
    demos = {name: [complete(predictor)] for name, predictor in program.named_predictors()}
    check_all_have_demonstrations(give(program, demos))
    for name in demos:
        without = give(program, {**demos, name: []})
        with pytest.raises(EmptyDemonstrationsError, match=name):
            check_all_have_demonstrations(without)
    incomplete = give(program, {**demos, "memory.refine": [dspy.Example(record="x")]})
    with pytest.raises(EmptyDemonstrationsError, match=r"memory\.refine"):
        check_all_have_demonstrations(incomplete)


def test_empty_predictors_are_filled_and_others_left_alone():
    program = give(PRefine(), {"memory.generate": [dspy.Example(a=1)]})
    pools = {name: pool(z=5) for name, _ in program.named_predictors()}
    filled = fill_empty(program, pools, 2, 0)
    assert [len(predictor.demos) for _, predictor in filled.named_predictors()] == [1, 2, 2, 2]
    assert not program.memory.verify.demos


def covering(kind, *names):
    return [Labelled(dspy.Example(kind=kind, name=name), (kind,), (name,)) for name in names]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_to_be_covered_is_shown_across_the_kinds(seed):
    # the narrow kind can only show a and b, so the wide one has to show the rest
    some = [*covering("wide", *"aaaaabbbbbcde"), *covering("narrow", *"aaab")]
    chosen = choose(some, 6, seed)
    assert kinds(chosen) == {"wide": 3, "narrow": 3}
    assert {demo.name for demo in chosen} == set("abcde")
    assert [demo.name for demo in chosen] == [demo.name for demo in choose(some, 6, seed)]


def test_own_steps_keep_their_places_in_a_choice_that_covers():
    own = [Labelled(dspy.Example(kind="own", name="x"), ("wide",))]
    assert "x" in [demo.name for demo in choose(covering("wide", *"abc"), 2, 0, first=own)]
