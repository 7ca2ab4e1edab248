import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tag_world import NESTED, THAI, TOOLS, TWO, tagged

from eval.corruption import STRATEGIES, corrupt
from eval.corruption.moves import shift_slot
from prefine_dspy.errors import InputError
from prefine_dspy.tagging import Span, Tagged, render_tags

LONG = tagged(
    "Always look for big Thai places in Old Town, and cheap ones.",
    (
        *("GetRestaurants", "Always look for big Thai places in Old Town, and cheap ones."),
        *(("cuisine", "Thai"), ("city", "Old Town"), ("price_range", "cheap")),
    ),
)
TAGS = {one.text: one for one in (THAI, NESTED, TWO, LONG)}
SLOTS = sum(len(action.slots) for one in TAGS.values() for action in one.actions)
ACTIONS = sum(len(one.actions) for one in TAGS.values())


def many(n=40):
    """More sentences of the same kinds."""
    return {f"{number} {text}": _later(one, f"{number} ") for number in range(n) for text, one in TAGS.items()}


def _later(one, prefix):
    by = len(prefix)
    return Tagged(
        prefix + one.text,
        tuple(
            type(a)(a.name, a.start + by, a.end + by, tuple(Span(s.name, s.start + by, s.end + by) for s in a.slots))
            for a in one.actions
        ),
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_share_changes_nothing(strategy):
    assert corrupt(TAGS, 0, 1, strategy).tags == TAGS
    assert corrupt(TAGS, 0, 1, strategy).applied == ()
    assert corrupt({}, 1, 1, strategy).tags == {}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_whole_share_touches_every_eligible_tag_or_says_why_not(strategy):
    found = corrupt(TAGS, 1, 3, strategy, tools=TOOLS)
    expected = {"all": ACTIONS + SLOTS, "action": ACTIONS, "spurious_slot": len(TAGS)}.get(strategy, SLOTS)
    assert found.eligible == len(found.applied) == expected
    assert len({(one.text, one.action, one.slot) for one in found.applied}) == expected
    for one in found.applied:
        assert one.changed == (one.before != one.after), one
    touched = {one.text for one in found.applied if one.changed}
    assert touched == {text for text, one in found.tags.items() if one != TAGS[text]}
    assert touched


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("share", [0.3, 1])
def test_words_never_change(strategy, share):
    found = corrupt(many(5), share, 2, strategy)
    assert all(one.text == text for text, one in found.tags.items())
    assert list(found.tags) == list(many(5))


def test_the_number_of_drawn_tags_is_the_floor():
    for percent in range(0, 101, 5):
        found = corrupt(many(5), percent / 100, 1)
        assert len(found.applied) == percent * found.eligible // 100
    assert len(corrupt(many(25), 0.29, 1, "spurious_slot").applied) == 29


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_larger_shares_contain_smaller_ones(strategy):
    shares = [corrupt(many(4), share, 7, strategy).applied for share in (0.1, 0.2, 0.5, 1)]
    for smaller, larger in zip(shares, shares[1:], strict=False):
        assert larger[: len(smaller)] == smaller


def test_the_order_of_the_mapping_and_other_seeds():
    tags = many(3)
    shuffled = list(tags.items())
    random.Random(0).shuffle(shuffled)
    assert corrupt(dict(shuffled), 0.5, 1).applied == corrupt(tags, 0.5, 1).applied
    assert corrupt(tags, 0.5, 2).applied != corrupt(tags, 0.5, 1).applied


def test_each_move_does_what_it_says():
    tags = many(10)
    renamed = corrupt(tags, 1, 1, "action")
    assert all(one.changed for one in renamed.applied)
    assert {one.after for one in renamed.applied} <= {"GetRestaurants", "GetHotels", "GetHouseStays", "GetSalons"}
    dropped = corrupt(tags, 1, 1, "slot_missing")
    assert not any(action.slots for one in dropped.tags.values() for action in one.actions)
    shifted = corrupt(tags, 1, 1, "slot_boundary")
    for one in shifted.applied:
        assert one.before.split()[0] == one.after.split()[0]
        assert not one.changed or one.before != one.after
    named = corrupt(tags, 1, 1, "semantic_slot", tools=TOOLS)
    assert {one.after.split()[0] for one in named.applied if one.before.startswith("city ")} <= {
        *("cuisine", "price_range", "rating", "average_rating", "location", "where_to", "appointment_date"),
        *("appointment_time", "check_in_date", "check_out_date", "has_wifi", "hotel_name", "is_unisex"),
        *("pets_welcome", "restaurant_name", "serves_alcohol", "street_address", "stylist_name", "has_laundry_service"),
    }
    added = corrupt(tags, 1, 1, "spurious_slot", tools=TOOLS)
    for one in added.applied:
        assert one.before == ""
        assert 2 <= len(one.after.split()) <= 3


def test_all_mixes_the_three_slot_moves_evenly():
    kinds = Counter(one.kind for one in corrupt(many(60), 1, 5).applied)
    slots = {kind: n for kind, n in kinds.items() if kind != "action"}
    assert set(slots) == {"slot_missing", "slot_boundary", "semantic_slot"}
    assert max(slots.values()) < 1.3 * min(slots.values())


def test_boundaries_move_by_a_word_and_never_into_punctuation_or_another_tag():
    slot = LONG.actions[0].slots[1]
    moved = {
        LONG.text[span.start : span.end]
        for seed in range(60)
        for span in shift_slot(LONG, 0, slot, random.Random(seed)).actions[0].slots
        if span.name == "city"
    }
    assert moved == {"in Old Town", "Old"}  # a comma follows
    tight = tagged(
        "cheap Thai, please", ("GetRestaurants", "cheap Thai", ("price_range", "cheap"), ("cuisine", "Thai"))
    )
    assert shift_slot(tight, 0, tight.actions[0].slots[1], random.Random(0)) is None


def test_a_tag_that_cannot_move_is_recorded_unchanged():
    tight = tagged("cheap Thai", ("GetRestaurants", "cheap Thai", ("price_range", "cheap"), ("cuisine", "Thai")))
    found = corrupt({"cheap Thai": tight}, 1, 1, "slot_boundary")
    assert found.tags == {"cheap Thai": tight}
    assert [(one.changed, one.before == one.after) for one in found.applied] == [(False, True)] * 2


def test_other_processes_make_the_same_tags():
    script = (
        "import json, sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_corrupt import many; from eval.corruption import STRATEGIES, corrupt\n"
        "from prefine_dspy.tagging import render_tags\n"
        "print(json.dumps([[render_tags(t) for t in corrupt(many(3), 0.6, 4, s).tags.values()] for s in STRATEGIES]))"
    )
    here = Path(__file__).resolve().parent
    root = here.parents[2]
    paths = [str(path) for path in (here, root, root / "tests" / "prefine_dspy")]
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script, *paths],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        ).stdout
        for hash_seed in ("1", "2")
    ]
    expected = [[render_tags(one) for one in corrupt(many(3), 0.6, 4, s).tags.values()] for s in STRATEGIES]
    assert json.loads(outputs[0]) == json.loads(outputs[1]) == expected


@pytest.mark.parametrize(
    ("share", "strategy", "message"),
    [
        (1.5, "all", "must be between 0 and 1, not 1.5"),
        (float("nan"), "all", "must be between 0 and 1"),
        (0.5, "slots", "no corruption 'slots': choose one of all, action"),
    ],
)
def test_wrong_input_is_refused(share, strategy, message):
    with pytest.raises(InputError, match=message):
        corrupt(TAGS, share, 1, strategy)
