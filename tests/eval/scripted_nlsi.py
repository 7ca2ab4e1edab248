"""NLSI programs on an LM that answers at once, and a small folder in NLSI's format, for the runner's tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy

from eval.data.nlsi import REASONING_TYPES
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

GOLD = 'GetMusic(artist="Nina Simone", genre="Jazz")'


class PlainSystem:
    """One LM call; whether it is right, and how sure it says it is, follows from the LM's answer."""

    name = "interpret"

    def __init__(self) -> None:
        self.program = dspy.Predict("text -> reply")

    def ask(self, text: str) -> int:
        return int(self.program(text=text).reply, 16)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        number = self.ask(f"answer {request.query.turns[-1].text}")
        genre = ("Jazz", "Rock")[number % 2]
        return dspy.Prediction(
            calls=[ToolCall.of("GetMusic", artist="Nina Simone", genre=genre)],
            raw=str(number),
            parse_failed=False,
            uncertainty={"least_confidence": number % 100 / 100},
        )


class TaggedSystem(PlainSystem):
    """A call for the tags and one for the answer, which is right."""

    name = "ext_tag"

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        tags = [f"<a:GET_MUSIC> {text}</a>" for text in request.texts()]
        number = self.ask(f"tag {tags}")
        self.ask(f"answer with tags {tags} {request.query.turns[-1].text}")
        call = ToolCall.of("GetMusic", artist="Nina Simone", genre="Jazz")
        return dspy.Prediction(
            calls=[call], raw=str(number), parse_failed=False, tags=tags, tagged=bool(tags), tagger_calls=len(tags)
        )


class GateSystem(PlainSystem):
    """The plain answer, and the one with tags when it is unsure."""

    name = "taps"

    def __init__(self, threshold: float = 0.5) -> None:
        super().__init__()
        self.threshold = threshold
        self.tagged = TaggedSystem()
        self.tagged.program = self.program

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        first = super().answer(request, tools)
        unsure = first.uncertainty["least_confidence"] >= self.threshold
        final = self.tagged.answer(request, tools) if unsure else first
        final.first_calls, final.uncertainty = first.calls, first.uncertainty
        final.tagged, final.tagger_calls = unsure, int(unsure)
        return final


SCRIPTED = {"interpret": "PlainSystem", "ext_tag": "TaggedSystem", "taps": "GateSystem"}


def nlsi_record(number: int, **changes: Any) -> dict[str, Any]:
    """One record in the published layout."""
    standing = [{"nl_instruction": f"If I ask for Music, play Jazz. ({number})", "instruction_id": "0"}]
    record = {
        "example_id": f"n{number}",
        "user_utterance": f"User: Hello\nAgent: Hi\nUser: Play Nina Simone, take {number}.\n",
        "all_standing_instructions": standing,
        "applicable_standing_instructions": standing,
        "api_calls": [GOLD],
        "metadata": {"dialogue_id": f"d{number // 2}", "example_type": REASONING_TYPES[number % 6]},
    }
    return {**record, **changes}


def nlsi_folder(folder: Path, records: int = 12) -> Path:
    """A folder with a test split of as many records, two a dialogue, all reasoning types; and a smaller train split."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, count in (("test", records), ("train", 3)):
        lines = [json.dumps(nlsi_record(number)) + "\n" for number in range(count)]
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder
