"""One tool in every form that other agents have for it."""

from typing import Annotated, Literal

import dspy
from pydantic import BaseModel, Field

PARAMETERS = {
    "type": "object",
    "properties": {
        "destination": {"type": "string", "description": "city to fly to"},
        "departure_date": {"type": "string", "format": "date"},
        "passengers": {"type": "integer", "minimum": 1, "maximum": 9},
        "flight_class": {"type": ["string", "null"], "enum": ["Economy", "Business", None]},
        "refundable": {"type": "boolean"},
        "meals": {"type": "array", "items": {"type": "string", "enum": ["vegan", "halal"]}},
        "contact": {"$ref": "#/$defs/Contact"},
        "currency": {"type": "string", "default": "EUR"},
    },
    "required": ["destination", "currency"],
    "$defs": {
        "Contact": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "floor": {"type": "integer"}},
            "required": ["city"],
        }
    },
}
CHAT = {
    "type": "function",
    "function": {"name": "book_flight", "description": "Book a\n  flight.", "parameters": PARAMETERS},
}
RESPONSES = {"type": "function", "name": "book_flight", "description": "Book a flight.", "parameters": PARAMETERS}
MCP = {"name": "book_flight", "description": "Book a flight.", "inputSchema": PARAMETERS}


class Contact(BaseModel):
    city: str
    floor: int | None = None


def book_flight(
    destination: str,
    departure_date: Annotated[str | None, Field(json_schema_extra={"format": "date"})] = None,
    passengers: Annotated[int, Field(ge=1, le=9)] = 1,
    flight_class: Literal["Economy", "Business"] | None = None,
    refundable: bool = False,
    meals: list[Literal["vegan", "halal"]] | None = None,
    contact: Contact | None = None,
    currency: str = "EUR",
):
    """Book a flight.

    Args:
        destination (str): city to
            fly to
        refundable: whether money comes back

    Returns:
        Nothing: really.
    """


def dspy_tool():
    return dspy.Tool(book_flight, arg_desc={"destination": "city to fly to"})
