"""Call logs as somebody's agent writes them, for the tests of compiling without labels."""

import json

FLIGHTS = {
    "type": "function",
    "function": {
        "name": "flights",
        "parameters": {"type": "object", "properties": {"seat": {"type": "string", "enum": ["Economy", "Business"]}}},
    },
}


def definition(name, **arguments):
    """An OpenAI function definition; an argument has its values, or () for any text."""
    properties = {
        one: {"type": "string", **({"enum": list(values)} if values else {})} for one, values in arguments.items()
    }
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


def chat(name, **arguments):
    """A request and the call that was made for it."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [
        {"role": "user", "content": "Please do it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "It is done."},
    ]


def write(folder, *lines):
    """The file."""
    file = folder / "logs.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file
