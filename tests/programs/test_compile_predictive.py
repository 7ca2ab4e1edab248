"""`programs.compile --metric predictive`: no label is read, nothing of a user is stored, and what the compilation data
lacked is still found."""

import json

import dspy
import pytest
from call_logs import chat, definition, write
from letter_server import letter_lm
from predictive_world import (
    ALONE,
    CHEAP,
    DEAR,
    DEAR_FLIGHT,
    DEAR_FOOD,
    DEAR_HOTEL,
    FLIGHT,
    FOOD,
    HOTEL,
    TOOLS,
    call,
    taste,
)
from scripted_lm import verdict
from small_world import session
from typer.testing import CliRunner

from eval.compiling import predictive_forecast, predictive_source
from eval.data.preferences import Mapping
from eval.data.splits import Sources
from eval.instance import Benchmark
from prefine_dspy.artifact import load_program
from prefine_dspy.lm.values import ask
from prefine_dspy.types import History, Memory
from programs import load_system
from programs.compile import app

SMALL = ["--train-histories", "6", "--dev-histories", "4", "--test-histories", "2", "--bootstrap-histories", "6"]
LONELY = (call("GetFlights", passengers="1", destination="Oslo"), call("GetEvents", tickets="1"))
LIVES = {"cheap": (FLIGHT, HOTEL, FOOD, FOOD, FLIGHT, HOTEL), "alone": LONELY * 3}
USERS = {f"{life}{n}": life for n in range(6) for life in LIVES}


def history(name, calls):
    return History(id=name, sessions=tuple(session(f"{name}-{at}", one) for at, one in enumerate(calls)))


def writer(messages):
    """A generator and refiner that read the record; they know more preferences than the compilation data has."""
    read = messages[-1]["content"]
    said = DEAR if any(one in read for one in ("Business", "=5", "pricey")) else ALONE if "=1" not in read else None
    if said is None:
        said = ALONE if "passengers=1" in read or "tickets=1" in read else CHEAP
    if "feedback:" in read:
        return {"refined": said}
    return verdict() if "hypothesis:" in read else {"hypothesis": said}


class Poison:
    """A label: whoever reads anything of it fails."""

    def __getattr__(self, name):
        raise AssertionError(f"a label was read: {name}")


@pytest.fixture
def server(monkeypatch):
    lm, server = letter_lm(monkeypatch, taste, writer)
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: lm)
    server.lm = lm
    yield server
    server.close()


@pytest.fixture
def labelled(monkeypatch):
    """A benchmark of users who want it cheap or go alone; nobody wants luxury."""
    histories = {name: history(name, LIVES[life]) for name, life in USERS.items()}
    benchmark = Benchmark("small", histories, [Poison()] * 20, {"base": TOOLS}, {}, "small1")
    monkeypatch.setattr(predictive_source, "load_benchmark", lambda data: benchmark)
    sources = {name: Sources(frozenset({name}), frozenset()) for name in histories}
    monkeypatch.setattr(predictive_source, "sources_of", lambda data, those: sources)
    for name in ("label", "labels", "realisations", "stances", "arguments"):
        monkeypatch.setattr(Mapping, name, lambda *words: pytest.fail("the mapping of preferences was read"))


def compile_(tmp_path, *words, program="predictive:samples=1,evidence=0", optimizer="bootstrap", expect=0):
    arguments = ["--program", program, "--optimizer", optimizer, "--lm", "letters", "--metric", "predictive", *SMALL]
    arguments += ["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work"), *words]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == expect, result.output + str(result.exception)
    return result


def logs(tmp_path):
    tools = [
        definition(tool.name, **{one.name: one.choices() for one in tool.parameters if not one.transient})
        for tool in TOOLS
    ]
    return write(
        tmp_path,
        *(
            {"user": user, "messages": chat(one.name, **one.arguments), "tools": tools}
            for user, life in USERS.items()
            for one in LIVES[life]
        ),
    )


def test_what_is_learned_needs_no_label_holds_no_users_value_and_leaves_room_for_what_it_never_saw(
    tmp_path, server, labelled
):
    result = compile_(tmp_path, "--data", "small", "--part", "learned")
    assert "verify_threshold" in result.stdout and "LIKELIHOOD" in result.stdout
    written = [(tmp_path / "out" / name).read_text(encoding="utf-8") for name in ("program.json", "manifest.json")]
    assert "Oslo" not in str(written) and "cheap0" not in str(written)
    manifest = json.loads(written[1])
    learned = manifest["program"]["options"]
    assert learned["bank"] and set(learned["bank"]) <= {CHEAP, ALONE}
    assert learned["verify_threshold"] > 0 and learned["threshold"] > 0
    curve = manifest["optimizer"]["arguments"]["learned"]["threshold"]
    assert curve[0]["accuracy"] == 1.0 and {"threshold", "coverage", "f1"} <= set(curve[0])
    assert manifest["optimizer"]["metric"] == {"learned": "predictive_likelihood"}
    assert manifest["scores"]["test"]["after"]["likelihood"]["n"] == 2

    # luxury is in no code, no prompt and no history that was compiled on
    everything = json.dumps([written, load_system("predictive").program.dump_state()])
    assert "luxury" not in everything.casefold()
    program = load_program(tmp_path / "out").program
    rich = history("rich", (DEAR_FLIGHT, DEAR_HOTEL, DEAR_FOOD))
    memory = Memory()
    with dspy.context(lm=server.lm):
        for seen in range(1, 4):
            memory = program.update(memory, rich.sessions[:seen], TOOLS).memory
        answer = program.caller.consider(call("GetHotels"), TOOLS.get("GetHotels"), TOOLS, memory)
    assert memory.text == f"{DEAR}."
    assert [(one.argument, one.value) for one in answer if one.filled] == [("average_star", "5")]


def test_demonstrations_come_from_runs_that_foretold_what_came_on_anyones_logs(tmp_path, server):
    file = str(logs(tmp_path))
    refused = compile_(tmp_path, "--data", file, expect=2)
    assert "--allow-user-text" in refused.stderr and "--part learned" in refused.stderr
    compile_(tmp_path, "--data", file, "--part", "memory", "--allow-user-text")
    state = json.loads((tmp_path / "out" / "program.json").read_text(encoding="utf-8"))
    assert all(demo["augmented"] for demo in state["memory.generate"]["demos"])
    assert {demo["hypothesis"] for demo in state["memory.generate"]["demos"]} <= {CHEAP, ALONE}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["data"]["name"] == "call logs" and manifest["data"]["splits"]["train"]["histories"] == 6
    assert manifest["cost"]["lm_calls"] > 0


def test_the_dry_run_counts_questions_and_asks_none(tmp_path, server, labelled):
    result = compile_(tmp_path, "--data", "small", "--part", "learned", "--dry-run")
    assert "learned: verify_threshold: questions" in result.stdout and "in all" in result.stdout
    assert not server.prompts and not server.chats


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--optimizer", "labeled"], "--optimizer bootstrap-rs or gepa"),
        (["--program", "full_history"], "for --program prefine or predictive"),
        (["--program", "prefine", "--part", "learned"], "prefine has no part 'learned'"),
        (["--program", "interpret"], "use --metric em or f1"),
        (["--metric", "em"], "--metric em is not for this program: leave it out or give predictive"),
    ],
)
def test_what_does_not_go_together_is_said(tmp_path, server, labelled, words, said):
    result = compile_(tmp_path, "--data", "small", "--allow-user-text", *words, expect=2)
    assert said in result.stderr


def test_logs_have_no_gold(tmp_path, server):
    arguments = ["--program", "prefine", "--optimizer", "labeled", "--lm", "letters", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*arguments, "--data", str(logs(tmp_path))])
    assert result.exit_code == 2 and "add --metric predictive" in result.stderr


@pytest.mark.parametrize("optimizer", ["bootstrap-rs", "gepa", "simba"])
@pytest.mark.parametrize("program", ["predictive:samples=1", "prefine:K=1"])
def test_optimizers_that_compare_programs_compare_likelihoods(tmp_path, server, labelled, optimizer, program):
    few = ["--part", "memory", "--candidates", "2", "--trials", "1", "--steps", "1", "--allow-user-text"]
    compile_(tmp_path, "--data", "small", *few, program=program, optimizer=optimizer)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["optimizer"]["metric"] == {"memory": "predictive_likelihood"}
    dev = manifest["scores"]["dev"]
    assert dev["after"]["likelihood"]["value"] >= dev["before"]["likelihood"]["value"] > 0.5
    load_program(tmp_path / "out")


def test_a_budget_that_ends_in_questions_is_kept_and_gone_on_with(tmp_path, server, labelled, monkeypatch):
    # this LM and these users take far fewer calls than are foretold
    for name in ("QUESTIONS_PER_SESSION", "QUESTIONS_PER_HISTORY", "CALLS_PER_SESSION"):
        monkeypatch.setattr(predictive_forecast, name, 0)
    words = ["--data", "small", "--part", "learned"]
    result = compile_(tmp_path, *words, "--max-calls", "20", expect=3)
    cost = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["cost"]["lm_calls"]
    assert 5 < cost <= 20 and "learned: not compiled" in result.stdout
    ask._SHARED.clear()
    compile_(tmp_path, *words, "--max-calls", "5000", "--resume")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["program"]["options"]["bank"]
