"""Loading NLSI: layouts, names, splits, tags, and what a broken file is told."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval.data.nlsi import MINI_NLSI, REASONING_TYPES, SPLITS, balanced, load_nlsi
from eval.data.nlsi_calls import read_gold
from eval.data.nlsi_record import dialogue_turns, read_record
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall
from programs.tag_tables import load_tags


def instruction(text: str, number: str = "0", **more: object) -> dict[str, object]:
    return {"nl_instruction": text, "instruction_id": number, **more}


def record(**changes: object) -> dict[str, Any]:
    """A record in the published layout; a change to None takes the key out."""
    whole: dict[str, Any] = {
        "example_id": "one",
        "user_utterance": "User: A film, please.\nAgent: Where?\nUser: In Tarn.\n",
        "all_standing_instructions": [instruction("I like soup.", "4"), instruction("Films are in 3d.", "7")],
        "applicable_standing_instructions": [instruction("Films are in 3d.", "0")],
        "api_calls": ['GetMovies(location="Tarn", show_type="3d")'],
        "metadata": {"dialogue_id": "9_1", "example_id": "one", "example_type": "Plain"},
        "pred_applicable_standing_instructions": None,
        "pred_api_calls": None,
    }
    return {key: value for key, value in {**whole, **changes}.items() if key not in changes or value is not None}


def rebuilt(**changes: object) -> dict[str, Any]:
    """The same in the regenerated layout."""
    whole = record(**changes)
    for key in ("all_standing_instructions", "applicable_standing_instructions"):
        whole[key] = [{**one, "instruction_src": None} for one in whole[key]]
    whole["metadata"] = {**whole["metadata"], "source_label": "simple"}
    return {key: value for key, value in whole.items() if not key.startswith("pred_")}


def write(folder: Path, *records: dict[str, Any], name: str = "test.jsonl") -> Path:
    (folder / name).write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return folder


class TestRecord:
    def test_applicable_instructions_have_the_ids_of_the_profile(self) -> None:
        request = read_record("here", record()).request
        assert [one.id for one in request.profile] == ["4", "7"]
        assert request.applicable == (request.profile[1],)

    def test_one_that_is_not_in_the_profile_keeps_an_id_of_its_own(self) -> None:
        request = read_record("here", record(applicable_standing_instructions=[instruction("Tea.", "4")])).request
        assert [one.id for one in request.applicable] == ["applicable-0"]

    def test_instruction_ids_that_do_not_tell_apart_give_way_to_places(self) -> None:
        doubled = [instruction("Tea.", "1"), instruction("Milk.", "1"), {"nl_instruction": "Rum."}]
        request = read_record("here", record(all_standing_instructions=doubled)).request
        assert [one.id for one in request.profile] == ["0", "1", "2"]

    @pytest.mark.parametrize(
        ("label", "kind"),
        [
            ("Plain", "Plain"),
            ("simple", "Plain"),
            ("no_instructions", "NoneApplicable"),
            ("NoInstructions", "NoneApplicable"),
            ("chains_simple", "MultiHop"),
            ("multiple_instructions", "MultiPreference"),
            ("chains_domains", "MultiDomain"),
            ("override", "Conflict"),
            ("MULTI-DOMAIN", "MultiDomain"),
        ],
    )
    def test_reasoning_types(self, label: str, kind: str) -> None:
        assert read_record("here", record(metadata={"example_type": label})).reasoning_type == kind
        assert read_record("here", record(metadata={"source_label": label})).reasoning_type == kind
        assert read_record("here", record(metadata=None, example_type=label)).reasoning_type == kind

    def test_metadata_may_be_missing_but_not_the_type(self) -> None:
        found = read_record("here", record(metadata=None, example_type="Plain"))
        assert found.dialogue_id == "" and found.id == "one"
        for nothing in (None, {}):
            with pytest.raises(InputError, match=r"^f:3: no reasoning type: .* one of NoneApplicable, Plain"):
                read_record("f:3", record(metadata=nothing))
        with pytest.raises(InputError, match=r"^f:3: unknown reasoning type 'hard': use one of"):
            read_record("f:3", record(metadata={"example_type": "hard"}))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"example_id": None, "metadata": {"example_type": "Plain"}}, "key 'example_id' is missing"),
            ({"user_utterance": None}, "key 'user_utterance' is missing"),
            ({"user_utterance": 7}, "key 'user_utterance' must be text, found int"),
            ({"user_utterance": "  "}, "key 'user_utterance' must be text, found nothing"),
            ({"user_utterance": "User:\nAgent: "}, "key 'user_utterance' holds no dialogue"),
            ({"all_standing_instructions": "x"}, "key 'all_standing_instructions' must be a list, found str"),
            ({"all_standing_instructions": ["x"]}, "all_standing_instructions[0]: expected an object, found str"),
            (
                {"applicable_standing_instructions": [{}]},
                "applicable_standing_instructions[0]: key 'nl_instruction' is missing",
            ),
            ({"api_calls": {}}, "key 'api_calls' must be a list, found dict"),
            ({"api_calls": [3]}, "api_calls[0] must be text, found int"),
            ({"api_calls": ["call me"]}, "api_calls[0]: not an NLSI call string: 'call me'"),
            ({"metadata": "x"}, "metadata: expected an object, found str"),
        ],
    )
    def test_what_is_missing_or_odd(self, changes: dict[str, object], message: str) -> None:
        with pytest.raises(InputError) as caught:
            read_record("f:3", record(**changes))
        assert str(caught.value).startswith("f:3") and message in str(caught.value)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("value", [None, 3, "x", [record()]])
    def test_no_object(self, value: object) -> None:
        with pytest.raises(InputError, match=r"^f:3: expected an object"):
            read_record("f:3", value)


def test_dialogues() -> None:
    turns = dialogue_turns("User: Hi\nthere\n\nagent : Yes?\r\nUSER: The 3:30 one\n")
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "Hi\nthere"),
        ("assistant", "Yes?"),
        ("user", "The 3:30 one"),
    ]
    assert dialogue_turns("just this")[0].role == "user"


def test_gold_calls_are_read_tolerantly_and_kept_as_published() -> None:
    odd = 'GetRestaurants(date="the 9th", , , city="Tarn, Upper", , party_size="2")'
    expected = ToolCall.of("GetRestaurants", date="the 9th", city="Tarn, Upper", party_size="2")
    assert read_gold(odd) == expected
    found = read_record("here", record(api_calls=[odd]))
    assert found.gold == (odd,) and found.gold_calls() == [expected]
    assert read_gold('GetMusic(genre="pop", genre="pop")') == ToolCall.of("GetMusic", genre="pop")
    assert read_gold('GetMusic(genre="pop", genre="rock")').arguments == {"genre": ["pop", "rock"]}
    assert read_gold("GetMusic()") == ToolCall.of("GetMusic")
    assert read_gold("GetMusic(genre='pop')") == ToolCall.of("GetMusic", genre="pop")
    with pytest.raises(InputError, match="not an NLSI call string"):
        read_gold('GetMusic(genre="pop") GetMovies(genre="drama")')


class TestFiles:
    def test_a_folder_and_a_file(self, tmp_path: Path) -> None:
        write(tmp_path, record(), record(example_id="two"))
        whole = load_nlsi(tmp_path, "test")
        assert [instance.id for instance in whole.instances] == ["one", "two"]
        assert (whole.split, whole.tags) == ("test", {})
        assert load_nlsi(str(tmp_path / "test.jsonl"), "test").identity == whole.identity

    def test_the_hubs_name_of_the_validation_file(self, tmp_path: Path) -> None:
        write(tmp_path, record(), name="val.jsonl")
        assert len(load_nlsi(tmp_path, "validation").instances) == 1

    def test_names(self, tmp_path: Path) -> None:
        mine, nlsi = tmp_path / "mine", tmp_path / "nlsi"
        mine.mkdir()
        nlsi.mkdir()
        assert load_nlsi(write(mine, record()), "test").name == "mine"
        assert load_nlsi(mine / "test.jsonl", "test").name == "test"
        assert load_nlsi(write(nlsi, record()), "test").name == "nlsi-files"
        assert load_nlsi(write(nlsi, rebuilt()), "test").name == "NLSI-regenerated"
        assert load_nlsi(nlsi / "test.jsonl", "test").name == "NLSI-regenerated"
        for told, name in (("My set", "My set"), ("NLSI", "nlsi-files")):
            (nlsi / "manifest.json").write_text(json.dumps({"name": told}), encoding="utf-8")
            assert load_nlsi(nlsi, "test").name == name
        (nlsi / "manifest.json").write_text("[]", encoding="utf-8")
        with pytest.raises(InputError, match="manifest.json: key 'name' must be"):
            load_nlsi(nlsi, "test")

    def test_both_layouts_say_the_same(self, tmp_path: Path) -> None:
        published = load_nlsi(write(tmp_path, record(), name="a.jsonl") / "a.jsonl", "train")
        again = load_nlsi(write(tmp_path, rebuilt(), name="b.jsonl") / "b.jsonl", "train")
        assert published.instances == again.instances and published.identity == again.identity

    def test_byte_order_mark_windows_lines_and_blank_lines(self, tmp_path: Path) -> None:
        text = f"\ufeff{json.dumps(record())}\r\n\r\n{json.dumps(record(example_id='two'))}\r\n"
        (tmp_path / "x.jsonl").write_text(text, encoding="utf-8", newline="")
        assert len(load_nlsi(tmp_path / "x.jsonl", "test").instances) == 2

    def test_a_row_that_is_repeated_and_one_that_only_has_the_same_id(self, tmp_path: Path) -> None:
        write(tmp_path, record(), record(), record())
        assert [instance.id for instance in load_nlsi(tmp_path, "test").instances] == ["one", "one#2", "one#3"]
        write(tmp_path, record(), record(user_utterance="User: Another."))
        with pytest.raises(InputError, match=r"test.jsonl:2: example_id 'one' is there more than once"):
            load_nlsi(tmp_path, "test")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "holds no record"),
            ("\n\n", "holds no record"),
            ("{}\n{oops\n", r"x.jsonl:2: not JSON"),
            ("[]\n", r"x.jsonl:1: expected an object, found list"),
            ("{}\n", r"x.jsonl:1: key 'example_id' is missing"),
            ('{"example_id": ' + "9" * 5000 + "}", r"x.jsonl:1: cannot be used"),
            ("[" * 100_000, r"x.jsonl:1: "),
            (json.dumps(record(user_utterance="User: \ud800")), r"x.jsonl:1: holds half a character"),
        ],
    )
    def test_broken_files(self, tmp_path: Path, content: str, message: str) -> None:
        (tmp_path / "x.jsonl").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=message) as caught:
            load_nlsi(tmp_path / "x.jsonl", "test")
        assert "\n" not in str(caught.value)

    def test_what_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no split 'dev': use train, validation, test"):
            load_nlsi("mini_nlsi", "dev")
        with pytest.raises(InputError, match="no data 'maxi': use nlsi, mini_nlsi, a folder"):
            load_nlsi("maxi", "test")
        with pytest.raises(InputError, match="has no test.jsonl"):
            load_nlsi(tmp_path, "test")
        write(tmp_path, record(), name="val.jsonl")
        with pytest.raises(InputError, match="val.jsonl is the validation split: ask for split validation"):
            load_nlsi(tmp_path / "val.jsonl", "test")
        (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe{}")
        with pytest.raises(InputError, match="not UTF-8"):
            load_nlsi(tmp_path / "x.jsonl", "test")


class TestHub:
    @pytest.fixture(autouse=True)
    def _empty_cache(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        import datasets

        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)

    def test_without_a_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import huggingface_hub

        def unreachable(*_: object, **__: object) -> None:
            raise ConnectionError("no route to the hub\nmore")

        monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", unreachable)
        with pytest.raises(InputError, match=r"cannot load nikitam/nlsi .*\(no route to the hub\): use mini_nlsi, or"):
            load_nlsi("nlsi", "test")

    def test_only_the_hubs_files_are_called_nlsi(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import datasets
        import huggingface_hub

        rows = {"validation": [record(), record(example_id="two")]}
        monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda *_, **__: None)
        monkeypatch.setattr(datasets, "load_dataset", lambda name, split: rows[split])
        loaded = load_nlsi("nlsi", "validation")
        assert loaded.name == "NLSI" and len(loaded.instances) == 2
        rows["validation"].append(record(metadata={"example_type": "odd"}))
        with pytest.raises(InputError, match=r"^nikitam/nlsi validation:3: unknown reasoning type"):
            load_nlsi("nlsi", "validation")


class TestTags:
    def test_beside_the_data_or_named(self, tmp_path: Path) -> None:
        write(tmp_path, record())
        (tmp_path / "tags.csv").write_text("org,aug\nTea.,[IN:GET_MUSIC Tea. ]\n", encoding="utf-8")
        assert load_nlsi(tmp_path, "test").tags == {"Tea.": "[IN:GET_MUSIC Tea. ]"}
        (tmp_path / "other.csv").write_bytes('\ufeffn,org,aug\r\n1,"A, b.","[IN:X A, b. ]"\r\n'.encode())
        assert load_nlsi(tmp_path, "test", tags=tmp_path / "other.csv").tags == {"A, b.": "[IN:X A, b. ]"}

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "no column 'org'"),
            ("org,tags\na,b\n", "no column 'aug'"),
            ("org,aug\nTea.\n", r"t.csv:2: a row needs an instruction"),
            ("org,aug\n,x\n", r"t.csv:2: a row needs"),
            ("org,aug\n" + "x" * 200_000 + ",y\n", r"t.csv:\d: not CSV: field larger"),
        ],
    )
    def test_broken(self, tmp_path: Path, content: str, message: str) -> None:
        (tmp_path / "t.csv").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            load_tags(tmp_path / "t.csv")

    def test_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot read"):
            load_nlsi("mini_nlsi", "test", tags=tmp_path / "none.csv")


class TestBalanced:
    ALL = load_nlsi("mini_nlsi", "test").instances

    def test_types_in_turn(self) -> None:
        for limit, least in ((6, 1), (12, 2), (36, 6)):
            kinds = Counter(instance.reasoning_type for instance in balanced(self.ALL, limit))
            assert kinds == dict.fromkeys(REASONING_TYPES, least)
        assert len(balanced(self.ALL, 8)) == 8

    def test_a_rare_type_gives_what_it_has(self) -> None:
        few = [i for i in self.ALL if i.reasoning_type in ("Plain", "Conflict")][:8]
        kinds = Counter(instance.reasoning_type for instance in balanced(few, 7))
        assert kinds == {"Plain": 5, "Conflict": 2}

    def test_smaller_samples_begin_larger_ones(self) -> None:
        whole = balanced(self.ALL, 1000, seed=3)
        assert sorted(i.id for i in whole) == sorted(i.id for i in self.ALL)
        assert all(balanced(self.ALL, n, seed=3) == whole[:n] for n in range(37))
        assert balanced(self.ALL, 12, seed=4) != whole[:12]
        assert balanced([], 5) == []
        with pytest.raises(InputError, match="limit must not be negative"):
            balanced(self.ALL, -1)


def test_mini_nlsi_by_name_and_by_folder() -> None:
    assert load_nlsi("mini_nlsi", "train").name == load_nlsi(MINI_NLSI, "train").name == "mini_nlsi"


@pytest.mark.shared_data
class TestRegenerated:
    def test_sizes_and_types(self, shared_data: Path) -> None:
        sizes = {"train": (17, 93, 10, 18, 7, 5), "validation": (45, 45, 45, 45, 45, 26), "test": (340,) * 6}
        for split, counts in sizes.items():
            loaded = load_nlsi(shared_data / "nlsi", split)
            assert loaded.name == "NLSI-regenerated"
            kinds = Counter(instance.reasoning_type for instance in loaded.instances)
            assert tuple(kinds[kind] for kind in REASONING_TYPES) == counts
            assert len({instance.id for instance in loaded.instances}) == sum(counts)

    def test_gold_fits_the_catalogue_and_profiles_hold_what_applies(self, shared_data: Path) -> None:
        functions: set[str] = set()
        for split in SPLITS:
            loaded = load_nlsi(shared_data / "nlsi", split)
            for instance in loaded.instances:
                assert set(instance.request.applicable) <= set(instance.request.profile)
                assert [turn.role for turn in instance.request.query.turns][-1] == "user"
                for call in instance.gold_calls():
                    functions.add(call.name)
                    assert loaded.tools.problems(call) == []
        assert functions == {tool.name for tool in loaded.tools}

    def test_tags_cover_what_the_readme_says(self, shared_data: Path) -> None:
        tags = load_tags(shared_data / "taps" / "gpt4_tag_2_shot.csv")
        applicable = {
            split: {one.text for i in load_nlsi(shared_data / "nlsi", split).instances for one in i.request.applicable}
            for split in SPLITS
        }
        assert len(tags) == 2513
        assert set().union(*applicable.values()) <= tags.keys()
        assert len(tags.keys() & set().union(*applicable.values())) == 2509
        hand = {"train": ("train_instructions_golden.csv", 204), "validation": ("val_instructions_tag_golden.csv", 395)}
        for split, (file, covered) in hand.items():
            gold = load_nlsi(shared_data / "nlsi", split, tags=shared_data / "taps" / file).tags
            assert len(applicable[split] & gold.keys()) == covered
            assert applicable[split] <= gold.keys()
