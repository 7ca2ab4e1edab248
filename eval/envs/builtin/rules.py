"""The policy's rules that code can check: which of them a call would break. Said to nobody but the record.

These feed the error label "constraint violation" (IDSS section 4.4) without a judge. The reward does not use them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from eval.envs.builtin.database import NOW, Database
from prefine_dspy.types import ToolCall

_INCLUDED_BAGS = {"basic": 0, "classic": 1, "flex": 2}
_LONG_DELAY = 120  # minutes


def broken_rules(database: Database, call: ToolCall, customer_id: str) -> list[str]:
    """The rules that a call breaks.

    Args:
        database: before the call, which must be one that the tools accept.
        call: any call; one that only reads breaks nothing.
        customer_id: who the agent is talking to.
    """
    check = _CHECKS.get(call.name)
    if check is None:
        return []
    arguments = call.arguments
    booking = database["bookings"].get(arguments.get("booking_id"))
    owner = booking["customer_id"] if booking else arguments.get("customer_id")
    found = [] if owner == customer_id else ["booking of another customer"]
    return found + check(database, booking, arguments)


def _change(database: Database, booking: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    found = ["basic booking moved"] if booking["fare"] == "basic" else []
    old, new = (database["flights"][one] for one in (booking["flight"], arguments["flight"]))
    if (old["origin"], old["destination"]) != (new["origin"], new["destination"]):
        found.append("moved to other airports")
    if _is_voucher(database, booking["customer_id"], arguments["payment_id"]):
        found.append("change paid with a voucher")
    return found


def _extras(database: Database, booking: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    found = []
    if booking["fare"] == "basic" and arguments.get("seat") not in (None, "any", booking["seat"]):
        found.append("seat chosen in basic")
    if arguments.get("bags") is not None or arguments.get("paid_bags") is not None:
        merged = {**booking, **{key: value for key, value in arguments.items() if value is not None}}
        found += _bags(database, booking["customer_id"], merged)
    return found


def _book(database: Database, booking: None, arguments: dict[str, Any]) -> list[str]:
    found = _bags(database, arguments["customer_id"], arguments)
    if arguments["fare"] == "basic" and arguments["seat"] != "any":
        found.append("seat chosen in basic")
    return found


def _bags(database: Database, customer_id: str, wanted: dict[str, Any]) -> list[str]:
    gold = database["customers"][customer_id]["tier"] == "gold"
    included = (_INCLUDED_BAGS[wanted["fare"]] + gold) * len(wanted["passengers"])
    right = max(0, _whole(wanted["bags"]) - included)
    return [] if _whole(wanted["paid_bags"]) == right else ["wrong number of paid bags"]


def _cancel(database: Database, booking: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    fresh = datetime.fromisoformat(NOW) - datetime.fromisoformat(booking["booked_at"]) < timedelta(hours=24)
    grounded = _day(database, booking)["status"] == "cancelled"
    ill = booking["protection"] and arguments["reason"] == "illness"
    return [] if fresh or booking["fare"] == "flex" or grounded or ill else ["cancelled without a ground"]


def _voucher(database: Database, booking: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    day, people = _day(database, booking), len(booking["passengers"])
    tier = database["customers"][booking["customer_id"]]["tier"]
    right = 0
    if day["status"] == "cancelled":
        right = 100 * people
    elif day["delay_minutes"] >= _LONG_DELAY and tier in ("silver", "gold") and booking["fare"] != "basic":
        right = 50 * people
    found = [] if _whole(arguments["amount"]) == right else ["compensation that is not due"]
    if any(voucher["booking_id"] == booking["booking_id"] for voucher in database["vouchers"]):
        found.append("compensation twice")
    return found


def _day(database: Database, booking: dict[str, Any]) -> dict[str, Any]:
    return database["flights"][booking["flight"]]["days"][booking["date"]]


def _is_voucher(database: Database, customer_id: str, payment_id: str) -> bool:
    return database["customers"][customer_id]["payment_methods"][payment_id]["type"] == "voucher"


def _whole(number: Any) -> int:
    # the tools take "2" and "2.0", too, and numbers that are too large for a float
    return int(number if isinstance(number, int) else Decimal(str(number)))


_CHECKS: dict[str, Callable[..., list[str]]] = {
    "book_flight": _book,
    "change_flight": _change,
    "update_extras": _extras,
    "cancel_booking": _cancel,
    "issue_voucher": _voucher,
}
