import inspect

import dspy
from letter_server import letter_lm
from predictive_world import CHEAP, CHEAP_SESSIONS, TOOLS, taste

from prefine_dspy.types import History, Memory, Query
from programs.predictive import PredictivePRefine, PredictiveSystem


def options(parameters):
    return {name: one.default for name, one in parameters.items() if name != "self"}


def test_the_system_updates_and_answers_from_the_memory_alone(monkeypatch):
    lm, server = letter_lm(monkeypatch, taste, lambda messages: {"call": {"function": "GetFlights", "arguments": {}}})
    system = PredictiveSystem(samples=0, bank=[CHEAP])
    with dspy.context(lm=lm):
        memory = Memory()
        for seen in range(1, 4):
            memory = system.update(memory, CHEAP_SESSIONS[:seen], TOOLS).memory
        found = system.answer(Query.of("Book a flight"), TOOLS, History(id="h"), memory)
    server.close()
    assert found.memory_text == f"{CHEAP}."
    assert found.calls[0].arguments == {"flight_class": "Economy"}
    assert isinstance(found.raw, str) and found.parse_failed is False


def test_its_options_are_those_of_the_program():
    found = options(inspect.signature(PredictiveSystem).parameters)
    assert found == options(inspect.signature(PredictivePRefine.__init__).parameters)
    assert found["threshold"] == 0.08
