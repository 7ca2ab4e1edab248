"""The LM benchmark's catalogue, with the task's text about a thousand tokens: tools of an agent for daily errands."""

from __future__ import annotations

from prefine_dspy.tools import Catalogue, Parameter, Tool

# name: what it does: arguments; `a=x|y` is a closed set, `a?` names a value of this one occasion
_TOOLS = """
BookFlight: book a flight: origin? destination? date? cabin=economy|premium|business seat=window|aisle bags=0|1|2
BookHotel: book a hotel room: city? check_in? nights? stars=1|2|3|4|5 smoking=yes|no breakfast=yes|no floor=low|high
RentCar: rent a car: city? from_date? to_date? size=compact|standard|large gearbox=manual|automatic insurance=yes|no
BookTrain: book a train ticket: origin? destination? date? class=standard|value|flexible seats=1|2|3|4 quiet=yes|no
BookBus: book a bus: origin? destination? date? fare=economy|extra|flexible transfers=0|1|2
CallTaxi: call a taxi: destination? time? shared=yes|no ride=regular|pool|luxury passengers=1|2|3|4
FindRestaurant: find a restaurant: city? time? cuisine? price=cheap|moderate|expensive live_music=yes|no alcohol=yes|no
OrderFood: order food: dish? portion=small|medium|large spice=mild|medium|hot delivery=courier|pickup
FindMovie: find a movie: title? genre? theatre? show=regular|3d|imax subtitles=yes|no
PlayMusic: play music: song? artist? room? volume=low|medium|high shuffle=yes|no
BuyTicket: buy an event ticket: event? city? date? kind=music|sports|theatre seats=1|2|3|4 tier=standard|vip
FindHome: find a flat: area? rooms=1|2|3|4 pets=yes|no furnished=yes|no rent=low|middle|high garage=yes|no
SeeDoctor: make an appointment with a doctor: name? date? time? field? video=yes|no
SeeDentist: make an appointment with a dentist: name? date? time? cosmetic=yes|no
SeeStylist: make an appointment with a stylist: salon? date? time? unisex=yes|no style=classic|modern
SendMoney: send money: recipient? amount? account=checking|savings speed=standard|express visible=public|private
GetWeather: look up the weather: city? date? unit=celsius|fahrenheit detail=short|full
SetLight: set the lights: room? action=on|off brightness=low|medium|high colour=warm|neutral|cool
SetHeating: set the heating: room? mode=heat|cool|auto level=eco|comfort fan=auto|low|medium|high
SetAlarm: set an alarm: time? name? sound=bell|radio|birds repeat=once|weekdays|daily
FindSight: find a sight: city? category? free_entry=yes|no with_children=yes|no
OrderGroceries: order groceries: item? amount? organic=yes|no slot=morning|noon|evening bags=paper|none
BookTable: book a table: restaurant? date? time? people=1|2|3|4|5|6 place=inside|terrace|bar
PlanWorkout: plan a workout: date? kind=run|swim|strength|yoga length=short|medium|long level=easy|hard
ReadNews: read the news: topic? length=short|long voice=on|off source=local|national|world
"""


def catalogue() -> Catalogue:
    """The benchmark's tools, always the same."""
    return Catalogue(_tool(line) for line in _TOOLS.strip().splitlines())


def _tool(line: str) -> Tool:
    name, description, arguments = line.split(": ")
    return Tool(name=name, description=description, parameters=tuple(_parameter(one) for one in arguments.split()))


def _parameter(text: str) -> Parameter:
    name, _, values = text.partition("=")
    if values:
        return Parameter(name=name, enum=tuple(values.split("|")))
    return Parameter(name=name.rstrip("?"), transient=name.endswith("?"))
