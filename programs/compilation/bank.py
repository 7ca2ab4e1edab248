"""A bank of hypotheses: what was found of users of the training data and is borne out by several of them.

Its lifts do not depend on a user, so a program that brings a bank measures them once and tries every hypothesis on
every user for nothing. It is learned here and stored with the program; no code holds one. A bank is handed on with the
program, so no hypothesis in it names what only a user's record holds (`programs.compilation.private`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prefine_dspy.errors import PrefineError
from prefine_dspy.predictive.memory import PredictiveMemory
from prefine_dspy.predictive.verification import held_out_gain, verdict
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory
from programs.compilation.private import names_private, private_values


def learn_bank(
    program: PredictiveMemory,
    histories: Sequence[History],
    tools: Catalogue,
    most: int = 20,
    least_users: int = 2,
    check: Callable[[], None] = lambda: None,
) -> list[str]:
    """Hypotheses that together explain the training histories best.

    Every hypothesis that the program accepts on the way through a history is a candidate; so are those of its own bank.
    What an LM error breaks off is left out. Calls the LM of DSPy's settings.

    Args:
        program: reads the histories session by session.
        histories: of the training split, never of dev or test.
        tools: of the histories.
        most: hypotheses at the most.
        least_users: users for whom a hypothesis must be accepted.
        check: called after each history and after an error; raises when the run has to end.

    Returns:
        The hypotheses, the one that explains most first.
    """
    texts: dict[str, None] = dict.fromkeys(program.bank)
    for history in histories:
        try:
            texts |= dict.fromkeys(_accepted(program, history, tools))
        except PrefineError:
            raise
        except Exception:  # an LM error on the way: the other histories still count
            check()
        check()
    values = private_values(histories, tools)
    open_to_all = [text for text in texts if not names_private(text, values)]
    gains = _gains(program, open_to_all, histories, tools, check)
    return _cover({text: found for text, found in gains.items() if len(found) >= least_users}, most)


def _accepted(program: PredictiveMemory, history: History, tools: Catalogue) -> list[str]:
    """What was accepted after any session of a history."""
    memory = Memory()
    found: list[str] = []
    for seen in range(1, len(history.sessions) + 1):
        update = program(memory=memory, sessions=history.sessions[:seen], tools=tools)
        memory = update.memory
        for step in update.attempts:
            found += [text for text, verdict in step.get("verdicts", {}).items() if verdict["accepted"]]
    return found


def _gains(
    program: PredictiveMemory,
    texts: Sequence[str],
    histories: Sequence[History],
    tools: Catalogue,
    check: Callable[[], None],
) -> dict[str, dict[str, float]]:
    """By hypothesis, the histories in which it is accepted and its gain there."""
    verifier = program.verifier
    found: dict[str, dict[str, float]] = {text: {} for text in texts}
    for history in histories:
        judged = verifier.judge(texts, history.sessions, tools)
        check()
        record, weights = verifier.record(history.sessions, tools), verifier.weights(history.sessions)
        for text, lifts in judged.lifts.items():
            if verdict(record, lifts, verifier.rule, weights).accepted:
                found[text][history.id] = held_out_gain(record, [lifts], verifier.rule, weights)
    return found


def _cover(gains: dict[str, dict[str, float]], most: int) -> list[str]:
    """Greedily, what adds most to the best gain of each history; so no two say the same in other words."""
    chosen: list[str] = []
    reached: dict[str, float] = {}
    while len(chosen) < most:
        added = {
            text: sum(max(0.0, gain - reached.get(id, 0.0)) for id, gain in found.items())
            for text, found in gains.items()
            if text not in chosen
        }
        best = max(added, key=lambda text: added[text], default=None)
        if best is None or added[best] <= 0:
            break
        chosen.append(best)
        for id, gain in gains[best].items():
            reached[id] = max(reached.get(id, 0.0), gain)
    return chosen
