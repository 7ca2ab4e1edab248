"""The published evaluator's behaviour, statement by statement of its description (sections in the test names)."""

import subprocess
import sys
import time
from datetime import datetime

import pytest

from eval.metrics import reference
from eval.metrics.reference import ReadField, call_strings, call_triples, normal_value, score_item

SLOTS = {"BookTable": ("seats", "quiet"), "PlaySong": ("artist",)}
TODAY = datetime(2026, 6, 15, 12)


def read(field):
    """The triples of a field in short: {"BookTable": {"seats": "2"}} or a list when a slot comes twice."""
    return [f"{function}.{argument}={value}" for function, argument, value in ReadField.of(field, TODAY).triples]


class TestInputs:
    def test_a_list_is_read_entry_by_entry_and_blank_entries_are_skipped(self):
        assert read(["BookTable(seats=2)", "  ", "", 'PlaySong(artist="Bo")']) == [
            "BookTable.seats=2",
            "PlaySong.artist=Bo",
        ]

    @pytest.mark.parametrize("field", [None, 3, 2.5, True, {"BookTable": {"seats": 2}}, [{"BookTable": {}}, None, 4]])
    def test_what_is_not_text_gives_no_calls(self, field):
        assert call_strings(field) == []

    def test_gold_and_prediction_are_read_alike(self):
        score = score_item(['{"BookTable": {"seats": 2}}'], "{BookTable}(seats=2)", SLOTS)
        assert (score.overall.tp, score.overall.fp, score.overall.fn) == (1, 0, 0)


class TestCleaning:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("<think>PlaySong(artist=a)</think>BookTable(seats=2)", ["BookTable.seats=2"]),
            ("<THINK>\nPlaySong(artist=a)\n</Think>BookTable(seats=2)", ["BookTable.seats=2"]),
            ("<think>a<think>b</think>BookTable(seats=2)</think>", ["BookTable.seats=2"]),
            ("PlaySong(artist=a)</think>BookTable(seats=2)", ["PlaySong.artist=a", "BookTable.seats=2"]),
            ("<think>PlaySong(artist=a) BookTable(seats=2)", ["PlaySong.artist=a", "BookTable.seats=2"]),
            ("BookTable(<think>x</think>seats=2)", ["BookTable.seats=2"]),
            ("BookTable(</think>seats=2)", ["BookTable.seats=2"]),
        ],
    )
    def test_2_2_thinking(self, text, expected):
        assert read(text) == expected

    def test_2_2_removing_a_block_can_make_a_stray_tag_which_goes_too(self):
        assert read("BookTable(seats=</th<think>y</think>ink>2)") == ["BookTable.seats=2"]

    @pytest.mark.parametrize("fence", ["```", "```json", "```JSON"])
    def test_2_3_fences_go_with_the_word_json(self, fence):
        assert read(f'{fence}\n{{"BookTable": {{"seats": "2"}}}}\n```') == ["BookTable.seats=2"]

    def test_2_3_another_language_word_stays_and_defeats_json(self):
        assert call_strings('```python\n{"BookTable": {"seats": "2"}}\n```') == []

    def test_2_3_fences_go_inside_a_call_too(self):
        assert read("BookTable(seats=```2```)") == ["BookTable.seats=2"]

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("{BookTable}(seats=2)", True),
            ("{BookTable} \n (seats=2)", True),
            ("{ BookTable }(seats=2)", False),
            ("{{BookTable}}(seats=2)", False),
            ("**BookTable**(seats=2)", True),
            ("**BookTable** (seats=2)", True),
            ("*BookTable*(seats=2)", False),
            ('{"BookTable"(seats=2)}', True),
            ("{'BookTable'}(seats=2)", True),
            ('{"BookTable": (seats=2)}', True),
            ('"BookTable"(seats=2)', False),
        ],
    )
    def test_2_4_to_2_7_decorated_names(self, text, found):
        assert read(text) == (["BookTable.seats=2"] if found else [])

    def test_2_6_underscores_are_part_of_the_name(self):
        assert read("_BookTable_(seats=2)") == ["_BookTable_.seats=2"]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('{"BookTable", seats=2, quiet=true}', ["BookTable.seats=2", "BookTable.quiet=True"]),
            ("  {'BookTable',\n seats=2\n}  ", ["BookTable.seats=2"]),
            ('{"BookTable", seats=2,\n quiet=true}', []),
            ('{"BookTable", seats: 2}', []),
            ('so: {"BookTable", seats=2}', []),
        ],
    )
    def test_2_5_brace_pair_with_a_comma(self, text, expected):
        assert read(text) == expected

    def test_2_8_quoted_argument_names_lose_their_quotes(self):
        assert read("BookTable(\"seats\"=2, 'quiet' = true)") == ["BookTable.seats=2", "BookTable.quiet=True"]

    @pytest.mark.parametrize(
        ("text", "repaired"),
        [
            ("{BookTable(seats=2}", True),
            ("BookTable(seats=2}", True),
            ('{"BookTable"(seats=2} ', True),
            ('{BookTable(seats="2"}', True),
            ("BookTable(seats=2", False),
            ("BookTable(seats=2]", False),
            ("Well: {BookTable(seats=2}", False),
            ("BookTable((seats=2}", False),
        ],
    )
    def test_2_9_a_missing_parenthesis_is_only_put_before_a_last_brace(self, text, repaired):
        assert bool(read(text)) is repaired

    def test_2_9_parentheses_in_quotes_do_not_count(self):
        assert call_strings('{PlaySong(artist="x ("}') == ['PlaySong(artist="x (")']


class TestJson:
    @pytest.mark.parametrize(
        "text",
        [
            '{"name": "BookTable", "arguments": {"seats": "2"}}',
            '{"tool": "BookTable", "args": {"seats": "2"}}',
            '{"FUNCTION": "BookTable", "Parameters": {"seats": "2"}}',
            '{"domain": "x", "name": "BookTable", "args": {"seats": "9"}, "arguments": {"seats": "2"}}',
            '{"name": "BookTable", "seats": "2", "reasoning": "r", "model_name": "m", "domain": "d"}',
            '{"BookTable": {"seats": "2"}}',
            '{"BookTable": {"seats": "9"}, "BookTable": {"seats": "2"}}',
            '{"calls": [{"BookTable": {"seats": "2"}}], "PlaySong": {"artist": "x"}}',
            '[[{"BookTable": {"seats": "2"}}], "PlaySong(artist=x)", 3]',
            '{"BookTable": [{"seats": "2"}]}',
            '{"name": " BookTable ", "arguments": {"seats": "2", "quiet": null}}',
        ],
    )
    def test_3_forms(self, text):
        assert read(text) == ["BookTable.seats=2"]

    @pytest.mark.parametrize(
        ("text", "calls"),
        [
            ('{"BookTable": null}', ["BookTable()"]),
            ('{"BookTable": []}', ['BookTable(value="[]")']),
            ('{"BookTable": "two"}', ['BookTable(value="two")']),
            ('{"BookTable": [{"seats": 1}, "x"]}', ["BookTable(value=\"[{'seats': 1}, 'x']\")"]),
            ('{"BookTable": [{"seats": 1}, {"seats": 2}]}', ['BookTable(seats="1")', 'BookTable(seats="2")']),
            ('{"name": "BookTable", "arguments": "{\\"seats\\": 2}"}', ["BookTable()"]),
            ('{"name": "BookTable", "arguments": [{"seats": 2}]}', ["BookTable()"]),
            ('{"name": 7, "seats": 2}', []),
            ('{"function": {"name": "BookTable", "arguments": {"seats": 2}}}', []),
            ('{"calls": {"BookTable": {"seats": 2}}}', ["calls(BookTable=\"{'seats': 2}\")"]),
            ('{"reasoning": "x", "raw_content": {}, "BookTable": {}}', ["BookTable()"]),
        ],
    )
    def test_3_oddities(self, text, calls):
        assert call_strings(text) == calls

    def test_3_values_become_python_text(self):
        text = '{"F": {"a": true, "b": 2, "c": 2.0, "d": NaN, "e": ["x"], "f": {"g": 1}, "h": "true", "i": null}}'
        values = ["F.a=True", "F.b=2", "F.c=2.0", "F.d=nan", "F.e=['x']", "F.f={'g': 1}", "F.h=true"]
        assert read(text) == values

    def test_3_json_counts_only_as_the_whole_text(self):
        assert call_strings('Here: {"BookTable": {"seats": 2}}') == []
        assert call_strings('\ufeff{"BookTable": {"seats": 2}}') == []
        assert call_strings('{"F": {"a": 1}} {"F": {"a": 2}}') == []

    def test_3_json_without_a_call_is_searched_as_text(self):
        assert read("[\"PlaySong(artist='Bo')\"]") == ["PlaySong.artist=Bo"]

    def test_5_a_json_call_must_match_whole(self):
        assert read('{"Book Table": {"seats": 2}}') == []
        assert read('{"PlaySong": {"artist": "a\\nb"}}') == []
        assert not score_item(["F(a=1)"], '{"Book Table": {"seats": 2}}', SLOTS).parse_failed
        assert read('{"PlaySong": {"artist": "Bo (live)"}}') == ["PlaySong.artist=Bo (live)"]

    def test_5_quotes_inside_json_values_are_not_escaped(self):
        assert read('{"F": {"a": "x\\"y", "b": "2"}}') == ['F.a=x"y", b="2']


class TestText:
    @pytest.mark.parametrize(
        ("text", "calls"),
        [
            ("a.b.F(x=1) 7G(y=2) ÉH(z=3)", ["F(x=1)", "G(y=2)", "H(z=3)"]),
            ("F \n (x=1)", ["F \n (x=1)"]),
            ("F(x=\n1)", []),
            ("F(x=\r\n1)", []),
            ("F(x=\r1)", ["F(x=\r1)"]),
            ("F(x=G(y=1), z=2)", ["F(x=G(y=1)"]),
            ("F(x=1\nG(y=2)", ["G(y=2)"]),
            ("((F(x=1)))", ["F(x=1)"]),
            ("a room (quiet) and F()", ["room (quiet)", "F()"]),
            ("7(x=1)", []),
            ("F（x=1）", []),
        ],
    )
    def test_4_calls_in_text(self, text, calls):
        assert call_strings(text) == calls

    @pytest.mark.parametrize(
        ("call", "values"),
        [
            ("F(a='x, y', b=\"z\")", {"a": "x, y", "b": "z"}),
            ("F(a=x, y, b=1)", {"a": "x", "b": "1"}),
            (r"F(a=\"x\", b=1)", {"a": r"\"x\"", "b": "1"}),
            (r'F(a="x\", y", b=1)', {"a": r"x\", y", "b": "1"}),
            ("F(a=[1, 2])", {"a": "[1"}),
            ("F(1, a: 2, b=3)", {"b": "3"}),
            ("F(a==1, b:=2)", {"a": "=1", "b:": "2"}),
            ('F(a=TRUE, b=false, c="true")', {"a": "True", "b": "False", "c": "true"}),
            ("F(a=\" x \", b=, c='')", {"a": " x ", "b": "", "c": ""}),
            ("F(a=it's, b=2)", {"a": "it's, b=2"}),
            ("F(a=“x”, b=`y`, c=None)", {"a": "“x”", "b": "`y`", "c": "None"}),
            ("F(a=')", {"a": "'"}),
            ("F(a='x\")", {"a": "'x\""}),
        ],
    )
    def test_5_arguments(self, call, values):
        assert {argument: value for _, argument, value in call_triples(call)} == values


class TestDatesAndTimes:
    @pytest.mark.parametrize(
        ("argument", "value", "normal"),
        [
            ("date", "April 7th", "04-07"),
            ("date", "2019-04-07", "04-07"),
            ("checkout_Date", "April", "04-15"),
            ("holiday", "4", "04-15"),
            ("date", "20", "06-20"),
            ("date", "31", "06-15"),
            ("date", "99", "06-15"),
            ("date", "0", "0"),
            ("date", "100", "100"),
            ("date", "02/03/2020", "02-03"),
            ("date", "20200203", "20200203"),
            ("date", "tomorrow", "06-16"),
            ("date", "whenever", "whenever"),
            ("date", "", ""),
            ("number_of_days", "2", "02-15"),
            ("time", "6 pm", "18:00"),
            ("datetime", "April 7th 18:20", "18:20"),
            ("sometimes", "6:05 pm", "18:05"),
            ("time", "6", "00:00"),
            ("time", "1830", "00:00"),
            ("time", "evening", "evening"),
            ("time", "25:00", "25:00"),
            ("time", "half past 6", "half past 6"),
            ("city", "April 7th", "April 7th"),
        ],
    )
    def test_6_by_slot_name(self, argument, value, normal):
        assert normal_value(argument, value, TODAY) == normal

    def test_6_today_decides_relative_dates(self):
        assert normal_value("date", "tomorrow", datetime(2024, 2, 29, 12)) == "03-01"

    def test_6_the_short_way_for_iso_values_reads_as_dateparser_does(self):
        for month, day in ((1, 1), (2, 28), (3, 5), (12, 28)):
            value = f"2019-{month:02d}-{day:02d}"
            assert normal_value("date", value, TODAY) == reference._dateparsed(value, "%m-%d", TODAY)
        for value in ("00:00", "09:30", "18:15", "23:59"):
            assert normal_value("time", value, TODAY) == reference._dateparsed(value, "%H:%M", TODAY)

    def test_6_scores_do_not_depend_on_the_time_zone_of_the_machine(self):
        values = ("1552000000", "6pm EST", "in 2 hours")
        code = f"from eval.metrics.reference import *; print([normal_value('time', v) for v in {values}])"
        seen = {
            subprocess.run(
                [sys.executable, "-c", code], env={"TZ": zone, "PYTHONPATH": ":".join(sys.path)}, capture_output=True
            ).stdout
            for zone in ("UTC", "Asia/Seoul")
        }
        assert len(seen) == 1
        assert b"23:06" in seen.pop()

    def test_without_dateparser_scoring_fails_loudly(self, monkeypatch):
        reference._dateparser.cache_clear()
        monkeypatch.setitem(sys.modules, "dateparser", None)
        with pytest.raises(reference.MissingExtra, match=r"pip install 'prefine-dspy\[eval\]'"):
            score_item(["F(a=1)"], "F(a=1)", SLOTS)
        reference._dateparser.cache_clear()


class TestCounting:
    @pytest.mark.parametrize(
        ("gold", "prediction", "counts"),
        [
            (["F(a=1, b=2)"], "F(a=1, b=2)", (2, 0, 0)),
            (["F(a=1)"], "F(a=2)", (0, 1, 1)),
            (["F(a=1)"], "G(a=1)", (0, 1, 1)),
            (["F(a=1)"], "f(A=1)", (0, 1, 1)),
            (["F(a=1)"], "", (0, 0, 1)),
            (["F()"], "F(a=1)", (0, 1, 0)),
            (["F(a=1)", "F(a=2)"], "F(a=2)", (1, 0, 0)),
            (["F(a=1, b=1)", "F(a=2, b=2)"], "F(a=1, b=2)", (2, 0, 0)),
            (["F(a=1)", "F(a=1, b=2)"], "F(a=1)", (1, 0, 1)),
            (["F(a=1)"], "F(a=9, a=1)", (1, 0, 0)),
            (["F(a=1)"], "F(a=8, a=9)", (0, 1, 1)),
            (["F(a=1, b=2)"], "F(b=2) F(a=1) F(a=1)", (2, 0, 0)),
            (["F(a=Café)"], "F(a=Cafe\u0301)", (0, 1, 1)),
        ],
    )
    def test_7_counts(self, gold, prediction, counts):
        assert tuple(score_item(gold, prediction, SLOTS).overall) == counts

    def test_7_ratios_without_a_denominator_are_0(self):
        score = score_item(["F()"], "", SLOTS)
        assert (score.overall.precision, score.overall.recall, score.overall.f1) == (0, 0, 0)
        assert score.pref_exact_match
        assert score.parse_failed

    def test_8_split_by_function_and_slot_name(self):
        score = score_item(["BookTable(seats=2, city=Oslo)"], "PlaySong(artist=Bo, seats=2)", SLOTS)
        assert tuple(score.pref) == (0, 1, 1)
        assert tuple(score.nonpref) == (0, 1, 1)
        assert tuple(score.overall) == (0, 2, 2)
        assert not score.pref_exact_match

    def test_8_exact_match_looks_at_preferences_only(self):
        assert score_item(["BookTable(seats=2, city=Oslo)"], "BookTable(seats=2, city=Rome)", SLOTS).pref_exact_match
        assert score_item(["BookTable(city=Oslo)"], "nothing", SLOTS).pref_exact_match

    def test_8_calls_without_arguments_are_no_parse_failure(self):
        score = score_item(["BookTable(seats=2)"], "BookTable()", SLOTS)
        assert not score.parse_failed
        assert score.abstained
        assert score.function_right

    def test_8_an_empty_preference_list_is_refused(self):
        with pytest.raises(ValueError, match="preference slots are empty"):
            score_item(["F(a=1)"], "F(a=1)", {})


@pytest.mark.parametrize(
    "text",
    [
        "(",
        "f(",
        "a",
        "a ",
        "f(a=1 ",
        "{",
        '{"a":',
        "[",
        "<think>",
        "```",
        "'a'",
        "{a}",
        '{"a"',
        "**a**",
        "\\",
        "f(a=')",
        " ",
    ],
)
def test_long_hostile_text_takes_linear_time(text):
    start = time.perf_counter()
    ReadField.of(text * (300_000 // len(text)))
    assert time.perf_counter() - start < 3
