import dspy
import pytest

from eval.data.catalogue import base_catalogue
from eval.data.labels.builder import builder_demonstrations
from eval.data.labels.hypotheses import mapping_of
from eval.data.load import load_benchmark
from prefine_dspy.hypothesis import CRITERIA, HypothesisMemory
from prefine_dspy.prefine import PRefine
from prefine_dspy.types import History, Memory, ToolCall
from tests.eval.data.made import MAPPING, cheap, dear, history, session
from tests.scripted_lm import Script, lm_of, verdict

TOOLS = base_catalogue()


@pytest.fixture(scope="module")
def pools():
    histories = list(load_benchmark("mini").histories.values())[:10]
    return builder_demonstrations(HypothesisMemory(), histories, mapping_of("mini"), TOOLS)


@pytest.mark.parametrize("name", ["generate", "verify", "refine"])
def test_every_field_of_every_demonstration_is_there(pools, name):
    signature = getattr(HypothesisMemory(), name).signature
    assert pools[name]
    for one in pools[name]:
        assert set(one.demo.keys()) == set(signature.fields)
        assert set(one.demo.inputs().keys()) == set(signature.input_fields)


def test_outputs_keep_the_limits_of_the_signature(pools):
    for name, field, limit in (
        ("generate", "hypothesis", 200),
        ("refine", "refined", 200),
        ("verify", "feedback", 120),
    ):
        assert all(0 < len(one.demo[field]) <= limit for one in pools[name])


def test_a_verdict_has_one_fault_and_its_label(pools):
    for one in pools["verify"]:
        failed = [criterion for criterion in CRITERIA if not one.demo[criterion]]
        assert (one.kind[0] == "accept") == (failed == []) == (one.demo.error == "none")
        assert len(failed) <= 1
    assert {one.demo.error for one in pools["verify"]} == {
        *("none", "over-specific", "hallucinated", "not abstract", "not actionable")
    }


def test_the_rival_of_a_contested_history_contradicts_what_came_more_often():
    pools = builder_demonstrations(HypothesisMemory(), [history(*dear(2), *cheap(4))], MAPPING, TOOLS)
    *_, last = [one.demo for one in pools["verify"] if not one.demo.temporal_consistency]
    assert "high-end" in last.hypothesis and "saving money" in last.feedback


def test_nothing_is_judged_before_enough_calls_fit():
    assert not builder_demonstrations(HypothesisMemory(), [history(*cheap(1))], MAPPING, TOOLS)["verify"]


def test_transient_arguments_are_not_shown():
    calls = [ToolCall.of("GetFlights", flight_class="Economy", destination="Paris-Canary") for _ in range(3)]
    pools = builder_demonstrations(HypothesisMemory(), [history(*calls)], MAPPING, TOOLS)
    assert all("Canary" not in str(one.demo) for pool in pools.values() for one in pool)


@pytest.mark.parametrize("options", [{}, {"record": "full"}])
def test_inputs_are_those_that_the_builder_gives_its_lm(options):
    """Whatever the options: the first update's prompt ends with the first demonstration's inputs."""
    program = PRefine(**options)
    one = History(id="h", sessions=(session(*cheap(1), name="s1"), session(*cheap(1), name="s2")))
    demo = builder_demonstrations(program.memory, [one], MAPPING, TOOLS)["generate"][0].demo
    script = Script([{"hypothesis": "The user prefers low-cost options."}, verdict()])
    with dspy.context(lm=lm_of(script)):
        program.memory(memory=Memory(), sessions=one.sessions[:1], tools=TOOLS)
    prompt = script.requests[0].messages[-1].text
    assert all(value in prompt for value in demo.inputs().values())
