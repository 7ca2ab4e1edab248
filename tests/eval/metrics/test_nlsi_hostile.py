"""10,000 mutated call texts and tag strings never crash a scorer, and long ones end soon."""

import random
import time

import pytest

from eval.metrics import nlsi_reference, nlsi_strict, tag_metrics, tag_reference
from eval.metrics.error_categories import find_errors
from prefine_dspy.parsing import parse_calls

GOLD = ['GetEvents(event_type="Music", date="March 9th", city="SF")', 'GetEvents(category="any", show_time="6:30 pm")']
GOLD_TAGS = '[IN:GET_EVENTS If I ask for "[SL:EVENT_TYPE Music ]", look in [SL:CITY San Francisco ]. ]'
CALLS = [
    *GOLD,
    "\n".join(GOLD),
    'API Calls:\nGetEvents(event_type="Music", date="9th of March")\n---\n[INST]',
    '["GetEvents(city=\\"NYC\\", number_of_tickets=2, free=True)"]',
    '[{"name": "GetEvents", "arguments": {"city": "SF", "date": ["March 9th", "tomorrow"]}}]',
    "GetHotels(location='half past nine in the evening', price=\"$1,200\")",
]
TAGS = [
    GOLD_TAGS,
    "[IN:GET_TRAVEL both [IN:GET_HOTELS in [SL:LOCATION LA ] ] near [SL:CATEGORY Museum ] ]",
    "<a:GET_EVENTS> If I ask for <sl:EVENT_TYPE> Music</sl>, look in <sl:CITY> San Francisco</sl>.</a>",
    "Check [IN:GET_BUSES Buses] and [IN:GET_TRAVEL Travel ].",
]
NOISE = [
    *"()[]{}<>\"'`,:=\\/*_?|$ \n\r\t\0\x1c\u2028“”İßK🎵",
    *("Get", "True", "any", "versus", "date=", "=9", "time='25:99'", "\ud800", "e\u0301", "٣", "9" * 30),
    *("[IN:", "[SL:", "<a:", "<sl:", "</sl>", "</a>", "]", "']", "[INST]", "---", "API Calls:"),
    *("quarter to 1 at night", "twelve", "March 32nd", ", CA", ",,, UK"),
]
BATCHES = 20
BATCH = 500


def mutated(generator, seeds):
    text = generator.choice(seeds)
    for _ in range(generator.randint(1, 6)):
        at, to = sorted((generator.randint(0, len(text)), generator.randint(0, len(text))))
        noise, other = generator.choice(NOISE), generator.choice(seeds)
        text = generator.choice(
            [
                text[:at] + noise + text[at:],
                text[:at] + noise + text[to:],
                text[:to],
                text[:at] + text[at:to] * 2 + text[to:],
                text[:at] + other[generator.randint(0, len(other)) :],
                text[:at] + text[at:to][::-1] + text[to:],
            ]
        )
    return text


def between_0_and_1(figures):
    return all(0 <= figure <= 1 for figure in figures)


@pytest.mark.parametrize("seed", range(BATCHES))
def test_mutated_calls(seed):
    generator = random.Random(seed)
    for _ in range(BATCH):
        gold, text = [mutated(generator, GOLD)], mutated(generator, CALLS)
        assert between_0_and_1(nlsi_reference.score_calls(gold, text))
        nlsi_reference.optimiser_em(gold, text)
        assert between_0_and_1(nlsi_strict.score_answer(gold, text))
        calls, wanted = parse_calls(text).calls, nlsi_strict.gold_calls(gold)
        assert (not find_errors(wanted, calls)) is (nlsi_strict.score_calls(wanted, calls).em == 1)


@pytest.mark.parametrize("seed", range(BATCHES))
def test_mutated_tags(seed):
    generator = random.Random(seed)
    for _ in range(BATCH):
        gold, text = mutated(generator, TAGS), mutated(generator, TAGS)
        assert between_0_and_1(tag_metrics.score_tags(gold, text)[:3])
        try:
            figures = tag_reference.score_tags(gold, text)
        except tag_reference.Unscorable:
            continue
        assert between_0_and_1(value for name, value in figures.items() if "num_calls" not in name)


@pytest.mark.parametrize(
    "text",
    [
        "Get" * 30_000,
        "a" * 100_000,
        "GetA(x=" + "1" * 100_000,
        'GetA(x="' * 10_000,
        "GetA(" + "=1" * 50_000,
        "GetA(" + "(" * 100_000,
        "True" * 30_000,
        "[SL:" * 30_000,
        "[IN:" * 30_000,
        "<sl:A" * 30_000,
        "]" * 100_000,
        "<sl:" + " " * 100_000,
        "[IN:X " + " word" * 50_000 + "]",
        "the and " * 149,
    ],
    ids=lambda text: f"{text[:8]}... {len(text)}",
)
def test_long_texts_end_soon(text):
    start = time.process_time()
    nlsi_reference.score_calls(GOLD, text)
    nlsi_reference.optimiser_f1(GOLD, text)
    tag_metrics.score_tags(GOLD_TAGS + " the and" * 100, text)
    try:
        tag_reference.score_tags(GOLD_TAGS, text)
    except tag_reference.Unscorable:
        pass
    assert time.process_time() - start < 5
