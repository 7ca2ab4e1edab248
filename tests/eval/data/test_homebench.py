"""HomeBench records to sessions: which operations stay, and the turns written for them."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from eval.data import homebench
from eval.data.homebench_operations import kept_calls, read_operations, says
from eval.data.homebench_wording import exchange
from prefine_dspy.errors import InputError
from prefine_dspy.types import Session, ToolCall

RECORDS = Path(__file__).parents[3].parent / "shared" / "data" / "homebench" / "test.jsonl.gz"

app = typer.Typer()
app.command()(homebench.main)


def texts(instruction: str, output: str) -> list[str]:
    return [str(call) for call in kept_calls(instruction, output)]


def test_operations_are_read_from_both_published_forms() -> None:
    multi = read_operations("'''error_input,kitchen.fan.turn_on(),garage.light.set_brightness(30),'''")
    assert [operation and operation.method for operation in multi] == [None, "turn_on", "set_brightness"]
    single = read_operations("''' foyer.light.set_brightness(5)'''")
    assert [operation and operation.value for operation in single] == ["5"]
    assert read_operations("''''''") == []


def test_valid_operations_stay_in_order_area_first() -> None:
    assert texts(
        "Please start the fan in the kitchen, make it 21 degrees in the bathroom, and dim the garage light to 30.",
        "'''kitchen.fan.turn_on(),error_input,garage.light.set_brightness(30),'''",
    ) == ['GetFan(area="kitchen", action="turn_on")', 'GetLight(area="garage", brightness="30")']


def test_a_function_may_be_called_several_times() -> None:
    assert texts(
        "Run the diffuser in the foyer every 10 minutes, no, run the diffuser in the foyer every 20 minutes.",
        "'''foyer.aromatherapy.set_interval(10),foyer.aromatherapy.set_interval(20),'''",
    ) == ['GetAromatherapy(area="foyer", interval="10")', 'GetAromatherapy(area="foyer", interval="20")']


@pytest.mark.parametrize(
    ("instruction", "operation"),
    [
        ("Turn the foyer light down by 20 percent.", "foyer.light.set_brightness(20)"),
        ("Turn the foyer light down by 20 percent.", "foyer.light.set_brightness(60)"),
        ("Turn off the volume in the garage.", "garage.media_player.set_volume(0)"),
        ("Make it 30 in the garage.", "garage.media_player.set_volume(3)"),
        ("Make it 30.5 in the garage.", "garage.media_player.set_volume(30)"),
        ("Lower the fan in the kitchen by 1 level to down.", "kitchen.fan.set_swing(down)"),
        ("Start the vacuum.", "vacuum_robot.start()"),
        ("Feed the cat in the kitchen.", "kitchen.feeder.turn_on()"),
        ("Polish the light in the kitchen.", "kitchen.light.polish()"),
    ],
)
def test_an_operation_whose_value_was_not_said_is_dropped(instruction: str, operation: str) -> None:
    assert texts(instruction, f"''' {operation}'''") == []


def test_a_value_said_of_another_device_does_not_count() -> None:
    assert texts(
        "Turn the foyer light down by 20 percent, and bring the volume in the garage to 60.",
        "'''foyer.light.set_brightness(60),garage.media_player.set_volume(60),'''",
    ) == ['GetMediaPlayer(area="garage", volume="60")']


@pytest.mark.parametrize(
    ("clause", "value", "said"),
    [
        ("raise it by 13 percent to 80", "80", True),
        ("raise it by 13 percent to 80", "13", False),
        ("make it 20% brighter light", "20", True),
        ("put it on fan-only mode", "fan_only", True),
        ("let it swing automatically", "auto", True),
        ("move it upwards", "up", True),
        ("use the heating in the study", "heat", False),
        ("Heat mode please", "heat", True),
    ],
)
def test_what_counts_as_said(clause: str, value: str, said: bool) -> None:
    assert says(clause, value) is said


def test_eco_of_the_water_heater_is_an_argument_of_its_own() -> None:
    call = texts("Put the boiler in the kitchen on eco.", "''' kitchen.water_heater.set_mode(eco)'''")
    assert call == ['GetWaterHeater(area="kitchen", eco_mode="on")']


def write(path: Path, *records: Mapping[str, object]) -> Path:
    lines = "".join(json.dumps(record) + "\n" for record in records)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


RECORD = {
    "id": "home7_multi_5",
    "input": "Start the fan in the dining room, and bring the light in the corridor to 40.",
    "output": "'''ding_room.fan.turn_on(),corridor.light.set_brightness(40),'''",
    "home_id": 7,
    "type": "multi2_normal",
}


def session(tmp_path: Path) -> Session:
    return next(homebench.load_sessions(write(tmp_path / "records.jsonl", RECORD)))


def test_sessions_are_the_same_from_plain_and_compressed_files(tmp_path: Path) -> None:
    plain = list(homebench.load_sessions(write(tmp_path / "records.jsonl", RECORD)))
    assert list(homebench.load_sessions(write(tmp_path / "records.jsonl.gz", RECORD))) == plain
    assert [one.id for one in plain] == ["home7_multi_5"]


def test_every_call_is_asked_for_and_confirmed_in_turn(tmp_path: Path) -> None:
    one = session(tmp_path)
    assert [turn.role for turn in one.turns] == ["user", "assistant"] * (len(one.turns) // 2)
    assert tuple(call for turn in one.turns for call in turn.calls) == one.calls
    assert "dining room" in one.turns[0].text and "fan" in one.turns[0].text
    assert all(turn.text for turn in one.turns)


def test_wordings_vary_with_the_key_and_never_lose_the_value() -> None:
    call = ToolCall.of("GetHeating", area="bathroom", temperature="23")
    dialogues = {key: exchange(call, key) for key in map(str, range(40))}
    assert {len(turns) for turns in dialogues.values()} == {2, 4}
    assert all("23" in turns[-2].text or "23" in turns[0].text for turns in dialogues.values())
    assert all(turns[-1].calls == (call,) for turns in dialogues.values())
    assert exchange(call, "7") == dialogues["7"]


def test_eco_adds_one_exchange_in_a_used_room_and_its_call_last(tmp_path: Path) -> None:
    one = session(tmp_path)
    places = set()
    for seed in range(20):
        eco = homebench.with_eco(one, seed)
        assert eco == homebench.with_eco(one, seed)
        assert eco.calls[:-1] == one.calls
        added = eco.calls[-1]
        assert added.name in homebench.ECO_FUNCTIONS
        assert list(added.arguments) == ["area", "eco_mode"]
        assert added.arguments["area"] in {"ding_room", "corridor"}
        assert (added.name, added.arguments["area"]) != ("GetHeating", "corridor")
        place = next(i for i, turn in enumerate(eco.turns) if turn.calls == (added,))
        places.add(place)
        assert (*eco.turns[: place - 1], *eco.turns[place + 1 :]) == one.turns
    assert len(places) > 1


def test_eco_can_be_limited_to_one_tool_and_needs_a_used_room(tmp_path: Path) -> None:
    eco = homebench.with_eco(session(tmp_path), 1, functions=["GetHeating"])
    assert str(eco.calls[-1]) == 'GetHeating(area="ding_room", eco_mode="on")'
    with pytest.raises(InputError, match="no room"):
        homebench.with_eco(Session(id="empty"), 1)


def test_the_command_prints_records_without_calls_too(tmp_path: Path) -> None:
    nothing = {"id": "home7_one_1", "input": "Fly.", "output": "'''error_input'''"}
    result = CliRunner().invoke(app, [str(write(tmp_path / "records.jsonl", RECORD, nothing))])
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {
            "dialogue_id": "home7_multi_5",
            "api_call": ['GetFan(area="ding_room", action="turn_on")', 'GetLight(area="corridor", brightness="40")'],
            "deprecated_api_call": [],
        },
        {"dialogue_id": "home7_one_1", "api_call": [], "deprecated_api_call": []},
    ]


def test_bad_files_are_one_line_that_names_them(tmp_path: Path) -> None:
    missing = CliRunner().invoke(app, [str(tmp_path / "none.jsonl")])
    assert missing.exit_code == 2
    assert "none.jsonl" in missing.stderr and len(missing.stderr.splitlines()) == 1
    for content in ("", "\n \n"):
        (tmp_path / "empty.jsonl").write_text(content, encoding="utf-8")
        empty = CliRunner().invoke(app, [str(tmp_path / "empty.jsonl")])
        assert (empty.exit_code, empty.stdout) == (2, "")
        assert "empty.jsonl is empty: give HomeBench's records" in empty.stderr
    with pytest.raises(InputError, match="line 2"):
        list(homebench.load_sessions(write(tmp_path / "records.jsonl", RECORD, {"id": "home1_one_1"})))
    deep = tmp_path / "deep.jsonl"
    deep.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="deep.jsonl, line 1"):
        list(homebench.load_sessions(deep))
    truncated = tmp_path / "cut.jsonl.gz"
    truncated.write_bytes(gzip.compress(json.dumps(RECORD).encode())[:-12])
    with pytest.raises(InputError, match="cut.jsonl.gz"):
        list(homebench.load_sessions(truncated))


@pytest.mark.shared_data
@pytest.mark.skipif(not RECORDS.exists(), reason="HomeBench is not beside the checkout")
def test_records_that_mpt_released_come_out_as_released() -> None:
    sessions = {one.id: [str(call) for call in one.calls] for one in homebench.load_sessions(RECORDS)}
    assert len(sessions) == 17366
    assert sessions["home53_one_270"] == ['GetHeating(area="living_room", temperature="20")']
    assert sessions["home64_one_332"] == ['GetAirConditioner(area="living_room", temperature="30")']
    assert sessions["home58_multi_109"] == [
        'GetFan(area="ding_room", action="turn_on")',
        'GetAirConditioner(area="guest_bedroom", temperature="28")',
    ]
    assert sessions["home22_multi_416"] == [
        'GetCurtain(area="balcony", degree="20")',
        'GetAirConditioner(area="guest_bedroom", temperature="22")',
        'GetAromatherapy(area="foyer", interval="10")',
        'GetAromatherapy(area="foyer", interval="20")',
        'GetFan(area="ding_room", action="turn_on")',
    ]
