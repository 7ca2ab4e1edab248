"""MPT's own format: a record of our own in that form, the released rules, and broken records."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from eval.data.load import load_benchmark
from eval.data.preferences import CELEBRITIES
from eval.data.released import build, load_released
from eval.instance import Instance
from prefine_dspy.errors import InputError


def session(name: str, *calls: str) -> dict[str, Any]:
    return {
        "dialogue_id": name,
        "preference_utterance": [],
        "explicit_constraints": {},
        "api_call": list(calls),
        "dialogue": [
            {"role": "User", "message": "Please do it."},
            {"role": "Assistant", "message": "Done.", "service": list(calls)},
        ],
        "deprecated_api_call": [],
    }


def evidence(domain: str, slot: str, **counts: int) -> dict[str, Any]:
    values = [{"value": v, "meta": {"count": n, "dialogue_ids": []}} for v, n in counts.items()]
    return {"domain": domain, "slot": slot, "values": values}


def preference(group: str, *pieces: dict[str, Any]) -> dict[str, Any]:
    return {"value_group": group, "group_preference": "axis", "count": 2, "evidence": list(pieces)}


CAR = 'GetRentalCars(car_type="Compact", pickup_city="Fresno")'
TRIP = 'GetTravel(free_entry="True", location="Fresno")'
PLAIN: dict[str, Any] = {
    "example_id": "dev_0001",
    "sessions": [session("1_1", CAR), session("1_2", TRIP), session("1_3", CAR)],
    "api_calls": ['GetRentalCars(car_type="Compact", pickup_city="Fresno")'],
    "api_calls_drop": [],
    "api_calls_pref": [
        preference(
            "low_cost", evidence("GetRentalCars", "car_type", Compact=2), evidence("GetTravel", "free_entry", True_=1)
        )
    ],
    "meta": {"subset": "mix"},
}
STAR: dict[str, Any] = {
    "example_id": "durec_src_0001",
    "sessions": [session("en_dev_1", 'GetMusic(artist="Jay Chou", song_name="A")')],
    "api_calls": [],
    "api_calls_drop": [],
    "api_calls_pref": [
        {
            "value_group": "prefers_star",
            "group_preference": "celebrity_affinity",
            "count": 2,
            "evidence": [
                {"domain": "GetMusic", "slot": "artist", "values": [{"value": "Jay Chou", "meta": {"count": 2}}]}
            ],
        }
    ],
    "meta": {"subset": "mix"},
}
CONTESTED: dict[str, Any] = STAR | {
    "example_id": "conflict_1",
    "meta": {"subset": "conflict_noise", "majority": "Jay Chou", "minority": "Bo Huang", "axis": "celebrity_affinity"},
}


def write(path: Path, records: list[Any], lines: bool = False) -> Path:
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records, indent=2)
    path.write_text(text, encoding="utf-8")
    return path


def of(instances: list[Instance], reasoning_type: str, query_type: str = "cf") -> dict[str, Instance]:
    found = [
        i for i in instances if (i.reasoning_type, i.query_type, i.schema_name) == (reasoning_type, query_type, "base")
    ]
    return {i.gold[0].name: i for i in found}


@pytest.mark.parametrize("lines", [False, True])
def test_json_and_json_lines(tmp_path: Path, lines: bool) -> None:
    histories, instances = load_released(write(tmp_path / "m.json", [PLAIN, STAR], lines))
    assert list(histories) == ["dev_0001", "durec_src_0001"]
    first = histories["dev_0001"].sessions[0]
    assert first.id == "1_1" and str(first.calls[0]) == CAR and first.turns[1].calls == first.calls
    assert [turn.role for turn in first.turns] == ["user", "assistant"]
    assert len({i.id for i in instances}) == len(instances)


def test_one_object_alone_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(PLAIN, indent=1), encoding="utf-8")
    assert list(load_released(path)[0]) == ["dev_0001"]
    assert load_benchmark(path).name == "one"


def test_released_rules() -> None:
    _, instances = build([("x", PLAIN)])
    assert list(of(instances, "recall")) == ["GetRentalCars"]
    induction = of(instances, "induction")
    assert list(induction) == ["GetRentalCars", "GetTravel"]  # twice or once: any count
    transfer = of(instances, "transfer")
    assert list(transfer) == ["GetFlights", "GetHotels", "GetRestaurants", "GetRideSharing"]
    assert len(transfer["GetHotels"].gold) == 2
    guided = of(instances, "transfer", "cg")["GetFlights"]
    assert str(guided.gold[0]).endswith('flight_class="Economy", origin="San Francisco")')
    assert guided.id == "cg-transfer-dev_0001_0"


def test_uncontested_stars_accept_any_celebrity_and_contested_ones_do_not() -> None:
    _, plain = build([("x", STAR)])
    assert {c.arguments["starring"] for c in of(plain, "transfer")["GetMovies"].gold} == set(CELEBRITIES)
    _, contested = build([("x", CONTESTED)])
    assert [str(c) for c in of(contested, "transfer")["GetMovies"].gold] == ['GetMovies(starring="Jay Chou")']
    assert of(contested, "recall") == {}


def test_without_recurring_calls_recall_takes_the_sessions() -> None:
    _, instances = build([("x", STAR)])
    assert str(of(instances, "recall")["GetMusic"].gold[0]) == 'GetMusic(artist="Jay Chou", song_name="A")'


def test_a_template_whose_target_the_gold_lacks_counts_as_other() -> None:
    record = copy.deepcopy(PLAIN)
    record["api_calls_pref"] = [preference("solo_usage", evidence("GetBuses", "group_size", **{"1": 2}))]
    _, instances = build([("x", record)])
    assert of(instances, "transfer", "cg")["GetFlights"].preference == "other"
    assert of(instances, "transfer", "cf")["GetFlights"].preference == "solo_usage"
    assert of(instances, "transfer", "cg")["GetEvents"].preference == "solo_usage"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("example_id",), "key 'example_id' is missing"),
        (("sessions",), "record dev_0001: key 'sessions' is missing"),
        (("api_calls",), "record dev_0001: key 'api_calls' is missing"),
        (("api_calls_pref",), "record dev_0001: key 'api_calls_pref' is missing"),
        (("meta",), "record dev_0001, meta: key 'meta' is missing|record dev_0001: key 'meta' is missing"),
        (("sessions", 1, "api_call"), r"record dev_0001, sessions\[1\]: key 'api_call' is missing"),
        (("sessions", 1, "dialogue", 0, "message"), r"sessions\[1\], dialogue\[0\]: key 'message' is missing"),
        (
            ("api_calls_pref", 0, "evidence", 0, "domain"),
            r"api_calls_pref\[0\], evidence\[0\]: key 'domain' is missing",
        ),
    ],
)
def test_a_missing_key_names_the_record_and_the_key(path: tuple[Any, ...], message: str) -> None:
    record: Any = copy.deepcopy(PLAIN)
    inner = record
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    with pytest.raises(InputError, match=message):
        build([("file.json[0]", record)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sessions": {}}, "key 'sessions' must be a list"),
        ({"example_id": 3}, "key 'example_id' must be text"),
        ({"api_calls": ["GetMusic(artist=1"]}, "record dev_0001: key 'api_calls': not an MPT call string"),
        ({"api_calls_pref": [{"value_group": "rich", "evidence": []}]}, "key 'value_group' is 'rich'"),
        ({"meta": None}, "record dev_0001, meta: expected an object"),
    ],
)
def test_odd_values(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build([("x", PLAIN | change)])


def test_files_that_are_no_records(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(PLAIN) + "\n{oops\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad.jsonl:2: not JSON"):
        load_released(bad)
    bad.write_text("[\n{},\n{oops\n]", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad.jsonl:3: not JSON"):
        load_released(bad)
    bad.write_text('{\n "example_id": "a",\n oops\n}', encoding="utf-8")
    with pytest.raises(InputError, match=r"bad.jsonl:3: not JSON"):
        load_released(bad)
    bad.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="no record"):
        load_released(bad)
    with pytest.raises(InputError, match="dev_0001: example_id is there more than once"):
        build([("a", PLAIN), ("b", PLAIN)])
    with pytest.raises(InputError, match=r"x\[0\]: expected an object, found int"):
        build([("x[0]", 3)])


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"count": "many"}, "meta: key 'count' must be a whole number, found 'many'"),
        ({"count": [1]}, "key 'count' must be a whole number"),
        (5, "values, meta: expected an object, found int"),
    ],
)
def test_an_odd_count_of_evidence(meta: Any, message: str) -> None:
    record = copy.deepcopy(PLAIN)
    record["api_calls_pref"][0]["evidence"][0]["values"][0]["meta"] = meta
    with pytest.raises(InputError, match=message):
        build([("here", record)])


def test_calls_of_a_turn_that_are_no_list() -> None:
    record = copy.deepcopy(PLAIN)
    record["sessions"][0]["dialogue"][1]["service"] = 5
    with pytest.raises(InputError, match=r"dialogue\[1\]: key 'service' must be a list, found int"):
        build([("here", record)])
