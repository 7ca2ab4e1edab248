"""Several hypotheses in one `Memory`: its text reads as one note, its notes hold each hypothesis with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prefine_dspy.predictive.lift import Lift
from prefine_dspy.predictive.places import Key
from prefine_dspy.predictive.verification import Verdict
from prefine_dspy.shared_context import is_said
from prefine_dspy.types import Memory, Note

Known = Mapping[Key, Sequence[str]]


def hypotheses(memory: Memory | str) -> list[str]:
    """The hypotheses of a memory, the one that explains most first; a text is taken for one."""
    if isinstance(memory, str):
        return [memory] if memory.strip() else []
    return [note.text for note in memory.notes] or ([memory.text] if memory.text else [])


def named_values(memory: Memory | str) -> list[str]:
    """Values of open arguments, chosen by the user, that the hypotheses name."""
    if isinstance(memory, str):
        return []
    values = [str(value) for note in memory.notes for value in note.data.get("values", ())]
    return list(dict.fromkeys(values))


def with_hypotheses(
    memory: Memory, chosen: Sequence[str], verdicts: Mapping[str, Verdict], open_values: Sequence[str], session: str
) -> Memory:
    """The memory with other hypotheses; one that was kept before keeps its version.

    Args:
        memory: before.
        chosen: texts, the most important first.
        verdicts: of each.
        open_values: of the record, that a hypothesis may name.
        session: id of the present one.
    """
    before = {note.text: note for note in memory.notes}
    version = memory.version + (list(before) != list(chosen))
    notes: list[Note] = []
    for text in chosen:
        found = verdicts[text]
        was = before.get(text)
        written = was.data.get("version", version) if was else version
        data = {
            "version": written,
            "confidence": round(found.tally.confidence, 4),
            "gain": round(found.gain, 4),
            "supporting": list(dict.fromkeys(one.session for one in found.tally.supports)),
            "competing": list(dict.fromkeys(one.session for one in found.tally.contradictions)),
            "values": [one for one in open_values if is_said(one.casefold(), text.casefold())],
        }
        notes.append(Note(id=f"h{written}-{len(notes)}", text=text, session=was.session if was else session, data=data))
    text = " ".join(one if one.endswith((".", "!", "?")) else f"{one}." for one in chosen)
    return memory.model_copy(update={"text": text, "version": version, "notes": tuple(notes)})


def moved(lifts: Mapping[str, Mapping[Key, Lift]], key: Key) -> list[tuple[str, Lift]]:
    """By hypothesis, the lifts at an argument."""
    return [(text, found[key]) for text, found in lifts.items() if key in found]
