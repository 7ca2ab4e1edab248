import json
import time

import dspy
import pytest
from pydantic import BaseModel

from prefine_dspy import Catalogue, Parameter, Tool, ToolCall
from prefine_dspy.parsing import Dropped, parse_calls

P = Parameter
TOOLS = Catalogue(
    [
        Tool(
            name="GetFlights",
            parameters=(
                P(name="flight_class", enum=("Economy", "Premium Economy")),
                P(name="passengers"),
                P(name="destination", enum=("Paris", "New York"), open=True),
            ),
        ),
        Tool(
            name="GetHotels",
            parameters=(
                P(name="average_star", enum=("1", "2", "3", "4", "5")),
                P(name="has_wifi", type="boolean"),
                P(name="location"),
                P(name="number_of_rooms", type="integer"),
            ),
        ),
        Tool(name="GetHomes", parameters=(P(name="pets_allowed", type="boolean"),)),
        Tool(name="GetMovies", parameters=(P(name="movie_name"), P(name="starring"), P(name="tags", type="array"))),
        Tool(name="GetFan", parameters=(P(name="speed", enum=("auto", "high", "low", "medium")),)),
    ]
)
HOTEL = ToolCall.of("GetHotels", location="Paris", average_star="3")
NAMED = '{"name": "GetHotels", "arguments": {"location": "Paris", "average_star": "3"}}'


def only_call(answer, tools=TOOLS):
    parsed = parse_calls(answer, tools)
    assert not parsed.parse_failed
    (call,) = parsed.calls
    return call


def problems(answer):
    return [(one.kind, one.argument, one.value) for one in parse_calls(answer, TOOLS).problems]


FORMS = [
    NAMED,
    '{"function": "GetHotels", "arguments": {"location": "Paris", "average_star": "3"}}',
    '{"call": {"function": "GetHotels", "arguments": {"location": "Paris", "average_star": "3"}}}',
    '{"calls": [{"function": "GetHotels", "arguments": {"location": "Paris", "average_star": "3"}}]}',
    '{"name": "GetHotels", "args": {"location": "Paris", "average_star": "3"}}',
    '{"tool": "GetHotels", "parameters": {"location": "Paris", "average_star": "3"}}',
    '{"Name": "GetHotels", "Arguments": {"location": "Paris", "average_star": "3"}}',
    '{"name": "GetHotels", "arguments": "{\\"location\\": \\"Paris\\", \\"average_star\\": \\"3\\"}"}',
    '{"name": "GetHotels", "args": [{"name": "location", "value": "Paris"}, {"name": "average_star", "value": "3"}]}',
    '{"name": "GetHotels", "location": "Paris", "average_star": "3", "reasoning": "cheap"}',
    '{"GetHotels": {"location": "Paris", "average_star": "3"}}',
    '{"answer": {"plan": {"GetHotels": {"location": "Paris", "average_star": "3"}}}}',
    '{"role": "assistant", "name": "bot", "tool_calls": [{"id": "1", "type": "function", "function": '
    '{"name": "GetHotels", "arguments": "{\\"location\\": \\"Paris\\", \\"average_star\\": \\"3\\"}"}}]}',
    f"[{NAMED}]",
    json.dumps(NAMED),
    f"```json\n{NAMED}\n```",
    f"```\n{NAMED}\n```\nDone.",
    f"```python\n{NAMED}",
    f"Sure! Here it is: {NAMED} Anything else?",
    f"<think>GetHomes(pets_allowed=True) or not?</think>{NAMED}",
    f"I wonder GetHomes(pets_allowed=True).</think>{NAMED}",
    f"<tool_call>\n{NAMED}\n</tool_call>",
    f"\ufeff{NAMED}",
    NAMED.replace('"', "'"),
    NAMED.replace('"', "“"),
    NAMED.replace("}}", ",}}"),
    NAMED[:-2],
    NAMED[:-1],
    'GetHotels(location="Paris", average_star="3")',
    "GetHotels(location='Paris', average_star=3)",
    "GetHotels(location=Paris, average_star=3)",
    "GetHotels ( location : 'Paris' , average_star : 3 )",
    "GetHotels(\n  location = “Paris”,\n  average_star = “3”,\n)",
    "result = functions.GetHotels(location='Paris', average_star=3)  # cheap",
    "`GetHotels(location='Paris', average_star=3)`",
    "**GetHotels**(location='Paris', average_star=3)",
    "{GetHotels}(location='Paris', average_star=3)",
    "{GetHotels(location='Paris', average_star=3}",
    '{"GetHotels", location="Paris", average_star="3"}',
    "GetHotels{location='Paris', average_star=3}",
    'GetHotels({"location": "Paris", "average_star": "3"})',
    "GetHotels(location='Paris', average_star=3",
    "I pick a cheap hotel (three stars): GetHotels(location='Paris', average_star=3) (see above).",
]


@pytest.mark.parametrize("answer", FORMS)
def test_every_form_is_read(answer):
    assert only_call(answer) == HOTEL


@pytest.mark.parametrize("answer", [form for form in FORMS if "functions." not in form and "plan" not in form])
def test_the_same_without_a_catalogue(answer):
    call = only_call(answer, None)
    assert call.name == "GetHotels"
    assert {name: str(value) for name, value in call.arguments.items()} == HOTEL.arguments


class _Call(BaseModel):
    function: str
    arguments: dict[str, str]


@pytest.mark.parametrize(
    "answer",
    [
        HOTEL,
        [HOTEL],
        {"calls": [HOTEL]},
        json.loads(NAMED),
        [json.loads(NAMED)],
        _Call(function="GetHotels", arguments={"location": "Paris", "average_star": "3"}),
        dspy.ToolCalls.from_dict_list([{"name": "GetHotels", "args": {"location": "Paris", "average_star": "3"}}]),
    ],
)
def test_decoded_answers(answer):
    assert only_call(answer) == HOTEL


class TestSeveralCalls:
    @pytest.mark.parametrize(
        "answer",
        [
            "GetHotels(location='Paris')\nGetHomes(pets_allowed=true)",
            '{"GetHotels": {"location": "Paris"}, "GetHomes": {"pets_allowed": true}}',
            '{"name": "GetHotels", "args": {"location": "Paris"}}\n{"name": "GetHomes", "args": {"pets_allowed": 1}}',
            '["GetHotels(location=\'Paris\')", "GetHomes(pets_allowed=True)"]',
        ],
    )
    def test_in_order(self, answer):
        expected = [ToolCall.of("GetHotels", location="Paris"), ToolCall.of("GetHomes", pets_allowed="True")]
        assert parse_calls(answer, TOOLS).calls == expected

    def test_a_repeated_argument_is_a_list(self):
        assert only_call("GetHotels(average_star=1, average_star=2)").arguments == {"average_star": ["1", "2"]}
        assert only_call('{"GetHotels": {"average_star": [1, "2", "1"]}}').arguments == {"average_star": ["1", "2"]}

    def test_an_array_argument_stays_a_list(self):
        assert only_call('{"GetMovies": {"tags": ["a"]}}').arguments == {"tags": ["a"]}


class TestValuesInText:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('"Joe\'s Diner"', "Joe's Diner"),
            ("'Joe's Diner'", "Joe's Diner"),
            ("Joe's Diner", "Joe's Diner"),
            ('"Alien (1979)"', "Alien (1979)"),
            ('"a, b"', "a, b"),
            ('"she said \\"hi\\""', 'she said "hi"'),
            ('"a = b"', "a = b"),
            ("卧虎藏龙", "卧虎藏龙"),
        ],
    )
    def test_quotes_brackets_and_commas(self, text, value):
        call = only_call(f"GetMovies(movie_name={text}, starring='X')")
        assert call.arguments == {"movie_name": value, "starring": "X"}


class TestAbstention:
    @pytest.mark.parametrize(
        "answer",
        [
            *("null", "none", "None.", "No call", "[]", "{}", '{"calls": []}', '{"call": null}', '{"tool_calls": []}'),
            *('{"function": "none", "arguments": {}}', '```json\n{"calls": []}\n```', [], {}, {"call": None}),
        ],
    )
    def test_an_answer_that_calls_nothing(self, answer):
        for tools in (TOOLS, None):
            parsed = parse_calls(answer, tools)
            assert parsed == ([], [], False)
            assert parsed.abstained

    @pytest.mark.parametrize("answer", ["GetHotels()", "GetHotels", '{"GetHotels": null}', '{"function": "GetHotels"}'])
    def test_a_call_without_arguments(self, answer):
        parsed = parse_calls(answer, TOOLS)
        assert parsed.calls == [ToolCall.of("GetHotels")]
        assert parsed.abstained

    def test_a_call_with_placeholders_only(self):
        assert parse_calls('{"GetHotels": {"location": "unspecified"}}', TOOLS).abstained

    @pytest.mark.parametrize(
        "answer",
        [
            *(
                "",
                "   ",
                None,
                42,
                True,
                1.5,
                "42",
                "I cannot tell which one you prefer.",
                "a hotel (one star)",
                "{",
                '"',
            ),
            *("<think>GetHotels(location=Paris)</think>", object(), b"GetHotels()", "Error 429: rate limit (retry=3)"),
        ],
    )
    def test_a_parse_failure(self, answer):
        for tools in (TOOLS, None):
            parsed = parse_calls(answer, tools)
            assert parsed == ([], [], True)
            assert not parsed.abstained

    def test_reasoning_that_was_cut_off_is_not_the_answer_unless_there_is_none(self):
        assert parse_calls("<think>maybe GetHotels(location='Rome')", TOOLS).calls
        assert only_call("GetHotels(location='Paris')<think>or GetHotels(location='Rome')").arguments == {
            "location": "Paris"
        }


class TestNames:
    @pytest.mark.parametrize("name", ["gethotels", "get_hotels", "GETHOTELS", "Hotels", "GetHotel", "api.GetHotels"])
    def test_of_functions(self, name):
        assert only_call({"name": name, "arguments": {}}).name == "GetHotels"

    @pytest.mark.parametrize("name", ["BookHotel", "Get", "", "GetH", "x" * 500])
    def test_unknown_functions_are_dropped(self, name):
        parsed = parse_calls({"name": name, "arguments": {"location": "Paris"}}, TOOLS)
        assert parsed.calls == []
        assert parsed.problems == [Dropped("unknown_function", name)]
        assert not parsed.parse_failed

    def test_a_name_between_two_functions_is_dropped(self):
        tools = Catalogue([Tool(name="GetHeating"), Tool(name="GetHeatings")])
        assert parse_calls({"name": "GetHeatingz", "arguments": {}}, tools).calls == []
        assert only_call({"name": "GetHeating", "arguments": {}}, tools).name == "GetHeating"

    def test_of_arguments(self):
        call = only_call('{"GetHotels": {"Average Star": "3", "hasWifi": true, "numberOfRoom": "2"}}')
        assert call.arguments == {"average_star": "3", "has_wifi": "True", "number_of_rooms": "2"}

    def test_unknown_arguments_are_dropped(self):
        assert problems("GetHotels(view='sea', location='Paris')") == [("unknown_argument", "view", "sea")]


class TestClosedSets:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("economy", "Economy"),
            ("ECONOMY CLASS", "Economy"),
            ("premium economy seat", "Premium Economy"),
            ("premium", "Premium Economy"),
            ("premium-economy", "Premium Economy"),
            ("Econmy", "Economy"),
        ],
    )
    def test_what_is_meant(self, text, value):
        assert only_call({"GetFlights": {"flight_class": text}}).arguments == {"flight_class": value}

    @pytest.mark.parametrize(
        "text", ["Business", "not economy", "economy or premium", "cheap", "e", "economy, business?"]
    )
    def test_what_is_not_clear_is_dropped_unless_it_holds_one_choice(self, text):
        parsed = parse_calls({"GetFlights": {"flight_class": text}}, TOOLS)
        if text == "economy, business?":
            assert parsed.calls[0].arguments == {"flight_class": "Economy"}
        else:
            assert parsed.calls == [ToolCall.of("GetFlights")]
            assert parsed.problems == [Dropped("value_not_allowed", "GetFlights", "flight_class", text)]

    @pytest.mark.parametrize(
        ("text", "value"), [("3 stars", "3"), (3, "3"), ("three", None), ("1 or 2", None), ("12", None)]
    )
    def test_numbers(self, text, value):
        expected = {} if value is None else {"average_star": value}
        assert only_call({"GetHotels": {"average_star": text}}).arguments == expected

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            (True, "True"),
            ("true", "True"),
            ("Yes", "True"),
            (False, "False"),
            ("no", "False"),
            (0, "False"),
            ("maybe", None),
        ],
    )
    def test_booleans(self, text, value):
        expected = {} if value is None else {"has_wifi": value}
        assert only_call({"GetHotels": {"has_wifi": text}}).arguments == expected

    def test_open_sets_only_suggest(self):
        assert only_call({"GetFlights": {"destination": "new york"}}).arguments == {"destination": "New York"}
        assert only_call({"GetFlights": {"destination": "Oslo"}}).arguments == {"destination": "Oslo"}

    def test_a_choice_may_look_like_a_placeholder(self):
        tools = Catalogue([Tool(name="F", parameters=(P(name="a", enum=("none", "some")),))])
        assert only_call({"F": {"a": "none"}}, tools).arguments == {"a": "none"}


class TestPlaceholders:
    @pytest.mark.parametrize(
        "value",
        [
            *(
                "unspecified",
                "Unknown",
                "any",
                "None",
                "null",
                None,
                "",
                " ",
                "N/A",
                "not specified",
                "not_specified",
                "-",
            ),
            *(
                "<location>",
                "{location}",
                "[city]",
                "your location",
                "Your City",
                "the user's location",
                "TBD",
                "dontcare",
            ),
            *("your preferred location", "enter location", "your_location", "...", "unspecified."),
        ],
    )
    def test_are_dropped(self, value):
        parsed = parse_calls({"GetHotels": {"location": value, "average_star": "3"}}, TOOLS)
        assert parsed.calls == [ToolCall.of("GetHotels", average_star="3")]
        assert [one.kind for one in parsed.problems] == ["placeholder"]

    @pytest.mark.parametrize("value", ["Your Name", "Any Given Sunday", "None But the Brave", "The Unknown", "My Girl"])
    def test_titles_are_kept(self, value):
        assert only_call({"GetMovies": {"movie_name": value}}).arguments == {"movie_name": value}

    def test_are_kept_without_a_catalogue(self):
        assert only_call({"GetHotels": {"location": "unspecified"}}, None).arguments == {"location": "unspecified"}


class TestHostileValues:
    def test_lone_surrogates_can_be_written_to_a_file(self):
        for answer in ('{"GetMovies": {"movie_name": "\\ud800x"}}', "GetMovies(movie_name='\ud800x')"):
            call = only_call(answer)
            assert str(call).encode("utf-8")
            assert call.model_dump_json()

    @pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "1" * 400, "[" * 30 + "]" * 30])
    def test_numbers_without_a_json_form_and_deep_nesting_are_dropped(self, text):
        parsed = parse_calls(f'{{"GetHotels": {{"location": {text}, "average_star": 3}}}}', TOOLS)
        assert parsed.calls == [ToolCall.of("GetHotels", average_star="3")]
        assert [one.kind for one in parsed.problems] == ["unreadable_value"]

    def test_values_of_any_type(self):
        class Broken:
            def __str__(self):
                raise RuntimeError

        parsed = parse_calls({"GetMovies": {"movie_name": Broken(), "starring": 10**5000, "tags": {1, 2}}}, TOOLS)
        assert parsed.calls == [ToolCall.of("GetMovies", tags=[1, 2])]
        assert parse_calls({1: {"a": 2}, None: {}}, None).calls

    @pytest.mark.parametrize(
        "piece",
        [
            *(
                "(",
                "f(",
                "GetHotels(",
                "a",
                "a ",
                "GetHotels(a=1 ",
                "{",
                '{"a":',
                "[",
                "<think>",
                "```",
                "'a'",
                "“",
                "\\",
            ),
            *("{'a'", '{"a"', '{"a":1}', "f(a='", "```{a```", "a.", "GetHotels(a='x')", '{"GetHotels", ', "\x00", "x="),
        ],
    )
    def test_long_answers_take_seconds_at_most(self, piece):
        start = time.perf_counter()
        parse_calls(piece * (200_000 // len(piece)), TOOLS)
        assert time.perf_counter() - start < 5
