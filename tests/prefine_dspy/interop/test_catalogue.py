import dspy
import pytest
from foreign_tools import CHAT, MCP, PARAMETERS, RESPONSES, Contact, book_flight, dspy_tool
from small_world import TOOLS

import prefine_dspy as pf
from prefine_dspy.interop.catalogue import catalogue, covering
from prefine_dspy.interop.functions import read_docstring
from prefine_dspy.types import ToolCall


def mcp_object():
    return pytest.importorskip("mcp.types").Tool(**MCP)


FORMS = {
    "chat": lambda: CHAT,
    "responses": lambda: RESPONSES,
    "mcp": lambda: MCP,
    "mcp object": mcp_object,
    "function": lambda: book_flight,
    "dspy": dspy_tool,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_parameters(form):
    (tool,) = catalogue([FORMS[form]()])
    assert tool.name == "book_flight"
    assert tool.description.startswith("Book a flight.")
    assert [one.name for one in tool.parameters] == list(PARAMETERS["properties"])
    assert [one.type for one in tool.parameters] == [
        *("string", "string", "integer", "string", "boolean", "array", "object", "string")
    ]
    assert tool.parameter("destination").description == "city to fly to"
    assert tool.parameter("destination").required
    assert tool.parameter("flight_class").choices() == ("Economy", "Business")
    assert [one.name for one in tool.parameters if one.transient] == ["destination", "departure_date"]


@pytest.mark.parametrize("form", FORMS)
def test_details_of_the_schema_survive(form):
    (tool,) = catalogue([FORMS[form]()])
    schemas = {one.name: one.json_schema for one in tool.parameters}
    assert schemas["meals"]["items"]["enum"] == ["vegan", "halal"]
    assert schemas["contact"]["properties"].keys() == {"city", "floor"}
    assert schemas["contact"]["required"] == ["city"]
    assert schemas["currency"]["default"] == "EUR"
    if form != "dspy":  # dspy.Tool itself drops what stands in Annotated
        assert schemas["passengers"]["minimum"] == 1
        assert schemas["departure_date"]["format"] == "date"


def test_a_plain_text_needs_no_schema_of_its_own():
    (tool,) = catalogue([CHAT])
    assert tool.parameter("destination").json_schema is None


def test_a_recursive_schema_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "label": {"type": "string"}}}
    parameters = {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    (tool,) = catalogue([{"name": "walk", "parameters": parameters}])
    assert "$ref" not in str(tool.parameter("root").json_schema)


def test_a_mixture_keeps_its_order():
    mixed = catalogue([TOOLS.get("GetFlights"), CHAT, {"name": "ping"}])
    assert [tool.name for tool in mixed] == ["GetFlights", "book_flight", "ping"]
    assert mixed.get("ping").parameters == ()


def test_ones_own_catalogue_is_taken_as_it_is():
    assert catalogue(TOOLS) is TOOLS


def test_transient_can_be_said():
    marked = catalogue([CHAT, TOOLS.get("GetFlights")], transient={"book_flight": ["currency"]})
    assert [one.name for one in marked.get("book_flight").parameters if one.transient] == ["currency"]
    assert marked.get("GetFlights") == TOOLS.get("GetFlights")


def test_functions_of_all_kinds():
    class Desk:
        async def reserve(self, who: Contact, *extra, **more):
            """:param who: the guest"""

    (tool,) = catalogue([Desk().reserve])
    assert [one.name for one in tool.parameters] == ["who"]
    assert tool.parameter("who").description == "the guest"
    (tool,) = catalogue([lambda schema, _x=3: None])
    assert [(one.name, one.required) for one in tool.parameters] == [("schema", True), ("_x", False)]


def test_docstrings_without_a_summary():
    assert read_docstring("") == ("", {})
    assert read_docstring("Args:\n    a: one") == ("", {"a": "one"})


def test_a_schema_only_dspy_tool():
    tool = dspy.Tool(
        lambda **given: given, name="play", desc="Play.", args={"genre": {"type": "string", "enum": ["a"]}}
    )
    (found,) = catalogue([tool])
    assert found.parameter("genre").choices() == ("a",)
    assert not found.parameter("genre").required


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("book", "tools must be a list"),
        (CHAT, "tools must be a list"),
        (None, "tools must be a list"),
        ([], "at least one tool"),
        ([3], "int is no tool"),
        ([CHAT, MCP], "more than once: book_flight"),
        ([{"type": "function", "function": {}}], "has no name"),
        ([{"name": "f", "parameters": {"type": "array"}}], "tool f: its parameters must be"),
        ([{"name": "f", "parameters": {"properties": [1]}}], "tool f: 'properties' must be"),
    ],
)
def test_what_is_no_tool_is_said_in_one_line(tools, message):
    with pytest.raises(pf.InputError, match=message) as raised:
        catalogue(tools)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("transient", "message"), [({"x": []}, "names the tool 'x'"), ({"book_flight": ["x"]}, "names book_flight.x")]
)
def test_transient_must_name_what_exists(transient, message):
    with pytest.raises(pf.InputError, match=message):
        catalogue([CHAT], transient=transient)


def test_functions_that_only_occur_in_calls():
    calls = [ToolCall.of("play", genre="jazz", day="2026-03-09", start_date="soon"), ToolCall.of("GetHotels", x="1")]
    covered = covering(TOOLS, calls)
    assert [one.name for one in covered.get("play").parameters if one.transient] == ["day", "start_date"]
    assert covered.get("GetHotels") == TOOLS.get("GetHotels")
    assert covering(TOOLS, []) is TOOLS
    assert covering(None, []) is None
