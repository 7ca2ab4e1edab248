"""The shipped NLSI-like set: what it promises, and that it is what the generator writes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.data.mini_nlsi_generator.__main__ import PROFILE, generate, main
from eval.data.mini_nlsi_generator.source import functions_of, plain, read_blocks
from eval.data.nlsi import MINI_NLSI, REASONING_TYPES, SPLITS, NlsiInstance, load_nlsi
from eval.data.nlsi_catalogue import nlsi_catalogue
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Parameter

LOADED = {split: load_nlsi("mini_nlsi", split) for split in SPLITS}
ALL = [instance for loaded in LOADED.values() for instance in loaded.instances]
TAGS = LOADED["test"].tags
NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4", "six": "6"}


def parameter(function: str, argument: str) -> Parameter:
    tool = nlsi_catalogue().get(function)
    found = tool.parameter(argument) if tool else None
    assert found is not None, f"{function}.{argument}"
    return found


def triplets(instance: NlsiInstance) -> set[tuple[str, str, str]]:
    return {triplet for call in instance.gold_calls() for triplet in call.triplets()}


def tagged_slots(tagged: str) -> Iterator[tuple[str, str, str]]:
    """(function, argument, words) of every slot; a slot belongs to the innermost action around it."""
    actions: list[str] = []
    slot, start = "", 0
    for tag in re.finditer(r"\[(IN|SL):([A-Z_]+) | ?\]", tagged):
        if tag[1] == "IN":
            actions += functions_of(tag[0])
        elif tag[1] == "SL":
            slot, start = tag[2].lower(), tag.end()
        elif slot:
            yield actions[-1], slot, tagged[start : tag.start()]
            slot = ""
        else:
            actions.pop()
    assert not actions and not slot, f"not closed: {tagged}"


def test_the_committed_files_are_the_generators_output(tmp_path: Path) -> None:
    generate(tmp_path, seed=5)
    names = sorted(file.name for file in MINI_NLSI.iterdir())
    assert names == ["manifest.json", "tags.csv", "test.jsonl", "train.jsonl", "validation.jsonl"]
    for name in names:
        assert (tmp_path / name).read_bytes() == (MINI_NLSI / name).read_bytes(), f"make it anew: {name}"
    generate(tmp_path, seed=6)
    assert (tmp_path / "test.jsonl").read_bytes() != (MINI_NLSI / "test.jsonl").read_bytes()


def test_size_and_types() -> None:
    for split, least in (("train", 20), ("validation", 6), ("test", 6)):
        kinds = Counter(instance.reasoning_type for instance in LOADED[split].instances)
        assert set(kinds) == set(REASONING_TYPES) and min(kinds.values()) >= least, split
    called = {call.name for instance in ALL for call in instance.gold_calls()}
    assert called == {tool.name for tool in nlsi_catalogue()}
    assert {"any", "?", "True", "False"} <= {value for instance in ALL for _, _, value in triplets(instance)}


def test_the_splits_share_no_user_dialogue_or_instruction() -> None:
    assert len({instance.id for instance in ALL}) == len({instance.dialogue_id for instance in ALL}) == len(ALL)
    texts = [{turn.text for i in LOADED[s].instances for turn in i.request.query.turns} for s in SPLITS]
    instructions = [{one.text for i in LOADED[s].instances for one in i.request.profile} for s in SPLITS]
    for parts in (texts, instructions):
        assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]
    dialogues = [" ".join(turn.text for turn in instance.request.query.turns) for instance in ALL]
    assert len(set(dialogues)) == len(dialogues)


def test_gold_fits_the_catalogue_and_the_profile_holds_what_applies() -> None:
    for instance in ALL:
        for call in instance.gold_calls():
            assert nlsi_catalogue().problems(call) == [], instance.id
        profile, applicable = instance.request.profile, instance.request.applicable
        assert 6 <= len(profile) <= 14 and len({one.text for one in profile}) == len(profile), instance.id
        assert set(applicable) <= set(profile), instance.id
        assert instance.request.query.turns[-1].role == "user", instance.id


def test_tags_keep_the_words_and_agree_with_gold() -> None:
    for instance in ALL:
        gold = triplets(instance)
        for one in instance.request.applicable:
            assert plain(TAGS[one.text]) == one.text
            assert functions_of(TAGS[one.text]), one.text
            for function, argument, words in tagged_slots(TAGS[one.text]):
                value = "True" if parameter(function, argument).type == "boolean" else NUMBERS.get(words, words)
                assert (function, argument, value) in gold, (instance.id, one.text)


def test_every_gold_value_comes_from_the_dialogue_or_an_instruction() -> None:
    for instance in ALL:
        said = " ".join(turn.text for turn in instance.request.query.turns)
        instructed = {
            words if parameter(function, argument).type != "boolean" else "True"
            for one in instance.request.applicable
            for function, argument, words in tagged_slots(TAGS[one.text])
        }
        numbers = {NUMBERS.get(words) for words in [*instructed, *re.findall(r"\w+", said)]}
        for function, argument, value in triplets(instance):
            inferred = value in ("any", "?", "True", "False") or value in parameter(function, argument).enum
            found = value in instructed or value in numbers or value in said
            assert inferred or found, (instance.id, function, argument, value)


def test_each_type_is_what_its_name_says() -> None:
    for instance in ALL:
        calls, tags = instance.gold_calls(), [TAGS[one.text] for one in instance.request.applicable]
        functions = Counter(call.name for call in calls)
        slots = Counter(slot for tagged in tags for slot in tagged_slots(tagged))
        links = [tagged for tagged in tags if len(functions_of(tagged)) > 1]
        kind = instance.reasoning_type
        assert (kind == "NoneApplicable") <= (not tags), instance.id
        assert (kind in ("Plain", "MultiHop", "MultiPreference", "MultiDomain")) <= bool(tags), instance.id
        assert (max(functions.values()) > 1) == (kind == "MultiPreference"), instance.id
        assert (len(functions) > 1) == bool(links), instance.id
        assert (kind == "MultiDomain") <= bool(links) <= (kind in ("MultiDomain", "MultiPreference")), instance.id
        if kind in ("Plain", "MultiHop"):
            assert (max(slots.values()) > 1) == (kind == "MultiHop"), f"{instance.id}: a hop shares a value"


def test_a_conflict_overrides_an_instruction_of_the_profile() -> None:
    for instance in (one for one in ALL if one.reasoning_type == "Conflict"):
        gold = {triplet[:2]: triplet[2] for triplet in triplets(instance)}
        silent = [one for one in instance.request.profile if one not in instance.request.applicable]
        meant = [slot for one in silent for slot in tagged_slots(TAGS.get(one.text, ""))]
        overridden = [slot for slot in meant if slot[:2] in gold]
        assert overridden and all(gold[slot[:2]] != NUMBERS.get(slot[2], slot[2]) for slot in overridden), instance.id


def test_other_instructions_of_a_profile_are_about_functions_that_are_not_called() -> None:
    """Beside what applies, what is overridden and what was written for the dialogue by hand (without tags)."""
    for instance in (one for one in ALL if one.reasoning_type != "Conflict"):
        called = {call.name for call in instance.gold_calls()}
        for one in instance.request.profile:
            if one not in instance.request.applicable and one.text in TAGS:
                assert not called & set(functions_of(TAGS[one.text])), (instance.id, one.text)


def test_profiles_are_as_large_as_the_generator_says() -> None:
    sizes = {split: [len(one.request.profile) for one in LOADED[split].instances] for split in SPLITS}
    for split, (least, most) in PROFILE.items():
        assert least <= min(sizes[split]) and max(sizes[split]) <= most, split


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    """All sequences of so many words, in lower case and without punctuation."""
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(words[k : k + length]) for k in range(len(words) - length + 1)}


def texts(instances: Iterable[NlsiInstance]) -> set[str]:
    return {
        text
        for instance in instances
        for text in (
            *(turn.text for turn in instance.request.query.turns),
            *(one.text for one in instance.request.profile),
        )
    }


@pytest.mark.shared_data
def test_no_wording_of_nlsi(shared_data: Path) -> None:
    """No sequence of eight words is in both. What our files share in shorter ones is the English of requests."""
    theirs = {
        run
        for split in SPLITS
        for text in texts(load_nlsi(shared_data / "nlsi", split).instances)
        for run in runs(text, 8)
    }
    assert len(theirs) > 10_000
    shared = [" ".join(run) for text in texts(ALL) for run in sorted(runs(text, 8) & theirs)]
    assert shared == []


def test_a_line_without_a_sign() -> None:
    with pytest.raises(InputError, match=r"line 3: '\* odd' begins with none of"):
        read_blocks("== Plain\nUser: Hi\n* odd\n")


def test_the_command(tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, ["--out", str(tmp_path)])
    assert result.exit_code == 0 and re.match(r"\d+ train, \d+ validation, 36 test -> ", result.output)
