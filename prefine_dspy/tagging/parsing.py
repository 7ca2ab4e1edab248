"""Tagged text from an LM, a file or a person -> `Tagged`: both forms, tolerant, never raising, honest about repairs.

    >>> parse_tags("<a:GET_DENTISTS> A dentist in <sl:CITY> New Haven</sl>.</a>").tagged.actions[0].slots
    (Span(name='city', start=13, end=22),)

Tolerated: labels in either spelling or after a blank (`[SL: CITY x ]`, `[IN:GetMedia`), tags left open or closed twice,
one form's closing bracket after the other's opening one (the published conversion leaves such), tags that cross, slots
outside of every action, code fences, a line before the answer and a paragraph after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from prefine_dspy.parsing_values import clean_text
from prefine_dspy.tagging.checking import check
from prefine_dspy.tagging.labels import argument_of, function_of
from prefine_dspy.tagging.problems import TagProblem
from prefine_dspy.tagging.tags import Action, Span, Tagged, visible, well_formed
from prefine_dspy.tools import Catalogue

_TAG = re.compile(
    r"\[\s*+(?P<opened>IN|SL)\s*+:\s*+(?P<label>[^\s<>\[\]]*+)\s?"
    r"|<\s*+(?P<angle>a|sl)\s*+:\s*+(?P<name>[^\s<>\[\]/]*+)(?:\s*+>)?\s?"
    r"|<\s*+/\s*+(?P<closed>a|sl)\b(?:[^<>\[\]\n]*+>)?"
    r"|\[\s*+/\s*+(?P<ended>IN|SL)\b[^\[\]\n]*+\]?"
    r"|(?P<bracket>[\[\]])",
    re.IGNORECASE,
)
_ANY_TAG = re.compile(r"\[\s*+(?:IN|SL)\s*+:|<\s*+(?:a|sl)\s*+:", re.IGNORECASE)
_BRACKET_TAG = re.compile(r"\[\s*+(?:IN|SL)\s*+:", re.IGNORECASE)
_FENCED = re.compile(r"```[^\n`]*+\n?(.*?)(?:```|\Z)", re.DOTALL)
_MOST_TAGS = 200
"""Sentences have a dozen; a text with more is noise."""
_CLAUSE_ENDS = " \t\n.,;:!?\"'"


class ParsedTags(NamedTuple):
    """What a tagged text says.

    Args:
        tagged: the sentence without its tags, and the tags; no actions if the text holds none.
        problems: what was repaired or dropped, and why.
    """

    tagged: Tagged
    problems: list[TagProblem]


def parse_tags(text: str, tools: Catalogue | None = None) -> ParsedTags:
    """Read tagged text. Never raises, whatever the text is.

    Args:
        text: with tags in angle or bracket form, or both.
        tools: if given, names are brought to the catalogue's spelling where one is meant, and unknown functions and
            arguments are dropped; without it every label stands for something (`labels`).
    """
    answer, around = _without_surroundings(clean_text(text))
    reader = _Reader(bracket_tags=_BRACKET_TAG.search(answer) is not None)
    reader.read(answer)
    tagged, problems = _tagged(reader, "".join(reader.out))
    parsed = ParsedTags(tagged, [*around, *reader.problems, *problems])
    if tools is None:
        return parsed
    checked = check(parsed.tagged, tools)
    return ParsedTags(checked.tagged, [*parsed.problems, *checked.problems])


def _without_surroundings(text: str) -> tuple[str, list[TagProblem]]:
    """The answer itself: inside a fence, after a line such as "Here it is:", before an explanation."""
    body = next((match[1] for match in _FENCED.finditer(text) if _ANY_TAG.search(match[1])), text)
    if (tags := list(_ANY_TAG.finditer(body))) and "\n" in body:
        first = body.rfind("\n", 0, tags[0].start()) + 1
        if body[:first].rstrip().endswith(":"):
            body = body[first:]
        last = max((match.end() for match in _TAG.finditer(body)), default=0)
        if (paragraph := body.find("\n\n", last)) >= 0:
            body = body[:paragraph]
    if body == text:
        return text, []
    return body.strip(), [TagProblem("surrounding_text")]


@dataclass
class _Node:
    """A tag while it is read."""

    is_action: bool
    label: str
    start: int
    bracket: bool
    action: _Node | None
    end: int = -1
    left_open: bool = False
    inner_start: int | None = None
    literal: int = 0
    """Square brackets of the sentence that were opened directly in this tag."""


@dataclass
class _Reader:
    """Walks over the text once, with the stack of open tags."""

    bracket_tags: bool
    out: list[str] = field(default_factory=list)
    length: int = 0
    nodes: list[_Node] = field(default_factory=list)
    open: list[_Node] = field(default_factory=list)
    literal: int = 0
    """Square brackets of the sentence that were opened outside of all tags."""
    problems: list[TagProblem] = field(default_factory=list)

    def read(self, text: str) -> None:
        position = 0
        for match in _TAG.finditer(text):
            self._write(text[position : match.start()])
            position = match.end()
            kind = (match["opened"] or match["angle"] or "").casefold()
            if kind:
                bracket = match["opened"] is not None
                self._open(kind in ("in", "a"), (match["label"] if bracket else match["name"]) or "", bracket)
            elif match["bracket"] == "[":
                self._innermost.literal += 1
                self._write("[")
            elif match["bracket"] == "]" and (self._innermost.literal or not self.bracket_tags):
                self._innermost.literal = max(0, self._innermost.literal - 1)
                self._write("]")
            else:
                node = self._meant((match["closed"] or match["ended"] or "").casefold())
                self._close(node, match[0], following=text[position : position + 1])
        self._write(text[position:])
        while self.open:
            self._end(self.open.pop(), left_open=True)

    @property
    def _innermost(self) -> _Node | _Reader:
        return self.open[-1] if self.open else self

    def _write(self, text: str) -> None:
        if text:
            self.out.append(text)
            self.length += len(text)

    def _open(self, is_action: bool, label: str, bracket: bool) -> None:
        for outer in self.open:
            if outer.inner_start is None:
                outer.inner_start = self.length
        if len(self.nodes) >= _MOST_TAGS:
            self.problems.append(TagProblem("too_many", label))
            return
        action = next((node for node in reversed(self.open) if node.is_action), None)
        node = _Node(is_action, label, self.length, bracket, action)
        self.nodes.append(node)
        self.open.append(node)

    def _meant(self, kind: str) -> _Node | None:
        """The open tag that a closing one closes; `kind` is "" for a square bracket."""
        if not kind:
            return next((node for node in reversed(self.open) if node.bracket), None)
        if self.open and self.open[-1].bracket:  # `[SL: CITY x</a>`: half converted
            return self.open[-1]
        return next((node for node in reversed(self.open) if node.is_action == (kind in ("a", "in"))), None)

    def _close(self, node: _Node | None, written: str, following: str) -> None:
        if node is None:
            self.problems.append(TagProblem("stray_close", written))
            return
        blank = self._drop_blank(node.start)
        while self.open[-1] is not node:
            self._end(self.open.pop(), left_open=True)
        self._end(self.open.pop(), left_open=False)
        if blank and following.isalnum():  # it was the sentence's own: `[SL:CITY Paris ]in`
            self._write(blank)

    def _drop_blank(self, start: int) -> str:
        """Take back the one blank that belongs to a closing bracket."""
        if self.length <= start or not self.out[-1][-1].isspace():
            return ""
        last = self.out.pop()
        if last[:-1]:
            self.out.append(last[:-1])
        self.length -= 1
        return last[-1]

    def _end(self, node: _Node, left_open: bool) -> None:
        node.end, node.left_open = self.length, left_open
        if left_open:
            self.problems.append(TagProblem("unclosed", node.label))


def _tagged(reader: _Reader, sentence: str) -> tuple[Tagged, list[TagProblem]]:
    """The sentence with the tags that were read."""
    problems: list[TagProblem] = []
    broken = any(node.left_open for node in reader.nodes)
    kept: list[_Node] = []
    for node in reader.nodes:
        start, end = visible(sentence, node.start, _end_of_value(node, sentence, broken))
        if not node.label or start >= end:
            problems.append(TagProblem("empty", node.label))
        else:
            node.start, node.end = start, end
            kept.append(node)
    outer = [node for node in kept if node.is_action]
    slots: dict[int, list[_Node]] = {id(node): [] for node in outer}
    for node in kept:
        if node.is_action:
            continue
        owner = node.action
        while owner is not None and id(owner) not in slots:
            owner = owner.action
        if owner is None:
            owner = _neighbour(node, outer)
            problems.append(TagProblem("slot_outside_action", node.label))
        if owner is not None:
            slots[id(owner)].append(node)
            owner.start, owner.end = min(owner.start, node.start), max(owner.end, node.end)
    actions = tuple(_action(node, slots[id(node)]) for node in outer)
    try:
        return Tagged(sentence, actions), problems
    except ValueError:  # an action that grew around a slot outside of it may cross others
        tagged, lost = well_formed(sentence, actions)
        return tagged, [*problems, *(TagProblem("crossing", one.name) for one in lost)]


def _neighbour(slot: _Node, actions: list[_Node]) -> _Node | None:
    """The action before a slot that stands outside of all actions, else the one after it."""
    before = [one for one in actions if one.end <= slot.start]
    after = [one for one in actions if one.start >= slot.start]
    # of nested actions that end together the outermost, which comes first
    return max(before, key=lambda one: one.end) if before else next(iter(after), None)


def _action(node: _Node, slots: list[_Node]) -> Action:
    spans = tuple(Span(argument_of(slot.label) or slot.label, slot.start, slot.end) for slot in slots)
    return Action(function_of(node.label) or node.label, node.start, node.end, spans)


def _end_of_value(node: _Node, sentence: str, broken: bool) -> int:
    """Where a tag ends. A slot that was left open ends before the next tag or the clause's punctuation."""
    if node.is_action or not (broken or node.left_open):
        return node.end
    end = node.end
    if node.left_open and node.inner_start is not None:
        end = node.inner_start
    value = sentence[node.start : end]
    if node.left_open:
        return node.start + len(value.rstrip(_CLAUSE_ENDS))
    return node.start + len(re.sub(r"\s+[.,;:!?]+\s*$", "", value))  # `[SL:CITY London . ]` closed too late
