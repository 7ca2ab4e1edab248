"""10,000 random and mutated LM outputs never crash parsing or scoring."""

import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval.data.catalogue import base_catalogue, preference_slots
from eval.metrics import reference, slots
from prefine_dspy import ToolCall
from prefine_dspy.parsing import ParsedCalls, parse_calls

SLOTS = preference_slots()
TOOLS = base_catalogue()
GOLD = [ToolCall.of("GetFlights", flight_class="Economy", departure_date="2019-03-08", passengers="1")]
BATCH = 10  # outputs an example: hypothesis spends more time on an example than we on an output
QUICK = settings(deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))

SEEDS = [
    str(GOLD[0]),
    '{"function": "GetFlights", "arguments": {"flight_class": "Economy", "passengers": "unspecified"}}',
    '{"tool_calls": [{"function": {"name": "GetFlights", "arguments": "{\\"passengers\\": 1}"}}]}',
    '<think>GetHotels(average_star=1)</think>```json\n{"calls": [{"name": "GetHotels", "args": {"a": true}}]}\n```',
    '{"GetBuses": [{"group_size": 1, "departure_time": "9 am"}, {"group_size": null}]}',
    "**GetMovies**(movie_name='Alien (1979)', starring=“Joe's”)\n{GetTravel(free_entry=True}",
    '{"GetRideSharing", shared_ride="True"} or none, <unspecified>',
]
PIECES = list("()[]{}<>\"'`,:=\\/*_ \n\r\t\0\x1c\u2028“”，（") + [
    *(
        "```json",
        "```",
        "<think>",
        "</think>",
        "null",
        "NaN",
        "-Infinity",
        "true",
        "\\u0000",
        "\\ud800",
        "\ud800",
        "\udfff",
    ),
    *(
        "GetFlights",
        "flight_class",
        "date=",
        "time='25:99'",
        '"name":',
        '"arguments":',
        "unspecified",
        "1" * 30,
        "\ufeff",
    ),
    *("İ", "ß", "K", "٣", "e\u0301", "🎵", "\u202e", "1e999", "٢٠١٩-٠٣-٠٨"),
]


def mutated(generator: random.Random) -> str:
    """A plausible output after some accidents: cut, doubled, spliced with another, sprinkled with noise."""
    text = generator.choice(SEEDS)
    for _ in range(generator.randint(1, 6)):
        at, to = sorted((generator.randint(0, len(text)), generator.randint(0, len(text))))
        other = generator.choice(SEEDS)
        text = generator.choice(
            [
                text[:at] + generator.choice(PIECES) + text[at:],
                text[:at] + generator.choice(PIECES) + text[to:],
                text[:to],
                text[at:],
                text[:at] + text[at:to] * 2 + text[to:],
                text[:at] + other[generator.randint(0, len(other)) :],
                text[:at] + text[at:to][::-1] + text[to:],
            ]
        )
    return text


def survives(answer: object) -> None:
    """Parsing and both scorers take the answer, and what they return can be written down."""
    for tools in (None, TOOLS):
        parsed = parse_calls(answer, tools)
        assert isinstance(parsed, ParsedCalls)
        assert not (parsed.parse_failed and parsed.calls)
        for call in parsed.calls:
            assert call == ToolCall.model_validate_json(call.model_dump_json())
            str(call).encode("utf-8")
        if tools:
            assert not [problem for call in parsed.calls for problem in tools.problems(call)]
        score = slots.score_item(GOLD, parsed.calls, SLOTS, parse_failed=parsed.parse_failed, catalogue=TOOLS)
        _is_consistent(score)
    _is_consistent(reference.score_item([str(GOLD[0])], answer, SLOTS))


def _is_consistent(score) -> None:
    assert score.overall == tuple(a + b for a, b in zip(score.pref, score.nonpref, strict=True))
    assert 0 <= score.overall.f1 <= 1
    json.dumps(score.as_dict(), allow_nan=False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([*SEEDS, *PIECES]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "function", "arguments", "calls", "tool_calls", "GetFlights", "passengers"])
            | st.text(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(QUICK, max_examples=1000)
@given(st.integers())
def test_ten_thousand_mutated_outputs(seed):
    generator = random.Random(seed)
    for _ in range(BATCH):
        survives(mutated(generator))


@settings(QUICK, max_examples=1000)
@given(st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_random_text(text):
    survives(text)


@settings(QUICK, max_examples=700)
@given(JSON)
def test_random_values_decoded_and_as_text(value):
    survives(value)
    survives(json.dumps(value))


@pytest.mark.parametrize("depth", [10, 100, 1000, 5000])
def test_nesting(depth):
    for opening, closing in (("[", "]"), ('{"calls":[', "]}"), ('{"GetFlights":', "}"), ("GetFlights(a=", ")")):
        survives(opening * depth + "1" + closing * depth)
        survives(opening * depth)
    value: object = 1
    for _ in range(depth):
        value = [value] if depth % 3 else {"arguments": value}
    survives(value)
