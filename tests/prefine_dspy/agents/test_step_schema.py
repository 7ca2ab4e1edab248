from __future__ import annotations

from agent_world import TOOLS
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from prefine_dspy.agents.idss_state import state_type
from prefine_dspy.agents.step_schema import action_type, bounded


def fits(kind: type, value: object) -> bool:
    schema = TypeAdapter(kind).json_schema()
    Draft202012Validator.check_schema(schema)
    return bool(Draft202012Validator(schema).is_valid(value))


def test_an_action_is_a_message_or_one_call_of_the_catalogue():
    kind = action_type(TOOLS)
    call = {"function": "change_order", "arguments": {"order_id": "o1", "colour": "red"}}
    assert fits(kind, {"reply": "Hello."}) and fits(kind, call)
    assert not fits(kind, {"reply": ""}) and not fits(kind, {"reply": "x" * 400})
    assert not fits(kind, {**call, "function": "delete_all"})
    assert not fits(kind, {**call, "arguments": {"order_id": "o1", "colour": "green"}})
    assert not fits(kind, {**call, "arguments": {"colour": "red"}})
    assert not fits(kind, {**call, "arguments": {"order_id": "o1", "price": 3}})
    assert not fits(kind, {**call, "arguments": {"order_id": "o1", "items": ["a"] * 21}})
    assert not fits(kind, [call, call]) and not fits(kind, {**call, "reply": "Hello."})


def test_a_state_names_statuses_and_sources():
    intent = {"name": "change", "status": "active", "depends_on": ["look.completed"]}
    rule = {"condition": "open", "status": "violated", "guards": ["change"]}
    state = {"intents": [intent], "variables": [], "constraints": [rule]}
    assert fits(state_type(), state)
    assert not fits(state_type(), {**state, "intents": [{**intent, "status": "done"}]})
    assert not fits(state_type(), {**state, "intents": [{**intent, "depends_on": ["look"]}]})
    assert not fits(state_type(), {**state, "variables": [{"name": "x", "value": "", "source": "guessable"}]})
    assert not fits(state_type(constraints=False), state)
    assert fits(state_type(constraints=False), {"intents": [intent], "variables": []})


def test_every_text_and_list_ends():
    schema = {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "kind": {"type": "string", "enum": ["a"]},
            "rows": {"type": "array", "maxItems": 2, "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        },
    }
    done = bounded(schema)["properties"]
    assert done["type"] == {"type": "string", "maxLength": 120} and done["kind"] == schema["properties"]["kind"]
    assert done["rows"]["maxItems"] == 2 and done["rows"]["items"]["anyOf"][0]["maxLength"] == 120
    assert "maxLength" not in schema["properties"]["type"]
