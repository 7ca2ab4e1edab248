from __future__ import annotations

from typing import Any

import pytest

from eval.envs.builtin import BuiltinEnvironment
from eval.envs.builtin.tasks import scripts
from eval.envs.episode import Episode, EpisodeStep
from eval.envs.play import Briefing, Decision, play
from eval.envs.protocol import Action, Observation, Reply, Stop
from eval.metrics.episode_errors import ErrorLabels, error_labels, stands_in, wrong_arguments
from eval.metrics.episodes import outcome_of, summary
from prefine_dspy.types import ToolCall


def lookup(text: str) -> EpisodeStep:
    call = ToolCall.of("get_order", order_id="O-17")
    return EpisodeStep(action=call, observation=Observation(source="tool", text=text, call=call))


def write(error: bool = False, **arguments: Any) -> EpisodeStep:
    call = ToolCall(name="send", arguments=arguments)
    return EpisodeStep(action=call, observation=Observation(source="tool", text="ok", call=call, error=error))


def failed(*steps: EpisodeStep, gold: tuple[ToolCall, ...], reward: float = 0.0) -> Episode:
    return Episode(
        environment="e",
        task_id="t",
        opening=Observation(source="user", text="Send O-17 to Harbour Street on 15 May."),
        steps=steps,
        reward=reward,
        termination="user_stop",
        gold=gold,
        writes=("send",),
    )


GOLD = ToolCall.of("send", order_id="O-17", address="Harbour Street 4", card="card_88")


def test_a_fact_that_was_read_and_not_used_is_omitted() -> None:
    steps = (
        lookup('{"address": "Harbour Street 4", "card": "card_88"}'),
        write(**{**GOLD.arguments, "card": "card_1"}),
    )
    found = failed(*steps, gold=(GOLD,))
    assert error_labels(found) == ErrorLabels(True, False, None)
    (wrong,) = wrong_arguments(found)
    assert (wrong.step, wrong.argument, wrong.value, wrong.right, wrong.seen) == (1, "card", "card_1", "card_88", True)


def test_acting_before_the_value_is_known_lacks_information() -> None:
    steps = (write(**{**GOLD.arguments, "card": "card_1"}), lookup('{"card": "card_88", "to": "Harbour Street 4"}'))
    assert error_labels(failed(*steps, gold=(GOLD,))) == ErrorLabels(False, True, None)


def test_a_part_of_an_identifier_is_not_the_identifier() -> None:
    steps = (lookup('{"card": "card_881"}'), write(**{**GOLD.arguments, "card": "card_1"}))
    assert error_labels(failed(*steps, gold=(GOLD,))).missing_information


def test_successes_have_no_label() -> None:
    assert error_labels(failed(write(order_id="?"), gold=(GOLD,), reward=1.0)) == ErrorLabels(False, False, False)


def test_refused_calls_and_wrong_actions_are_no_wrong_arguments() -> None:
    assert wrong_arguments(failed(write(error=True, order_id="?"), gold=(GOLD,))) == []
    assert wrong_arguments(failed(write(**GOLD.arguments), write(order_id="O-17"), gold=(GOLD,))) == []


def test_without_gold_calls_nothing_can_be_told() -> None:
    assert error_labels(failed(write(order_id="?"), gold=())) == ErrorLabels(None, None, None)


@pytest.mark.parametrize(
    ("value", "text", "seen"),
    [
        ("2031-05-15", "on 15 May, please", True),
        ("2031-05-15", "May 15th", True),
        ("2031-05-05", "on 15 May", False),
        ("window", "A Window seat", True),
        ("True", "yes", None),
        ("4", "4", None),
        ("card_8", "card_88", False),
        ("a+b", "a+b", True),
    ],
)
def test_values_in_texts(value: str, text: str, seen: bool | None) -> None:
    assert stands_in(value, [text]) is seen


class Doing:
    """Does prepared actions."""

    def __init__(self, *actions: Action) -> None:
        self.actions = actions

    def begin(self, briefing: Briefing):  # noqa: ANN201
        todo = list(self.actions)

        def act(observation: Observation) -> Decision:
            return Decision(todo.pop(0))

        return act


def test_broken_rules_of_the_airline_become_a_label() -> None:
    move = ToolCall.of("change_flight", booking_id="KBC303", flight="K201", date="2031-05-18", payment_id="card_1206")
    bad = play(BuiltinEnvironment(), Doing(move, Stop(text="Moved.")), "no-move")
    assert error_labels(bad) == ErrorLabels(None, None, True)
    lost = play(BuiltinEnvironment(), Doing(Reply(text="It is 7."), Stop()), "meal")
    found = summary(map(outcome_of, [bad, lost]))
    assert found.errors["constraint_violation"].value == 0.5
    good = play(BuiltinEnvironment(), Doing(*scripts()["seat"].gold, Stop()), "seat")
    assert good.reward == 1.0 and summary([outcome_of(good)]).errors == {}
