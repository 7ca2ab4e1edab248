"""The prompt contracts of the package, one `dspy.Signature` each, and nothing else. Those of the agents, which share a
form of their own, are in `prefine_dspy.agents.signatures`."""

from __future__ import annotations

from typing import Literal

import dspy

ErrorLabel = Literal["none", "over-specific", "hallucinated", "not abstract", "not actionable"]


class CallTool(dspy.Signature):
    """Write the tool call for the user's last request.

    Start from a call whose arguments are all "unspecified". Then fill in the arguments whose value the user said in the
    conversation. Then fill in only the arguments that follow from what is known about this user; a preference about one
    thing (such as noise) says nothing about other things. Leave the rest "unspecified"."""

    memory: str = dspy.InputField(desc="what is known about this user from past sessions")
    query: str = dspy.InputField(desc="the conversation with the user")
    call: dict = dspy.OutputField(desc="one function with a value or unspecified for each of its arguments")


class GenerateHypothesis(dspy.Signature):
    """An assistant must fill in arguments that this user leaves out, also of tools they never used. Rewrite the note
    about this user so that it helps most: the values they chose more than once, by name, and what these values have in
    common. Keep of the old note what the last session confirms."""

    record: str = dspy.InputField(desc="values chosen in earlier sessions, oldest first")
    previous: str = dspy.InputField(desc="the note so far")
    session: str = dspy.InputField(desc="the last session")
    hypothesis: str = dspy.OutputField(max_length=200, desc="one short sentence that starts with: The user prefers")


class VerifyHypothesis(dspy.Signature):
    """Judge whether a hypothesis about the user's preference may be remembered.

    evidence_support: several calls of the record fit it and it invents nothing.
    abstraction_quality: it says what choices in different tools have in common, not one argument's value.
    actionability: it decides the value of some argument in a future call.
    temporal_consistency: it does not contradict what the user chose most and most recently."""

    record: str = dspy.InputField(desc="what the user did, oldest session first")
    hypothesis: str = dspy.InputField()
    evidence_support: bool = dspy.OutputField()
    abstraction_quality: bool = dspy.OutputField()
    actionability: bool = dspy.OutputField()
    temporal_consistency: bool = dspy.OutputField()
    error: ErrorLabel = dspy.OutputField(desc="the main fault")
    feedback: str = dspy.OutputField(max_length=120, desc="what to change, in one short sentence")


class RefineHypothesis(dspy.Signature):
    """Rewrite a rejected hypothesis about the user's lasting preference so that the feedback is met.

    Write one short sentence in general words that the record supports and that also fits other tools."""

    record: str = dspy.InputField(desc="what the user did, oldest session first")
    hypothesis: str = dspy.InputField(desc="the rejected hypothesis")
    feedback: str = dspy.InputField(desc="why it was rejected")
    refined: str = dspy.OutputField(max_length=200, desc="one short sentence that starts with: The user prefers")


class Interpret(dspy.Signature):
    """Write the API calls that the user's last request needs (NLSI; TAPS's Default).

    Take from the conversation what the user said, and from the standing instructions what they add: an instruction may
    give a value, a value that holds if another one does, a second preference (one more call), or another API to call
    as well. The conversation wins over an instruction. Copy values word for word; leave out what nobody said.
    "?" stands only for what the user asks to be told; an argument without a value is left out."""

    standing: str = dspy.InputField(desc="standing instructions of this user")
    query: str = dspy.InputField(desc="the conversation with the user")
    calls: list = dspy.OutputField(desc="the calls, each with the arguments that were given")


class InterpretTagged(dspy.Signature):
    """Write the API calls that the user's last request needs (TAPS's Ext-Tag).

    In the standing instructions <a:API> ... </a> marks what concerns an API and <sl:ARGUMENT> ... </sl> a value of an
    argument. Take from the conversation what the user said, and from the instructions what they add. The conversation
    wins over an instruction. Copy values word for word; leave out what nobody said.
    "?" stands only for what the user asks to be told; an argument without a value is left out."""

    tagged: str = dspy.InputField(desc="standing instructions of this user, tagged")
    query: str = dspy.InputField(desc="the conversation with the user")
    calls: list = dspy.OutputField(desc="the calls, each with the arguments that were given")


class TagAndInterpret(dspy.Signature):
    """Tag the standing instructions, then write the API calls that the user's last request needs (TAPS's Joint-Tag).

    First write every instruction again with <a:API> ... </a> around what concerns an API and <sl:ARGUMENT> ... </sl>
    around a value of an argument. Then take from the conversation what the user said, and from the instructions what
    they add. The conversation wins over an instruction. Copy values word for word; leave out what nobody said.
    "?" stands only for what the user asks to be told; an argument without a value is left out."""

    standing: str = dspy.InputField(desc="standing instructions of this user")
    query: str = dspy.InputField(desc="the conversation with the user")
    tagged: list[str] = dspy.OutputField(desc="the instructions with tags")
    calls: list = dspy.OutputField(desc="the calls, each with the arguments that were given")


class SelectInstructions(dspy.Signature):
    """Choose the standing instructions that apply to the user's last request (NLSI's first subtask).

    One applies when it is about the API that the request needs and its condition, if it has one, holds; one that names
    a further API for this kind of request applies, and then those about that API do as well. Often none applies."""

    profile: str = dspy.InputField(desc="all standing instructions of this user, numbered")
    query: str = dspy.InputField(desc="the conversation with the user")
    numbers: list[int] = dspy.OutputField(desc="the numbers of those that apply, ascending; [] if none")


class TagInstruction(dspy.Signature):
    """Find in a sentence what the tools need: the functions that it concerns, and the words that are values of their
    arguments (TAPS's tagger).

    Take of the sentence's words only the value: "Music", not "event type is Music"; for a yes-or-no argument the words
    that say it: "allow pets". A function that is only mentioned has no values."""

    instruction: str = dspy.InputField(desc="the sentence")
    tags: list = dspy.OutputField(desc='[{"Function":[{"argument":"words"}]}]')


class FillArgument(dspy.Signature):
    """Write the tool call that suits this user."""

    memory: str = dspy.InputField(desc="what is known about this user")
    function: str = dspy.OutputField()
    argument: str = dspy.OutputField(desc="one of its arguments, under the argument's own name")
