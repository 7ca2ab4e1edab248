"""Saving and loading compiled programs: what is refused, what never reaches a file, and what must load for ever."""

from __future__ import annotations

import json
from pathlib import Path

import dspy
import pytest

import prefine_dspy.artifact as artifact
from prefine_dspy.artifact import VersionWarning, find_program, load_program, save_program
from prefine_dspy.errors import InputError
from prefine_dspy.manifest import LMPart, Manifest, OptimizerPart, ProgramPart
from prefine_dspy.prefine import PRefine
from prefine_dspy.types import History, Query
from tests.scripted_lm import Script, lm_of, prompt_of, verdict
from tests.small_world import SESSIONS, TOOLS

RELEASES = sorted((Path(__file__).parent / "resources" / "releases").glob("*/*/manifest.json"))
MANIFEST = Manifest(
    program=ProgramPart(name="prefine", class_path="prefine_dspy.prefine:PRefine", options={"K": 2}),
    optimizer=OptimizerPart(name="labeled", seed=3),
)
CALL = {"function": "GetFlights", "arguments": {"flight_class": "Economy"}}


def compiled() -> PRefine:
    program = PRefine(K=2)
    program.caller.call_tool.demos = [dspy.Example(memory="Prefers Zürich 日本.", query="User: Fly", call=CALL)]
    program.memory.verify.signature = program.memory.verify.signature.with_instructions("Judge it strictly.")
    return program


@pytest.fixture
def folder(tmp_path):
    save_program(compiled(), tmp_path / "one", MANIFEST)
    return tmp_path / "one"


def edit(path: Path, change):
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def test_what_was_saved_is_loaded(folder, recwarn):
    program, manifest = load_program(folder)
    assert dict(program.caller.call_tool.demos[0])["call"] == CALL
    assert program.memory.verify.signature.instructions == "Judge it strictly."
    assert program.memory.K == 2
    assert manifest.optimizer == MANIFEST.optimizer
    assert manifest.versions["dspy"] == dspy.__version__
    assert not [one for one in recwarn if issubclass(one.category, VersionWarning)]


def test_a_loaded_program_works_and_shows_its_demonstrations(folder):
    script = Script([{"call": {"function": "GetFlights", "arguments": {"flight_class": "Economy"}}}])
    program = load_program(folder).program
    with dspy.context(lm=lm_of(script)):
        answer = program.caller(query=Query.of("Fly me somewhere"), tools=TOOLS, memory="Prefers low-cost options.")
    assert answer.calls[0].arguments == {"flight_class": "Economy"}
    assert "Zürich 日本" in str(script.requests[0])


def test_options_can_be_changed_at_loading(folder):
    assert load_program(folder, K=4).program.memory.K == 4
    with pytest.raises(InputError, match="prefine"):
        load_program(folder, colour="red")


def test_saving_again_gives_the_same_files(folder, tmp_path):
    program, manifest = load_program(folder)
    save_program(program, tmp_path / "two", manifest)
    for name in ("program.json", "manifest.json"):
        assert (tmp_path / "two" / name).read_bytes() == (folder / name).read_bytes()


class TestDrift:
    """DSPy would load all of these silently."""

    def refuses(self, folder, match):
        with pytest.raises(InputError, match=match):
            load_program(folder)

    def fields(self, document, predictor="memory.verify"):
        return document["signatures"][predictor]["fields"]

    def test_a_renamed_field_is_named(self, folder):
        edit(folder / "manifest.json", lambda m: self.fields(m)[1].update(name="guess"))
        self.refuses(folder, r"memory\.verify: field 2 was 'guess' and is 'hypothesis'")

    def test_a_reordered_field_is_named(self, folder):
        edit(folder / "manifest.json", lambda m: self.fields(m).reverse())
        self.refuses(folder, r"memory\.verify: field 1 was 'feedback' and is 'record'")

    def test_another_type_is_named(self, folder):
        edit(folder / "manifest.json", lambda m: self.fields(m)[2].update(type="int"))
        self.refuses(folder, r"'evidence_support' was output evidence_support: int and is .*bool")

    def test_a_new_field_is_named(self, folder):
        edit(folder / "manifest.json", lambda m: self.fields(m).pop())
        self.refuses(folder, r"field output feedback: str is new")

    def test_a_predictor_that_was_not_saved_is_named(self, folder):
        edit(folder / "manifest.json", lambda m: m["signatures"].pop("memory.refine"))
        self.refuses(folder, r"memory\.refine that was not saved")

    def test_a_predictor_that_is_gone_is_named(self, folder):
        edit(folder / "manifest.json", lambda m: m["signatures"].update(more=m["signatures"]["memory.refine"]))
        self.refuses(folder, "saved predictor more is not in the program")

    def test_a_state_of_another_program_is_refused(self, folder):
        edit(folder / "program.json", lambda s: s["memory.generate"]["signature"].update(instructions="Guess."))
        self.refuses(folder, r"memory\.generate: instructions in program\.json is not what manifest\.json was written")

    @pytest.mark.parametrize(
        ("change", "names"),
        [
            (lambda one: one["signature"]["fields"][1].update(description="Anything."), "field hypothesis"),
            (lambda one: one.update(demos=[{"record": "x"}]), "demos"),
            (lambda one: one.update(signature=5), "instructions, field record"),
            (lambda one: one.update(traces=[1]), "the state"),
        ],
    )
    def test_what_was_changed_in_the_state_is_named(self, folder, change, names):
        edit(folder / "program.json", lambda s: change(s["memory.verify"]))
        self.refuses(folder, rf"memory\.verify: {names}.* in program\.json is not what manifest\.json")

    def test_a_state_that_is_no_state_is_refused(self, folder):
        edit(folder / "program.json", lambda s: s.update({"memory.verify": 5}))
        self.refuses(folder, r"memory\.verify: the state in program\.json is not what")

    def test_a_manifest_without_the_parts_still_tells_a_changed_state(self, folder):
        edit(folder / "manifest.json", lambda m: [one.pop("parts") for one in m["signatures"].values()])
        load_program(folder)
        edit(folder / "program.json", lambda s: s["memory.generate"]["signature"].update(instructions="Guess."))
        self.refuses(folder, r"memory\.generate: the state in program\.json is not what")

    def test_changed_instructions_of_the_code_are_told_and_the_compiled_ones_used(self, folder):
        edit(folder / "manifest.json", lambda m: m["signatures"]["memory.refine"].update(instructions="0" * 64))
        with pytest.warns(VersionWarning, match="instructions of memory.refine have changed"):
            load_program(folder)

    def test_the_compiled_instructions_are_what_an_lm_reads_whatever_the_code_says(self, tmp_path):
        """Why changed instructions of the code are only told: the program behaves as it was scored."""
        program = PRefine(K=1)
        own = {name: predictor.signature.instructions for name, predictor in program.named_predictors()}
        for name, predictor in program.named_predictors():
            predictor.signature = predictor.signature.with_instructions(f"Compiled words of {name}.")
        save_program(program, tmp_path / "one", MANIFEST)
        script = Script(
            [{"hypothesis": "Saves"}, verdict(False), {"refined": "Saves money"}, verdict(), {"call": CALL}]
        )
        loaded = load_program(tmp_path / "one").program
        with dspy.context(lm=lm_of(script)):
            loaded(History(id="h", sessions=SESSIONS[:1]), Query.of("Fly me somewhere"), TOOLS)
        asked = ["generate", "verify", "refine", "verify", "call"]
        assert script.stages == asked
        for stage, request in zip(asked, script.requests, strict=True):
            name = "caller.call_tool" if stage == "call" else f"memory.{stage}"
            assert f"Compiled words of {name}." in prompt_of(request)
            assert own[name] not in prompt_of(request)

    def test_another_dspy_is_told(self, folder):
        edit(folder / "manifest.json", lambda m: m["versions"].update(dspy="3.0.1"))
        with pytest.warns(VersionWarning, match="compiled with dspy 3.0.1"):
            load_program(folder)

    def test_a_newer_format_says_what_to_do(self, folder):
        edit(folder / "manifest.json", lambda m: m.update(format_version=2))
        self.refuses(folder, "pip install --upgrade")

    @pytest.mark.parametrize("name", ["program.json", "manifest.json"])
    @pytest.mark.parametrize("text", ["", "[1]", "{", '{"a": 1}'])
    def test_damaged_files_are_one_line(self, folder, name, text):
        (folder / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as error:
            load_program(folder)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("path", ["os:system", "prefine_dspy.errors:InputError", "prefine_dspy.nowhere:X"])
    def test_a_folder_does_not_choose_what_code_runs(self, folder, path):
        edit(folder / "manifest.json", lambda m: m["program"].update(class_path=path))
        self.refuses(folder, "no program")


class TestFinding:
    def test_by_name_among_the_shipped(self, tmp_path, monkeypatch):
        save_program(compiled(), tmp_path / "shipped" / "prefine-test", MANIFEST)
        monkeypatch.setattr(artifact, "_SHIPPED", (tmp_path / "shipped",))
        monkeypatch.chdir(tmp_path)
        for name in ("prefine-test", "optimized/prefine-test", Path("prefine-test")):
            assert find_program(name).name == "prefine-test"

    @pytest.mark.parametrize("name", ["", "nothing-here", "../../etc", "/nowhere"])
    def test_what_is_not_there_is_said_with_what_is(self, name):
        with pytest.raises(InputError, match="no compiled program"):
            load_program(name)


class TestSecrets:
    CANARIES = ("sk-canary-key", "canary-header", "canary.example.com", "canary user text", "/home/canary")

    def lm(self):
        return dspy.LM(
            "openai/gpt-5-mini",
            temperature=1.0,
            max_tokens=20_000,
            api_key="sk-canary-key",
            api_base="https://canary.example.com/v1",
            extra_headers={"Authorization": "canary-header"},
        )

    def test_no_key_header_address_or_trace_reaches_the_files(self, tmp_path):
        program = compiled()
        program.set_lm(self.lm())
        program.memory.generate.traces = [{"session": "canary user text"}]
        program.memory.generate.train = ["canary user text"]
        manifest = MANIFEST.model_copy(update={"lms": {"lm": LMPart.of(self.lm())}})
        save_program(program, tmp_path / "out", manifest)
        for file in (tmp_path / "out").iterdir():
            text = file.read_text(encoding="utf-8")
            assert not [canary for canary in self.CANARIES if canary in text], file
        assert load_program(tmp_path / "out").program.caller.call_tool.lm is None

    @pytest.mark.parametrize(
        "model, kept",
        [
            ("openai/gpt-5-mini", "openai/gpt-5-mini"),
            ("vllm-1a2b3c4d//home/canary/models/qwen", "vllm-1a2b3c4d/qwen"),
            ("llamacpp/qwen2.5@0123-ctx16384", "llamacpp/qwen2.5@0123-ctx16384"),
        ],
    )
    def test_a_model_string_loses_its_path(self, model, kept):
        lm = Script([])
        found = LMPart.of(dspy.LM(model, engine=lm, temperature=0.0, seed=4))
        assert found.model == kept
        assert found.settings == {"temperature": 0.0, "seed": 4}

    def test_a_state_that_brings_an_lm_is_loaded_without_it(self, folder):
        def bring(state):
            state["caller.call_tool"]["lm"] = {"model": "openai/evil", "api_base": "https://canary.example.com"}

        edit(folder / "program.json", bring)
        assert load_program(folder).program.caller.call_tool.lm is None


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: f"{path.parents[1].name}/{path.parent.name}")
@pytest.mark.filterwarnings("ignore::prefine_dspy.artifact.VersionWarning")
def test_a_state_saved_by_each_release_loads_for_ever(path):
    """At each release a program of each kind is put beside these, as compiled by that release."""
    program, manifest = load_program(path.parent)
    assert manifest.versions["prefine-dspy"] == path.parents[1].name
    assert all(predictor.demos for _, predictor in program.named_predictors())


def test_there_is_a_state_of_the_first_release():
    assert {path.parents[1].name for path in RELEASES} >= {"0.1.0"}
