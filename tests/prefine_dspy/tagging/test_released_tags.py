"""The tag files of TAPS, read, written again and fitted to their instructions."""

import csv
from collections import Counter

import pytest

from prefine_dspy.tagging import fit, parse_tags, render_tags

pytestmark = pytest.mark.shared_data


def rows(folder, name):
    with (folder / "taps" / name).open(encoding="utf-8", newline="") as file:
        return [(row["org"], row["aug"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("name", "written", "fitted"),
    [
        # the one other train row lacks a bracket
        (
            "train_instructions_golden.csv",
            {"exact": 173, "but for blanks": 32, "other": 1},
            {"same": 203, "repaired": 3},
        ),
        (
            "val_instructions_tag_golden.csv",
            {"exact": 275, "but for blanks": 123},
            {"same": 377, "repaired": 20, "refused": 1},
        ),
        # GPT-4's: other spellings of labels, slots outside of every action
        (
            "gpt4_tag_2_shot.csv",
            {"exact": 84, "but for blanks": 2381, "other": 48},
            {"same": 2427, "repaired": 77, "refused": 9},
        ),
    ],
)
def test_released_tags_are_read_and_written_again(shared_data, name, written, fitted):
    found = rows(shared_data, name)
    seen, fits = Counter(), Counter()
    for instruction, text in found:
        tagged = parse_tags(text).tagged
        again = render_tags(tagged, "bracket")
        same_letters = "".join(again.split()) == "".join(text.split())
        seen["exact" if again == text else "but for blanks" if same_letters else "other"] += 1
        for form in ("angle", "bracket"):
            back = parse_tags(render_tags(tagged, form)).tagged
            assert [(a.start, a.end, a.slots) for a in back.actions] == [
                (a.start, a.end, a.slots) for a in tagged.actions
            ]
        result = fit(tagged, instruction)
        fits["refused" if result.tagged is None else "repaired" if result.dropped or result.added else "same"] += 1
        assert result.tagged is None or result.tagged.text == instruction
    assert seen == written
    assert fits == fitted
