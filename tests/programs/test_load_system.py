import pytest

from prefine_dspy.artifact import save_program
from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.manifest import Manifest, OptimizerPart, ProgramPart
from prefine_dspy.taps import Taps
from programs import SYSTEMS, compiled_options, load_system, systems_for


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_system_can_be_loaded_and_knows_its_name(name):
    try:
        system = load_system(name)
    except MissingExtra as missing:
        assert name in ("rag", "mem0", "langmem", "amem")
        pytest.skip(str(missing))
    assert system.name == name
    assert system.program.named_predictors()


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"no program is called 'prefin'; known: .*full_history, .*prefine"):
        load_system("prefin")


def test_an_unknown_option_lists_the_known_ones():
    with pytest.raises(InputError, match="prefine has no option k; known: K, .*loop, record"):
        load_system("prefine", k=3)
    with pytest.raises(InputError, match="full_history has no option K; known: none"):
        load_system("full_history", K=3)


def test_a_wrong_value_is_an_error_of_ours():
    with pytest.raises(InputError, match="K must be a whole number, 0 or more, not -2"):
        load_system("prefine", K=-2)


@pytest.mark.parametrize(
    "options",
    [{"K": "abc"}, {"K": None}, {"K": 1.5}, {"K": True}, {"evidence": -1}, {"evidence": "x"}, {"dialogue": 1}],
)
def test_values_of_the_wrong_kind_are_named(options):
    with pytest.raises(InputError, match=f"{next(iter(options))} must be "):
        load_system("prefine", **options)


def test_an_at_needs_the_name_of_a_compiled_program():
    with pytest.raises(InputError, match="names no compiled program after the @"):
        load_system("prefine@")


def test_options_reach_the_program():
    system = load_system("prefine", K=2, loop="generate", record="full", evidence=1)
    memory = system.program.memory
    assert (memory.K, memory.loop, memory.record, memory.evidence) == (2, "generate", "full", 1)


def test_systems_are_listed_by_what_they_answer():
    assert systems_for("mpt") == ["full_history", "prefine", "predictive", "rag", "mem0", "langmem", "amem"]
    assert {"interpret", "ext_tag", "joint_tag", "taps", "select"} < set(systems_for("nlsi"))


@pytest.fixture
def compiled_taps(tmp_path):
    """A folder with a compiled `taps` of another threshold than the default."""
    program = Taps(threshold=0.3)
    for _, predictor in program.named_predictors():
        predictor.signature = predictor.signature.with_instructions("Compiled.")
    part = ProgramPart(name="taps", class_path="prefine_dspy.taps:Taps", options={"threshold": 0.3})
    folder = tmp_path / "taps-nlsi"
    save_program(program, folder, Manifest(program=part, optimizer=OptimizerPart(name="made")))
    return str(folder)


@pytest.mark.filterwarnings("ignore::prefine_dspy.artifact.VersionWarning")
def test_a_compiled_program_brings_its_prompts_and_options(compiled_taps):
    for name in (compiled_taps, f"taps@{compiled_taps}"):
        system = load_system(name)
        assert system.name == "taps" and system.program.gate.threshold == 0.3
        assert {p.signature.instructions for _, p in system.program.named_predictors()} == {"Compiled."}
        assert compiled_options(name) == {"threshold": 0.3}
    assert compiled_options("taps") == {}
    with pytest.raises(InputError, match="is a compiled taps: use --program taps@"):
        load_system(f"interpret@{compiled_taps}")


@pytest.mark.filterwarnings("ignore::prefine_dspy.artifact.VersionWarning")
def test_options_that_no_file_keeps_can_be_given_to_a_compiled_program(compiled_taps, tmp_path):
    tags = tmp_path / "tags.csv"
    tags.write_text("org,aug\nPlay Jazz,[IN:GET_MUSIC Play [SL:GENRE Jazz ] ]\n", encoding="utf-8")
    system = load_system(compiled_taps, tags=str(tags), threshold=0.1)
    assert system.program.gate.threshold == 0.1
    texts, asked, _ = system.program.ext_tag.tags(["Play Jazz"], tools=None)
    assert asked == 0 and "<sl:GENRE>" in texts[0]
    assert {p.signature.instructions for _, p in system.program.named_predictors()} == {"Compiled."}
