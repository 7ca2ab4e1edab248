import pytest

from eval.data.instances import Facts
from eval.data.labels.caller import caller_demonstrations, explicit, remembered
from eval.data.labels.hypotheses import mapping_of
from eval.data.load import catalogue_of, load_benchmark
from prefine_dspy.grounding import ungrounded
from prefine_dspy.parsing import parse_calls
from prefine_dspy.signatures import CallTool
from prefine_dspy.types import ToolCall
from tests.small_world import FLIGHTS


@pytest.fixture(scope="module")
def mini():
    return load_benchmark("mini")


@pytest.fixture(scope="module", params=["hypothesis", "history"])
def pool(request, mini):
    histories = list(mini.histories.values())[:12]
    ids = {history.id for history in histories}
    instances = [instance for instance in mini.instances if instance.history_id in ids]
    return caller_demonstrations(
        histories, instances, mapping_of("mini"), lambda one: catalogue_of(mini, one), request.param
    )


def test_both_kinds_are_there_for_both_query_types(pool):
    assert {one.kind[:2] for one in pool} == {(o, q) for o in ("applies", "abstains") for q in ("cg", "cf")}


def test_every_argument_is_decided(pool, mini):
    names = {"base": mini.catalogues["base"], "base_cf": mini.catalogues["base_cf"]}
    for one in pool:
        assert set(one.demo.keys()) == set(CallTool.fields)
        tools = names["base_cf" if one.kind[1] == "cf" else "base"]
        parameters = [parameter.name for parameter in tools.get(one.demo.call["function"]).parameters]
        assert list(one.demo.call["arguments"]) == parameters


def test_what_a_demonstration_fills_in_can_be_read_in_it(pool, mini):
    """Otherwise it would teach to invent."""
    tools = mini.catalogues["base"]
    for one in pool:
        (call,) = parse_calls(one.demo.call, tools).calls
        assert ungrounded(call, tools, one.demo.query, one.demo.memory) == []


def test_a_memory_that_does_not_apply_leaves_everything_unsaid_open(pool):
    for one in pool:
        if one.kind[0] == "abstains":
            said = [value for value in one.demo.call["arguments"].values() if value != "unspecified"]
            assert all(str(value).replace("_", " ").casefold() in one.demo.query.casefold() for value in said) or (
                one.kind[1] == "cg"
            )
            assert one.demo.memory


def test_a_shortened_history_shows_the_value_that_is_asked_for(mini):
    mapping = mapping_of("mini")
    instance = next(one for one in mini.instances if one.reasoning_type == "recall" and one.preference == "low_cost")
    facts = Facts(mini.histories[instance.history_id], mapping)
    text = remembered(facts, instance, catalogue_of(mini, instance), "history")
    assert 1 <= text.count("[Session ") <= 3
    (argument, value), *_ = (
        (a, v) for _, a, v in instance.gold[0].triplets() if mapping.label((instance.gold[0].name, a, v))
    )
    assert f'{argument}="{value}"' in text


def test_explicit():
    assert explicit(ToolCall.of("GetFlights", airlines="Delta"), FLIGHTS) == {
        "function": "GetFlights",
        "arguments": {
            "flight_class": "unspecified",
            "passengers": "unspecified",
            "airlines": "Delta",
            "destination": "unspecified",
            "date": "unspecified",
        },
    }
