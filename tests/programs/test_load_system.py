import pytest

from prefine_dspy.errors import InputError
from programs import SYSTEMS, load_system


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_system_can_be_loaded_and_knows_its_name(name):
    system = load_system(name)
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
