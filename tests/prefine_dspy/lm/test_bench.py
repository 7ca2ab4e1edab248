import json
import sys

import pytest

from prefine_dspy.lm import bench
from prefine_dspy.lm.bench import Call, Side, measure, queries, table
from prefine_dspy.lm.bench_tools import catalogue
from prefine_dspy.tools import Catalogue

COLD = Call(seconds=3, prompt=100, cached=0, generated=20, prompt_seconds=2, generated_seconds=1, finished=True)
WARM = Call(seconds=1, prompt=100, cached=90, generated=10, prompt_seconds=0.5, generated_seconds=0.5, finished=False)


@pytest.fixture
def run(monkeypatch, capfd):
    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["bench", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            bench.main()
        out = capfd.readouterr()
        return end.value.code or 0, out.out, out.err

    return command


def test_figures_are_means_over_all_calls():
    figures = Side([COLD, WARM]).figures()
    assert figures["seconds a call"] == 2
    assert figures["% of them from the prefix cache"] == 45
    assert figures["prompt tokens per second, cached included"] == 80
    assert figures["prompt tokens per second, evaluated"] == pytest.approx(44)
    assert figures["generated tokens per second"] == 20
    assert figures["% of answers cut off"] == 50


def test_the_table_has_both_sides_and_their_ratio():
    lines = table(Side([COLD]), Side([WARM])).splitlines()
    assert lines[0].split() == ["plain", "engine", "engine/plain"]
    assert lines[1].split() == ["seconds", "a", "call", "3.0", "1.0", "0.33"]
    assert lines[-1].split()[-1] == "-"  # nothing was cut off on the plain side


def test_the_built_in_tools_are_a_long_prefix():
    tools = catalogue()
    assert len(tools) == 25
    assert 2400 < len(tools.prompt_text()) < 4000  # characters; about 3 make a token
    flight = tools.get("BookFlight")
    assert flight.parameter("cabin").choices() == ("economy", "premium", "business")
    assert flight.parameter("date").transient and not flight.parameter("cabin").transient


@pytest.mark.parametrize("n", [1, 6, 40])
def test_queries_differ_and_are_always_the_same(n):
    asked = queries(catalogue(), n)
    assert len({query.turns[0].text for query in asked}) == n
    assert asked == queries(catalogue(), n)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot read"),
        ("[]", "at least one tool"),
        ('[{"nam": 1}]', "is no list of tools"),
        ("{", "no list of tools"),
    ],
)
def test_tools_that_cannot_be_read_are_one_line(run, tmp_path, content, says):
    path = tmp_path / "tools.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    code, _, err = run("--tools", path)
    assert code == 2
    assert err.startswith("error: ") and says in err and err.count("\n") == 1


def test_only_models_in_this_process_are_compared(run):
    code, _, err = run("--lm", "openai/gpt-5-mini")
    assert (code, err.count("\n")) == (2, 1)
    assert "give --lm local" in err


@pytest.mark.tiny_lm
def test_both_sides_get_the_same_prompts(tiny):
    plain, ours = measure(tiny, Catalogue(catalogue().tools[:2]), n=2)
    assert [call.prompt for call in plain.calls] == [call.prompt for call in ours.calls]
    assert all(side.calls[-1].cached > 50 for side in (plain, ours))
    assert all(call.generated > 0 and call.seconds > 0 for side in (plain, ours) for call in side.calls)


@pytest.mark.tiny_lm
def test_the_command_prints_the_table_and_nothing_else(run, tmp_path):
    path = tmp_path / "tools.json"
    tools = [tool.model_dump() for tool in catalogue().tools[:2]]
    path.write_text(json.dumps(tools), encoding="utf-8")
    code, out, err = run("--lm", "local:smollm2-135m", "--n", 2, "--threads", 1, "--tools", path)
    assert (code, err) == (0, "")
    assert out.startswith("2 queries over one catalogue of ")
    assert "seconds a call" in out
