"""The airline's tools. They check what a booking system checks (ids, seats, balances); the policy is the agent's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, Literal

from pydantic import ValidationError, validate_call

from eval.envs.builtin.database import NOW, Database
from prefine_dspy.interop.catalogue import catalogue
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

Fare = Literal["basic", "classic", "flex"]
Seat = Literal["window", "aisle", "any"]
Meal = Literal["regular", "vegetarian", "vegan", "none"]
Reason = Literal["change_of_plans", "illness", "airline_cancelled"]

BAG_PRICE = 30
PROTECTION_PRICE = 25
CHANGE_FEE = 40
WRITES = frozenset(
    {"book_flight", "change_flight", "update_extras", "cancel_booking", "issue_voucher", "transfer_to_human"}
)
_FARE_RULES = {
    "basic": "changes: not allowed\nseat: any\nbags_included: 0\ncancellation: within 24 hours of booking",
    "classic": "changes: 40 per passenger, nothing for gold members\nseat: window, aisle or any\nbags_included: 1\n"
    "cancellation: within 24 hours of booking, or illness with travel protection",
    "flex": "changes: free of charge\nseat: window, aisle or any\nbags_included: 2\n"
    "cancellation: any time before departure",
}


class Refused(Exception):
    """The booking system cannot do it; the text is what the agent reads."""


class Desk:
    """The tools over one database, which they change.

    Args:
        database: of this episode.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def call(self, call: ToolCall) -> tuple[str, bool]:
        """Do a call; its return as text, and whether it failed (then nothing has changed)."""
        tool = self._tools().get(call.name)
        if tool is None:
            return f"Error: there is no tool {call.name}", True
        try:
            answer = validate_call(tool)(**call.arguments)
        except Refused as refused:
            return f"Error: {refused}", True
        except ValidationError as error:
            first = error.errors()[0]
            return f"Error: {'.'.join(map(str, first['loc'])) or call.name}: {first['msg']}", True
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False), False

    def catalogue(self) -> Catalogue:
        """The tools as an agent is told about them."""
        # a payment method is an id and yet a standing choice
        lasting = {"book_flight": ("customer_id", "flight", "date", "passengers")}
        return catalogue(list(self._tools().values()), transient=lasting)

    def _tools(self) -> dict[str, Callable[..., Any]]:
        tools = (
            self.find_customer,
            self.get_customer,
            self.get_booking,
            self.search_flights,
            self.get_flight_status,
            self.get_fare_rules,
            self.book_flight,
            self.change_flight,
            self.update_extras,
            self.cancel_booking,
            self.issue_voucher,
            self.transfer_to_human,
        )
        return {tool.__name__: tool for tool in tools}

    # -- reading

    def find_customer(self, email: str) -> str:
        """The id of the customer with this e-mail address."""
        for identity, customer in self.database["customers"].items():
            if customer["email"].casefold() == email.strip().casefold():
                return identity
        raise Refused("no customer has this e-mail address")

    def get_customer(self, customer_id: str) -> dict[str, Any]:
        """A customer's profile: name, tier, payment methods, ids of the bookings."""
        return self._customer(customer_id)

    def get_booking(self, booking_id: str) -> dict[str, Any]:
        """A booking with everything that belongs to it."""
        return self._booking(booking_id)

    def search_flights(self, origin: str, destination: str, date: str) -> list[dict[str, Any]]:
        """Flights of one day that can be booked, with free seats and prices per passenger and fare.

        Args:
            origin: airport code (HAV Havn, LUM Lumby, TOR Torsund, VES Vesta, KIR Kirna)
            destination: airport code
            date: YYYY-MM-DD
        """
        found = []
        for flight in self.database["flights"].values():
            day = flight["days"].get(date)
            if day is None or (flight["origin"], flight["destination"]) != (origin.upper(), destination.upper()):
                continue
            if day["status"] != "cancelled" and f"{date}T{flight['departs']}" > NOW:
                found.append(
                    {
                        "flight": flight["flight"],
                        "departs": flight["departs"],
                        "arrives": flight["arrives"],
                        "seats": day["seats"],
                        "prices": day["prices"],
                    }
                )
        return found

    def get_flight_status(self, flight: str, date: str) -> str:
        """Whether a flight is on schedule, delayed or cancelled.

        Args:
            date: YYYY-MM-DD
        """
        day = self._day(flight, date)
        return f"flight: {flight}\ndate: {date}\nstatus: {day['status']}\ndelay_minutes: {day['delay_minutes']}"

    def get_fare_rules(self, fare: Fare) -> str:
        """What a fare includes and allows."""
        return f"fare: {fare}\n{_FARE_RULES[fare]}"

    # -- writing

    def book_flight(
        self,
        customer_id: str,
        flight: str,
        date: str,
        fare: Fare,
        passengers: list[str],
        seat: Seat,
        meal: Meal,
        bags: int,
        paid_bags: int,
        protection: bool,
        payment_id: str,
    ) -> dict[str, Any]:
        """Book one flight for all passengers and charge the payment method.

        Args:
            date: YYYY-MM-DD
            passengers: full names
            bags: of all passengers together
            paid_bags: those of the bags that are not included
            protection: travel protection
            payment_id: of the customer's profile
        """
        customer = self._customer(customer_id)
        day = self._bookable(flight, date, fare, len(passengers))
        if not passengers:
            raise Refused("a booking needs a passenger")
        self._check_bags(bags, paid_bags, len(passengers))
        price = day["prices"][fare] * len(passengers) + BAG_PRICE * paid_bags
        price += PROTECTION_PRICE * len(passengers) if protection else 0
        identity = _new_id(customer_id, flight, date, fare, *sorted(passengers))
        if identity in self.database["bookings"]:
            raise Refused(f"this is booked already: {identity}")
        self._charge(customer, payment_id, price)
        day["seats"][fare] -= len(passengers)
        booking = {
            "booking_id": identity,
            "customer_id": customer_id,
            "flight": flight,
            "date": date,
            "fare": fare,
            "passengers": sorted(passengers),
            "seat": seat,
            "meal": meal,
            "bags": bags,
            "paid_bags": paid_bags,
            "protection": protection,
            "payment_id": payment_id,
            "paid": price,
            "booked_at": NOW,
            "status": "confirmed",
        }
        self.database["bookings"][identity] = booking
        customer["bookings"] = sorted([*customer["bookings"], identity])
        return booking

    def change_flight(self, booking_id: str, flight: str, date: str, payment_id: str) -> dict[str, Any]:
        """Move a booking to another flight or date; charges the fee and the difference in price.

        Args:
            date: YYYY-MM-DD
            payment_id: of the customer's profile
        """
        booking = self._open(booking_id)
        customer = self._customer(booking["customer_id"])
        people, fare = len(booking["passengers"]), booking["fare"]
        if (flight, date) == (booking["flight"], booking["date"]):
            raise Refused("the booking is on this flight already")
        day = self._bookable(flight, date, fare, people)
        old = self._day(booking["flight"], booking["date"])
        fee = 0 if fare == "flex" or customer["tier"] == "gold" else CHANGE_FEE * people
        price = fee + max(0, day["prices"][fare] - old["prices"][fare]) * people
        self._charge(customer, payment_id, price)
        old["seats"][fare] += people
        day["seats"][fare] -= people
        booking.update(flight=flight, date=date, paid=booking["paid"] + price)
        return booking

    def update_extras(
        self,
        booking_id: str,
        seat: Seat | None = None,
        meal: Meal | None = None,
        bags: int | None = None,
        paid_bags: int | None = None,
        payment_id: str | None = None,
    ) -> dict[str, Any]:
        """Change seat, meal or number of bags of a booking; only what is given changes.

        Args:
            bags: of all passengers together, those the booking has included
            paid_bags: those of the bags that are not included
            payment_id: needed when the number of paid bags grows
        """
        booking = self._open(booking_id)
        bags = booking["bags"] if bags is None else bags
        paid_bags = booking["paid_bags"] if paid_bags is None else paid_bags
        self._check_bags(bags, paid_bags, len(booking["passengers"]))
        if bags < booking["bags"] or paid_bags < booking["paid_bags"]:
            raise Refused("bags cannot be taken off")
        price = BAG_PRICE * (paid_bags - booking["paid_bags"])
        if price:
            self._charge(self._customer(booking["customer_id"]), payment_id or "", price)
        booking.update(bags=bags, paid_bags=paid_bags, paid=booking["paid"] + price)
        booking.update({} if seat is None else {"seat": seat})
        booking.update({} if meal is None else {"meal": meal})
        return booking

    def cancel_booking(self, booking_id: str, reason: Reason) -> dict[str, Any]:
        """Cancel a booking and pay its price back."""
        booking = self._open(booking_id)
        day = self._day(booking["flight"], booking["date"])
        method = self._customer(booking["customer_id"])["payment_methods"][booking["payment_id"]]
        if method["type"] == "voucher":
            method["balance"] += booking["paid"]
        day["seats"][booking["fare"]] += len(booking["passengers"])
        booking.update(status="cancelled", cancel_reason=reason)
        return {"booking_id": booking_id, "status": "cancelled", "refund": booking["paid"]}

    def issue_voucher(self, booking_id: str, amount: int) -> dict[str, Any]:
        """Give the customer of a booking a voucher as compensation.

        Args:
            amount: in all, for all passengers
        """
        booking = self._booking(booking_id)
        if amount <= 0:
            raise Refused("the amount must be more than 0")
        self.database["vouchers"].append(
            {"customer_id": booking["customer_id"], "booking_id": booking_id, "amount": amount}
        )
        return {"booking_id": booking_id, "voucher": amount}

    def transfer_to_human(self, customer_id: str, summary: str) -> str:
        """Hand the conversation over to a human colleague; this ends it.

        Args:
            summary: what the customer wants
        """
        self._customer(customer_id)
        self.database["transfers"].append(customer_id)
        return "transferred"

    # -- what the tools check

    def _customer(self, customer_id: str) -> dict[str, Any]:
        if customer_id not in self.database["customers"]:
            raise Refused(f"there is no customer {customer_id}")
        return self.database["customers"][customer_id]

    def _booking(self, booking_id: str) -> dict[str, Any]:
        if booking_id not in self.database["bookings"]:
            raise Refused(f"there is no booking {booking_id}")
        return self.database["bookings"][booking_id]

    def _open(self, booking_id: str) -> dict[str, Any]:
        booking = self._booking(booking_id)
        if booking["status"] != "confirmed":
            raise Refused(f"booking {booking_id} is {booking['status']}")
        return booking

    def _day(self, flight: str, date: str) -> dict[str, Any]:
        day = self.database["flights"].get(flight, {}).get("days", {}).get(date)
        if day is None:
            raise Refused(f"there is no flight {flight} on {date}")
        return day

    def _bookable(self, flight: str, date: str, fare: str, people: int) -> dict[str, Any]:
        day = self._day(flight, date)
        if day["status"] == "cancelled" or f"{date}T{self.database['flights'][flight]['departs']}" <= NOW:
            raise Refused(f"flight {flight} on {date} cannot be booked")
        if day["seats"][fare] < people:
            raise Refused(f"flight {flight} on {date} has {day['seats'][fare]} seats left in {fare}")
        return day

    def _check_bags(self, bags: int, paid_bags: int, people: int) -> None:
        if not 0 <= paid_bags <= bags <= 3 * people:
            raise Refused(f"{bags} bags, {paid_bags} of them paid, do not fit {people} passengers")

    def _charge(self, customer: dict[str, Any], payment_id: str, price: int) -> None:
        method = customer["payment_methods"].get(payment_id)
        if method is None:
            raise Refused(f"customer {customer['customer_id']} has no payment method {payment_id or '(none given)'}")
        if method["type"] == "voucher":
            if method["balance"] < price:
                raise Refused(f"voucher {payment_id} has {method['balance']} left, which does not cover {price}")
            method["balance"] -= price


def _new_id(*parts: str) -> str:
    """The same booking gets the same id, whatever was booked before it."""
    return "K" + hashlib.sha256("|".join(parts).encode()).hexdigest()[:6].upper()
