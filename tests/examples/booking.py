"""An LM that knows how to book flights, for all examples: it repeats what it reads and infers nothing else."""

from scripted_lm import Script, lm_of, prompt_of, stage_of, verdict

import prefine_dspy as pf

STATED = "booked: Rome, Economy"
REMEMBERED = "booked: Paris, Economy"


def booking_script() -> Script:
    return Script(_answer)


def booking_agent(script: Script | None = None) -> pf.Agent:
    return pf.load(pf.PRefine(), lm=lm_of(script or booking_script()))


def _answer(request):
    stage = stage_of(request)
    if stage == "generate":
        economy = "Economy" in request.messages[-1].text
        return {"hypothesis": "The user prefers economy class" if economy else "The user prefers nothing"}
    if stage == "verify":
        return verdict()
    assert stage == "call", prompt_of(request)
    text = request.messages[-1].text
    arguments = request.config.response_format["schema"]["properties"]["call"]["anyOf"][0]["properties"]["arguments"]
    known = {
        "flight_class": "Economy" if "economy" in text.casefold() else "unspecified",
        "destination": next((city for city in ("Rome", "Paris") if city in text), "unspecified"),
    }
    wanted = {name: known.get(name, "unspecified") for name in arguments["properties"]}
    return {"call": {"function": "book_flight", "arguments": wanted}}
