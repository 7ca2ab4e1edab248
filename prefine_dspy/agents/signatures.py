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


class StateActStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (StateAct).

    First write down the goal (everything the user has asked for), then the state (ids, known values, what is done and
    what is open), then a short thought. Look up with tools what they can tell; ask the user for the rest. Say exactly
    what you are about to change and wait for a yes; then do it, and say so."""

    history: str = dspy.InputField(desc="the conversation and all steps so far, oldest first")
    goal: str = dspy.OutputField(max_length=120, desc="all that the user asked for")
    state: str = dspy.OutputField(max_length=160, desc="ids, known values, done and open steps")
    thought: str = dspy.OutputField(max_length=100, desc="a short thought")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')


class ReSumStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (ReSum).

    Earlier steps may be given as a summary: rely on it. Think in a few words: what is known, what is missing, what the
    policy says. Look up with tools what they can tell; ask the user for the rest. Say exactly what you are about to
    change and wait for a yes; then do it, and say so."""

    history: str = dspy.InputField(desc="the first request, a summary, and the steps since then")
    thought: str = dspy.OutputField(max_length=160, desc="a short thought")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')


class Summarize(dspy.Signature):
    """Summarise the steps of an agent that serves a user, so that it can go on from the summary alone (ReSum).

    Keep the facts that tools or the user stated, with ids, dates, prices and names word for word; what is still missing
    or unconfirmed; and what comes next."""

    history: str = dspy.InputField(desc="the first request, the summary so far, and the steps since then")
    summary: str = dspy.OutputField(max_length=500, desc="facts, gaps, next steps")


class IterResearchStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (IterResearch).

    You only see the first request, your own report, your last action and what it led to; everything older is gone. So
    first write the whole report anew: what the user wants, what is known and from where, what is missing, the plan.
    Copy ids, dates, prices and names word for word. Look up with tools what they can tell; ask the user for the rest.
    Say exactly what you are about to change and wait for a yes; then do it, and say so."""

    question: str = dspy.InputField(desc="the user's first request")
    report: str = dspy.InputField(desc="your report so far")
    last_action: str = dspy.InputField()
    last_observation: str = dspy.InputField(desc="what it led to")
    new_report: str = dspy.OutputField(max_length=400, desc="the whole report anew")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')


class UFoldStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (U-Fold).

    What was said before is given as a summary, what tools returned before as a log of what matters. Think in a few
    words: what is known, what is missing, what the policy says. Look up with tools what they can tell; ask the user for
    the rest. Say exactly what you are about to change and wait for a yes; then do it, and say so."""

    summary: str = dspy.InputField(desc="the conversation so far")
    tool_log: str = dspy.InputField(desc="what tools returned that matters")
    turn: str = dspy.InputField(desc="the user's last message, and your steps since then")
    thought: str = dspy.OutputField(max_length=160, desc="a short thought")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')


class FoldDialogue(dspy.Signature):
    """Summarise a conversation between a user and an agent by what the user intends (U-Fold).

    For each intent: the goal, constraints and preferences that the user stated, and how far the agent has come. Later
    messages correct earlier ones. Copy ids, dates and names word for word."""

    dialogue: str = dspy.InputField(desc="all messages, oldest first")
    summary: str = dspy.OutputField(max_length=400, desc="by intent: goal, constraints, preferences, progress")


class FoldTools(dspy.Signature):
    """Take out of what tools returned what the user's intents need (U-Fold).

    Copy ids, dates, prices and names word for word; say what has been changed already. Leave out the rest."""

    summary: str = dspy.InputField(desc="what the user intends")
    calls: str = dspy.InputField(desc="all calls with what they returned, oldest first")
    tool_log: str = dspy.OutputField(max_length=500, desc="what matters of it")


class IDSSStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (IDSS).

    Facts are what tools returned, and the only thing to claim. The state is your understanding of the task: what the
    user intends, what must be known first, what must hold.
    - state: write what is new or has changed, [] for nothing. An intent is active, pending, completed (done, or
      answered) or blocked; it may wait for another one: "change.blocked". A variable is askable from the user,
      retrievable with a tool, or derivable from facts or from what is known about the user; its value is "" while
      unknown. A constraint is satisfied, unsatisfied (cannot be told yet) or violated; it guards intents; check says it
      in terms of facts: "booking K7.fare != basic".
    - intent: the one that your action serves.
    - action: look up what is retrievable, ask for what is askable, never for what is known already. Do not act on what
      is blocked: say why, and offer another way. Say exactly what you are about to change and wait for a yes; then do
      it, and say so. Look at pending intents before you finish."""

    known: str = dspy.InputField(desc="what is known about this user from past sessions")
    history: str = dspy.InputField(desc="the conversation; what tools returned is among the facts")
    facts: str = dspy.InputField(desc="what tools returned")
    situation: str = dspy.InputField(desc="the state so far, as checked against the facts")
    thought: str = dspy.OutputField(max_length=100, desc="a short thought")
    state: dict = dspy.OutputField(
        desc='{"intents":[{"name","status","depends_on"}],"variables":[{"name","value","source"}],'
        '"constraints":[{"condition","status","guards","check"}]}'
    )
    intent: str = dspy.OutputField(max_length=40, desc="its name")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')


class IDSSIntentsStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (IDSS without constraints).

    Facts are what tools returned, and the only thing to claim. The state is your understanding of the task: what the
    user intends, what must be known first.
    - state: write what is new or has changed, [] for nothing. An intent is active, pending, completed (done, or
      answered) or blocked; it may wait for another one: "change.blocked". A variable is askable from the user,
      retrievable with a tool, or derivable from facts or from what is known about the user; its value is "" while
      unknown.
    - intent: the one that your action serves.
    - action: look up what is retrievable, ask for what is askable, never for what is known already. Say exactly what
      you are about to change and wait for a yes; then do it, and say so. Look at pending intents before you finish."""

    known: str = dspy.InputField(desc="what is known about this user from past sessions")
    history: str = dspy.InputField(desc="the conversation; what tools returned is among the facts")
    facts: str = dspy.InputField(desc="what tools returned")
    situation: str = dspy.InputField(desc="the state so far")
    thought: str = dspy.OutputField(max_length=100, desc="a short thought")
    state: dict = dspy.OutputField(
        desc='{"intents":[{"name","status","depends_on"}],"variables":[{"name","value","source"}]}'
    )
    intent: str = dspy.OutputField(max_length=40, desc="its name")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')


class IDSSFactsStep(dspy.Signature):
    """Serve the user by one step: call one tool, or write one message (IDSS without its state layer).

    Facts are what tools returned, and the only thing to claim. Look up with tools what they can tell; ask the user for
    the rest, never for what is known already. Say exactly what you are about to change and wait for a yes; then do it,
    and say so."""

    known: str = dspy.InputField(desc="what is known about this user from past sessions")
    history: str = dspy.InputField(desc="the conversation; what tools returned is among the facts")
    facts: str = dspy.InputField(desc="what tools returned")
    thought: str = dspy.OutputField(max_length=160, desc="a short thought")
    action: dict = dspy.OutputField(desc='{"function":name,"arguments":{...}} or {"reply":text for the user}')
