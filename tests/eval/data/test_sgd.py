"""SGD dialogues to sessions: MPT's rules on small dialogues of our own, and known facts of the real dev split."""

import gzip
import io
import json
import tarfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from eval.data import sgd
from eval.data.sgd_files import read_dialogues
from eval.data.sgd_slots import DevSlots, TableSlots, function_of
from prefine_dspy.errors import InputError

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
ARCHIVE = SHARED / "sgd.tar.gz"
TABLE = SHARED / "nlsi-src" / "common-domain-slots.tsv"

app = typer.Typer()
app.command()(sgd.main)


def dialogue(*calls: tuple[str, dict[str, str]], name: str = "9_00001") -> dict[str, Any]:
    """A dialogue in which the system executes the calls one after the other."""
    turns: list[dict[str, Any]] = []
    for service, parameters in calls:
        frame = {"service": service, "service_call": {"method": "Find", "parameters": parameters}, "actions": []}
        user = {"service": service, "state": {"slot_values": {"city": ["Nowhere"]}}, "actions": []}
        turns.append({"speaker": "USER", "utterance": "Could you look that up?", "frames": [user]})
        turns.append({"speaker": "SYSTEM", "utterance": "Here is what I found.", "frames": [frame]})
    turns.append({"speaker": "USER", "utterance": "Lovely.", "frames": []})
    return {"dialogue_id": name, "services": [service for service, _ in calls], "turns": turns}


def row(*calls: tuple[str, dict[str, str]]) -> tuple[list[str], list[str]]:
    found = sgd.convert(dialogue(*calls), DevSlots()).row()
    return found["api_call"], found["deprecated_api_call"]  # type: ignore[return-value]


def test_slots_are_renamed_in_place_after_sorting_by_their_original_names() -> None:
    calls, dropped = row(("Buses_1", {"travelers": "2", "to_location": "Rome", "from_location": "Oslo"}))
    assert calls == ['GetBuses(origin="Oslo", destination="Rome", group_size="2")']
    assert dropped == []
    calls, _ = row(("Hotels_4", {"star_rating": "3", "location": "Rome", "number_of_rooms": "1"}))
    assert calls == ['GetHotels(location="Rome", number_of_rooms="1", average_star="3")']


def test_dropped_slots_keep_their_names_each_in_a_call_string_of_its_own_repeats_included() -> None:
    parameters = {"stay_length": "2", "place_name": "The Harbour", "location": "Rome"}
    calls, dropped = row(("Hotels_4", parameters), ("Hotels_4", parameters))
    assert calls == ['GetHotels(location="Rome")']
    assert dropped == ['GetHotels(place_name="The Harbour")', 'GetHotels(stay_length="2")'] * 2


def test_the_last_call_of_a_function_replaces_earlier_ones_at_their_place() -> None:
    calls, _ = row(
        ("Music_1", {"genre": "Pop", "artist": "Someone"}),
        ("Weather_1", {"city": "Oslo"}),
        ("Music_1", {"song_name": "Tide"}),
    )
    assert calls == ['GetMusic(song_name="Tide")', 'GetWeather(city="Oslo")']


def test_two_services_of_one_function_replace_each_other() -> None:
    calls, _ = row(("Hotels_1", {"destination": "Rome", "has_wifi": "True"}), ("Hotels_4", {"location": "Oslo"}))
    assert calls == ['GetHotels(location="Oslo")']


def test_a_call_that_loses_every_argument_replaces_nothing() -> None:
    calls, dropped = row(("Movies_2", {"genre": "Drama"}), ("Movies_2", {"starring": "Someone"}), ("Movies_2", {}))
    assert calls == ['GetMovies(genre="Drama")']
    assert dropped == ['GetMovies(starring="Someone")', "GetMovies()"]


def test_two_slots_of_one_argument_both_survive() -> None:
    calls, dropped = row(
        ("Banks_2", {"recipient_name": "Ann", "recipient_account_type": "checking", "account_type": "savings"})
    )
    assert calls == ['GetBanks(recipient_account_type="savings", recipient_account_type="checking")']
    assert dropped == ['GetBanks(recipient_name="Ann")']


def test_turns_show_what_was_executed_in_them() -> None:
    record = sgd.convert(
        dialogue(("Buses_1", {"travelers": "1"}), ("Services_4", {"type": "Doctor", "city": "Oslo"}), ("Music_1", {})),
        DevSlots(),
    )
    turns = record.session.turns
    assert [turn.role for turn in turns] == ["user", "assistant"] * 3 + ["user"]
    assert turns[1].text == "Here is what I found."
    assert [str(call) for turn in turns for call in turn.calls] == [
        'GetBuses(group_size="1")',
        'GetServices(city="Oslo", type="Doctor")',
        "GetMusic()",
    ]
    assert [str(call) for call in record.session.calls] == ['GetBuses(group_size="1")']


@pytest.mark.parametrize(
    ("service", "function"),
    [
        ("Hotels_2", "GetHouseStays"),
        ("Services_1", "GetSalons"),
        ("Services_4", "GetServices"),
        ("Buses_3", "GetBuses"),
    ],
)
def test_functions(service: str, function: str) -> None:
    assert function_of(service) == function


def write_table(folder: Path) -> Path:
    table = folder / "table.tsv"
    rows = ["domain\tslot_1\tslot_2\tvalue", "Buses\tcoach\tvehicle\ty", "Buses\tfare\tvehicle\tn"]
    rows += ["Hotels\tstars\taverage_rating\ty"]
    table.write_text("\r\n".join(rows) + "\r\n", encoding="utf-8")
    return table


def test_a_table_renames_keeps_what_it_names_and_drops_the_rest(tmp_path: Path) -> None:
    rules = TableSlots(write_table(tmp_path))
    slots = ["coach", "vehicle", "fare", "group_size", "luggage"]
    assert [rules.argument("Buses_7", slot) for slot in slots] == ["vehicle", "vehicle", "fare", "group_size", None]
    assert rules.argument("Hotels_3", "stars") == "average_star"
    assert rules.argument("Hotels_3", "average_rating") == "average_star"
    assert rules.argument("Calendar_1", "event_date") is None


def write_split(folder: Path, split: str, files: dict[str, list[dict[str, Any]]]) -> Path:
    (folder / split).mkdir()
    (folder / split / "schema.json").write_text("[]", encoding="utf-8")
    for name, dialogues in files.items():
        (folder / split / name).write_text(json.dumps(dialogues), encoding="utf-8")
    return folder


def pack(folder: Path, archive: Path) -> Path:
    with tarfile.open(archive, "w:gz") as packed:
        for path in sorted(folder.rglob("*.json"), reverse=True):
            content = path.read_bytes()
            member = tarfile.TarInfo(f"sgd-master/{path.relative_to(folder)}")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return archive


def test_a_folder_and_its_archive_give_the_same_sessions_in_file_order(tmp_path: Path) -> None:
    call = ("Weather_1", {"city": "Malmö"})
    source = tmp_path / "sgd"
    source.mkdir()
    write_split(
        source,
        "dev",
        {
            "dialogues_002.json": [dialogue(call, name="2_00000")],
            "dialogues_001.json": [dialogue(call, name="1_00001"), dialogue(call, name="1_00000")],
        },
    )
    archive = pack(source, tmp_path / "sgd.tar.gz")
    sessions = list(sgd.load_sessions(source))
    assert [session.id for session in sessions] == ["1_00001", "1_00000", "2_00000"]
    assert list(sgd.load_sessions(archive)) == sessions


def test_the_command_prints_one_json_line_a_dialogue(tmp_path: Path) -> None:
    calls = [("Weather_1", {"city": "Malmö"}), ("Services_4", {"city": "Malmö"})]
    write_split(tmp_path, "dev", {"dialogues_001.json": [dialogue(*calls)]})
    result = CliRunner().invoke(app, [str(tmp_path), "--split", "dev"])
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {
            "dialogue_id": "9_00001",
            "api_call": ['GetWeather(city="Malmö")'],
            "deprecated_api_call": ['GetServices(city="Malmö")'],
        }
    ]


def test_a_service_outside_dev_asks_for_the_slot_table(tmp_path: Path) -> None:
    unknown = dialogue(("Buses_7", {"coach": "blue"}))
    write_split(tmp_path, "train", {"dialogues_001.json": [dialogue(("Weather_1", {"city": "Rome"})), unknown]})
    asked = CliRunner().invoke(app, [str(tmp_path), "--split", "train"])
    assert (asked.exit_code, asked.stdout) == (2, "")
    assert "Buses_7" in asked.stderr and "--slot-table" in asked.stderr
    assert len(asked.stderr.splitlines()) == 1
    given = CliRunner().invoke(app, [str(tmp_path), "--split", "train", "--slot-table", str(write_table(tmp_path))])
    assert given.exit_code == 0
    assert 'GetBuses(vehicle=\\"blue\\")' in given.stdout


def test_bad_input_is_one_line_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give the folder that holds dev/"):
        list(read_dialogues(tmp_path, "dev"))
    write_split(tmp_path, "dev", {"dialogues_001.json": []})
    broken = tmp_path / "dev" / "dialogues_001.json"
    broken.write_text('[{"dialogue_id": ', encoding="utf-8")
    with pytest.raises(InputError, match="dialogues_001.json is not JSON"):
        list(read_dialogues(tmp_path, "dev"))
    broken.write_text('[{"dialogue_id": "3_00001"}, 5]', encoding="utf-8")
    with pytest.raises(InputError, match="3_00001.*turns"):
        list(sgd.load_sessions(tmp_path))
    with pytest.raises(InputError, match="as a tar archive") as no_archive:
        list(sgd.load_sessions(broken))
    assert "\n" not in str(no_archive.value)
    broken.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="dialogues_001.json is not JSON"):
        list(read_dialogues(tmp_path, "dev"))
    broken.unlink()
    broken.mkdir()
    with pytest.raises(InputError, match="cannot read .*dialogues_001.json"):
        list(read_dialogues(tmp_path, "dev"))
    broken.rmdir()
    broken.write_text("5", encoding="utf-8")
    with pytest.raises(InputError, match="no slot table"):
        TableSlots(broken)
    with pytest.raises(InputError, match="cannot read the slot table"):
        TableSlots(tmp_path / "missing.tsv")


def test_an_archive_that_is_cut_off_or_damaged_is_no_smaller_corpus(tmp_path: Path) -> None:
    dialogues = json.dumps([{"dialogue_id": "1", "turns": []}]).encode()
    archive = tmp_path / "sgd.tar"
    with tarfile.open(archive, "w") as packed:
        for number in (1, 2, 3):
            member = tarfile.TarInfo(f"sgd/dev/dialogues_{number:03}.json")
            member.size = len(dialogues)
            packed.addfile(member, io.BytesIO(dialogues))
    whole = archive.read_bytes()
    assert len(list(read_dialogues(archive, "dev"))) == 3
    member_bytes = 2 * tarfile.BLOCKSIZE
    damaged = {
        "between two members": whole[: 2 * member_bytes],
        "in a header": whole[: 2 * member_bytes + 100],
        "in a member": whole[: 2 * member_bytes + 520],
        "a header that cannot be read": whole[: 2 * member_bytes] + b"x" * 512 + whole[2 * member_bytes + 512 :],
    }
    for what, content in damaged.items():
        for name, packing in (("cut.tar", bytes), ("cut.tar.gz", gzip.compress)):
            (tmp_path / name).write_bytes(packing(content))
            with pytest.raises(InputError, match=f"cannot read .*{name} as a tar archive") as told:
                list(read_dialogues(tmp_path / name, "dev"))
            assert "\n" not in str(told.value), what
    packed_whole = gzip.compress(whole)
    (tmp_path / "cut.tar.gz").write_bytes(packed_whole[: len(packed_whole) // 2])
    with pytest.raises(InputError, match="cannot read .*cut.tar.gz as a tar archive"):
        list(read_dialogues(tmp_path / "cut.tar.gz", "dev"))


@pytest.fixture(scope="module")
def dev() -> list[sgd.CorpusRecord]:
    if not ARCHIVE.exists():
        pytest.skip("SGD is not beside the checkout")
    return list(sgd.load_records(ARCHIVE))


@pytest.mark.shared_data
def test_dev_split_has_the_known_values(dev: list[sgd.CorpusRecord]) -> None:
    assert len(dev) == 2098
    assert sum(not record.session.calls for record in dev) == 110
    values: dict[tuple[str, str], Counter[str]] = {}
    for record in dev:
        for turn in record.session.turns:
            for call in turn.calls:
                for function, argument, value in call.triplets():
                    values.setdefault((function, argument), Counter())[value] += 1
    assert values["GetBanks", "recipient_account_type"].total() == 387 + 132
    assert values["GetBuses", "group_size"] == {"1": 111, "2": 95, "3": 106, "4": 109}
    assert values["GetEvents", "number_of_tickets"].total() == 223
    assert values["GetFlights", "flight_class"] == {"Economy": 75, "Premium Economy": 28}
    assert values["GetFlights", "passengers"].total() == 115
    assert values["GetHotels", "average_star"] == {"5": 6, "4": 52, "3": 73, "2": 58, "1": 48}
    assert values["GetRentalCars", "car_type"] == {"Standard": 184, "Full-size": 36, "Compact": 65}
    assert values["GetRestaurants", "price_range"] == {"moderate": 44, "ultra high-end": 2, "pricey": 4, "cheap": 4}
    assert values["GetRideSharing", "shared_ride"] == {"True": 216}
    assert values["GetTravel", "free_entry"] == {"True": 38}


@pytest.mark.shared_data
def test_built_in_slots_and_the_table_agree_on_dev(dev: list[sgd.CorpusRecord]) -> None:
    assert list(sgd.load_records(ARCHIVE, slot_table=TABLE)) == dev


@pytest.mark.shared_data
def test_built_in_slots_and_the_table_agree_on_every_slot_of_dev_services(dev: list[sgd.CorpusRecord]) -> None:
    with tarfile.open(ARCHIVE) as archive:
        content = archive.extractfile("dev/schema.json")
        assert content is not None
        schema = json.loads(content.read())
    built_in, table = DevSlots(), TableSlots(TABLE)
    for service in schema:
        name = service["service_name"]
        for intent in service["intents"]:
            for slot in [*intent["required_slots"], *intent["optional_slots"]]:
                assert built_in.argument(name, slot) == table.argument(name, slot), (name, slot)


@pytest.mark.shared_data
def test_dev_split_is_quick(dev: list[sgd.CorpusRecord]) -> None:
    begin = time.process_time()
    assert len(list(sgd.load_records(ARCHIVE))) == len(dev)
    assert time.process_time() - begin < 10
