"""lm15 requests, short to write."""

from dspy import lm15


def request(*messages, system=None, tools=(), **config):
    parts = messages or (lm15.Message.user("hi"),)
    return lm15.Request(
        model="llamacpp/x", messages=tuple(parts), system=system, tools=tuple(tools), config=lm15.Config(**config)
    )


def function_tool(name="get_weather"):
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return lm15.FunctionTool(name=name, description="Weather of a city", parameters=parameters)


def response(text, finish_reason="stop"):
    return lm15.Response(
        id=None,
        model="llamacpp/x",
        message=lm15.Message.assistant(text),
        finish_reason=finish_reason,
        usage=lm15.Usage(),
    )
