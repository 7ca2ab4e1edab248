"""Nothing of a benchmark is written into prediction: no preference, tool or value, in code or uncompiled prompt."""

import ast
import re
from pathlib import Path

import prefine_dspy
from eval.data.catalogue import catalogues, preference_slots
from eval.data.mini_generator.values import STARS
from eval.data.preferences import CELEBRITIES, PREFERENCES
from programs import compilation, load_system

CODE = [
    *Path(prefine_dspy.__file__).parent.glob("predictive/*.py"),
    *Path(prefine_dspy.__file__).parent.glob("lm/values/*.py"),
    *Path(compilation.__file__).parent.glob("*.py"),
    Path(compilation.__file__).parents[1] / "predictive.py",
]


def said_in_code(path):
    """The text constants of a file, without what only documents it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    return [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in documents
    ]


def names():
    """Of preferences, functions, preference arguments and their values, as words."""
    found = {*PREFERENCES, *STARS, *CELEBRITIES, "luxury", "premium", "cheap", "low cost", "low-cost", "budget"}
    slots = preference_slots()
    for catalogue in catalogues().values():
        for tool in catalogue:
            found.add(tool.name)
            for parameter in tool.parameters:
                if parameter.name in slots.get(tool.name, ()):
                    found |= {parameter.name, *(one for one in parameter.choices() if len(one) > 3)}
    # of an LM, too
    return found - {"True", "False", "category", "temperature"}


def test_neither_code_nor_prompt_knows_a_preference_a_tool_or_a_value():
    system = load_system("predictive").program
    prompts = [str(one.signature.instructions) for _, one in system.named_predictors()]
    prompts += [
        str(field.json_schema_extra) for _, one in system.named_predictors() for field in one.signature.fields.values()
    ]
    texts = [text for path in CODE for text in said_in_code(path)] + prompts
    everything = "\n".join(texts)
    known = names()
    assert len(CODE) > 20 and len(texts) > 200 and {"GetFlights", "flight_class", "Economy", "eco"} <= known
    assert [one for one in known if re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", everything)] == []
    assert not any(one.demos for _, one in system.named_predictors())
