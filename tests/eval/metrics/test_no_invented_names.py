"""Constrained answers hold no function and no argument that NLSI's catalogue lacks, and no value outside a closed set.

What is checked is the schema that is sent: mutated gold answers either break it, or name nothing that was invented. The
local LM's grammar is made of that same schema.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import jsonschema
import pytest

from eval.data.nlsi import load_nlsi
from prefine_dspy.adapter import answer_schema
from prefine_dspy.interpreter import with_tools
from prefine_dspy.lm.grammar import compact_grammar
from prefine_dspy.signatures import Interpret, InterpretTagged, TagAndInterpret, TagInstruction
from prefine_dspy.tagging.tag_schema import tags_type
from prefine_dspy.types import ToolCall, value_text

MUTATED = 3_000
DATA = load_nlsi("mini_nlsi", "test")
TOOLS = DATA.tools
FUNCTIONS = [tool.name for tool in TOOLS]
ARGUMENTS = sorted({parameter.name for tool in TOOLS for parameter in tool.parameters})
GOLD = [
    [
        {"function": call.name, "arguments": {name: value_text(value) for name, value in call.arguments.items()}}
        for call in instance.gold_calls()
    ]
    for instance in DATA.instances
]


def schema_of(base: type) -> dict[str, Any]:
    return answer_schema(with_tools(base, TOOLS))


def garbled(name: str, numbers: random.Random) -> str:
    at = numbers.randrange(len(name) or 1)
    return numbers.choice(
        [name.swapcase(), name[:at] + name[at + 1 :], name + "s", f"{name} ", name.replace("_", " "), "Get", "", "x_y"]
    )


def mutated(calls: list[dict[str, Any]], numbers: random.Random) -> list[dict[str, Any]]:
    """An answer as a small LM might write it: other functions, other arguments, other values, more keys."""
    calls = copy.deepcopy(calls)
    for _ in range(numbers.randint(1, 2)):
        call = numbers.choice(calls)
        arguments = call["arguments"]
        name = numbers.choice(list(arguments) or ARGUMENTS)
        kind = numbers.randrange(7)
        if kind == 0:
            call["function"] = numbers.choice([*FUNCTIONS, garbled(call["function"], numbers)])
        elif kind == 1:
            arguments[numbers.choice([numbers.choice(ARGUMENTS), garbled(name, numbers)])] = "Porto"
        elif kind == 2 and name in arguments:
            arguments[garbled(name, numbers)] = arguments.pop(name)
        elif kind == 3 and name in arguments:
            arguments[name] = numbers.choice(["?", "any", "True", "cheapish", "3", 3, None, ["a", "b"], {"x": 1}])
        elif kind == 4:
            arguments.pop(name, None)
        elif kind == 5:
            call[numbers.choice(["more", "function ", "name"])] = "GetBuses"
        else:
            calls.append(copy.deepcopy(call))
    return calls


def invents(call: dict[str, Any]) -> bool:
    tool = TOOLS.get(str(call["function"]))
    return tool is None or any(tool.parameter(name) is None for name in call["arguments"])


@pytest.mark.parametrize("base", [Interpret, InterpretTagged, TagAndInterpret])
def test_every_answer_with_an_invented_name_breaks_the_schema(base: type) -> None:
    validator, numbers = jsonschema.Draft202012Validator(schema_of(base)), random.Random(base.__name__)
    more = {"tagged": []} if base is TagAndInterpret else {}
    kept = invented = 0
    for _ in range(MUTATED // 3):
        calls = mutated(numbers.choice(GOLD), numbers)
        found = any(invents(call) for call in calls)
        invented += found
        if validator.is_valid({**more, "calls": calls}):
            assert not found, calls
            kept += 1
            for call in calls:
                assert TOOLS.problems(ToolCall(name=call["function"], arguments=call["arguments"])) == []
    assert min(kept, invented) > MUTATED / 3 / 10, "mutations on both sides of the schema"


def test_a_tagger_names_only_what_there_is_and_only_words_of_the_sentence() -> None:
    text = "Book a Thai place in Porto."
    schema = answer_schema(TagInstruction.with_updated_fields("tags", type_=tags_type(TOOLS, text)))
    validator = jsonschema.Draft202012Validator(schema)

    def fits(function: str, argument: str, words: str) -> bool:
        return bool(validator.is_valid({"tags": [{function: [{argument: words}]}]}))

    assert fits("GetRestaurants", "cuisine", "Thai")
    for wrong in (("GetTrains", "city"), ("GetRestaurants", "check_in_date"), ("Getrestaurants", "city")):
        assert not fits(*wrong, "Porto")
    assert not fits("GetRestaurants", "cuisine", "Chinese")


def test_the_local_grammar_is_made_of_that_schema() -> None:
    pytest.importorskip("xllamacpp")
    schema = schema_of(Interpret)
    grammar = compact_grammar(schema)
    if not grammar.startswith("%llguidance"):
        assert all(f'\\"{name}\\"' in grammar for name in (*FUNCTIONS, *ARGUMENTS))
        return
    sent = json.loads(grammar.partition("%json ")[2])
    assert {key: value for key, value in sent.items() if key != "x-guidance"} == schema
