"""Every prompt contract of the agents, one `dspy.Signature` each, and nothing else.

The policy and the tools follow the instructions (`asking.with_briefing`), so that they are the stable beginning of
every prompt of an episode. Limits on lengths keep a step short: a small local LM writes some twelve tokens a second.
"""

from __future__ import annotations

import dspy


class ReActStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (ReAct).

    Think in a few words: what is known, what is missing, what the policy says. Look up with tools what they can tell;
    ask the user for the rest. Say exactly what you are about to change and wait for a yes; then do it, and say so."""

    history: str = dspy.InputField(desc="the conversation and all steps so far, oldest first")
    thought: str = dspy.OutputField(max_length=160, desc="a short thought")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')
