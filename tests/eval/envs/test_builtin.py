from __future__ import annotations

import pytest

from eval.envs.builtin import BuiltinEnvironment
from eval.envs.builtin.environment import gold_hash
from eval.envs.builtin.tasks import SPLITS, chosen, scripts
from eval.envs.load import load_environment, with_split
from eval.envs.play import Briefing, Decision, play
from eval.envs.protocol import Action, Observation, Reply, Step, Stop
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

TASKS = list(scripts())


def finish(environment: BuiltinEnvironment, actions: list[Action]) -> Step:
    for action in actions:
        step = environment.step(action)
        if step.done:
            return step
    return environment.step(Stop(text="Goodbye."))


def gold_actions(task_id: str) -> list[Action]:
    script = scripts()[task_id]
    return [*script.gold, *(Reply(text=f"It is {output}.") for output in script.outputs)]


@pytest.mark.parametrize("task_id", TASKS)
def test_gold_replay_earns_the_reward(task_id: str) -> None:
    environment = BuiltinEnvironment()
    environment.reset(task_id)
    step = finish(environment, gold_actions(task_id))
    assert step.reward == 1.0, step.details
    assert not step.details.get("violations")


@pytest.mark.parametrize("task_id", TASKS)
def test_doing_nothing_is_right_only_where_nothing_may_be_done(task_id: str) -> None:
    environment = BuiltinEnvironment()
    environment.reset(task_id)
    reward = environment.step(Stop()).reward
    assert reward == (1.0 if scripts()[task_id].group == "refusal" else 0.0)


@pytest.mark.parametrize("task_id", [name for name in TASKS if scripts()[name].gold])
def test_each_gold_call_is_needed(task_id: str) -> None:
    environment = BuiltinEnvironment()
    actions = gold_actions(task_id)
    for left_out in (one for one in actions if isinstance(one, ToolCall)):
        environment.reset(task_id)
        assert finish(environment, [one for one in actions if one is not left_out]).reward == 0.0, left_out


@pytest.mark.parametrize("task_id", [name for name in TASKS if scripts()[name].gold])
def test_wrong_ids_fail(task_id: str) -> None:
    environment = BuiltinEnvironment()
    environment.reset(task_id)
    wrong = [
        ToolCall(
            name=one.name,
            arguments={key: "KXX999" if key.endswith("_id") else value for key, value in one.arguments.items()},
        )
        if isinstance(one, ToolCall)
        else one
        for one in gold_actions(task_id)
    ]
    assert finish(environment, wrong).reward == 0.0


def test_there_are_tasks_of_every_kind() -> None:
    groups = [script.group for script in scripts().values()]
    kinds = {"plain", "look-up", "preference", "conflict", "release", "refusal", "transfer"}
    assert len(groups) >= 20 and set(groups) == kinds
    assert 8 <= len(BuiltinEnvironment().tools) <= 12
    assert all(scripts()[name].memory.text for name in TASKS if scripts()[name].group == "preference")


def test_a_memory_states_the_arguments_of_the_gold_call() -> None:
    remembered = [script for script in scripts().values() if script.memory.evidence]
    for script in (one for one in remembered if one.group == "preference"):
        for choice in script.memory.evidence:
            values = [call.arguments[choice.argument] for call in script.gold if call.name == choice.function]
            assert [str(value) for value in values] == [choice.value], (script.id, choice)
    assert sum(one.group == "preference" for one in remembered) >= 8


def test_a_wish_that_is_said_goes_before_what_is_remembered() -> None:
    script = scripts()["this-time"]
    remembered = {choice.argument: choice.value for choice in script.memory.evidence}
    differ = [name for name, value in remembered.items() if str(script.gold[0].arguments[name]) != value]
    assert differ == ["seat"] and "window" in script.opening


def test_what_is_remembered_would_be_told_when_asked() -> None:
    slots = {"payment_id": "payment"}
    for script in scripts().values():
        asked = {slots.get(choice.argument, choice.argument) for choice in script.memory.evidence}
        assert asked <= script.answers.keys(), script.id


def test_splits_share_no_gold_call_and_leave_no_task_out() -> None:
    assert sorted(name for split in SPLITS for name in chosen(split)) == sorted(TASKS)
    by_call: dict[str, set[str]] = {}
    for script in scripts().values():
        for call in script.gold:
            by_call.setdefault(str(call), set()).add(script.split)
    assert all(len(splits) == 1 for splits in by_call.values())
    for split in SPLITS:
        assert {"plain", "look-up", "preference", "conflict", "refusal"} <= {
            scripts()[one].group for one in chosen(split)
        }


def test_tasks_are_chosen_by_split_and_group() -> None:
    assert len(load_environment("builtin").tasks) == len(TASKS)
    environment = load_environment("builtin:test:preference")
    assert environment.name == "builtin"
    assert {task.group for task in environment.tasks} == {"preference"} and 3 <= len(environment.tasks) < 10
    assert load_environment("builtin:preference:test").tasks == environment.tasks
    assert with_split("builtin:preference", "test") == "builtin:preference:test"
    with pytest.raises(InputError, match="no split or group 'validation'; splits: train, dev, test; groups: plain"):
        load_environment("builtin:validation")
    with pytest.raises(InputError, match="no task that is train and transfer"):
        load_environment("builtin:train:transfer")
    with pytest.raises(InputError, match="userbench:22 has no splits"):
        with_split("userbench:22", "test")


def test_trials_and_episodes_do_not_touch_each_other() -> None:
    environment = BuiltinEnvironment()
    first = environment.reset("meal")
    environment.step(scripts()["meal"].gold[0])
    assert environment.reset("meal", trial=1) == first
    assert environment.step(Stop()).reward == 0.0
    with pytest.raises(RuntimeError, match="reset"):
        environment.step(Stop())


def test_unknown_tasks_are_named() -> None:
    with pytest.raises(InputError, match="no task 'x'"):
        BuiltinEnvironment(["x"])
    with pytest.raises(InputError, match="no task '7'"):
        BuiltinEnvironment().reset("7")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (ToolCall.of("get_booking", booking_id="K1"), "there is no booking K1"),
        (ToolCall.of("get_booking"), "booking_id"),
        (ToolCall.of("fly"), "there is no tool fly"),
        (ToolCall.of("_customer", customer_id="ada_417"), "there is no tool"),
        (ToolCall.of("get_booking", booking_id={"a": [1]}), "booking_id"),
        (ToolCall.of("get_booking", booking_id="KBA101", self=1), "self"),
        (ToolCall.of("update_extras", booking_id="KBA101", bags=0), "cannot be taken off"),
        (ToolCall.of("cancel_booking", booking_id="KBG707", reason="illness"), "flown"),
        (ToolCall.of("issue_voucher", booking_id="KBG707", amount=float("nan")), "amount"),
    ],
)
def test_a_failed_call_says_why_and_changes_nothing(call: ToolCall, says: str) -> None:
    environment = BuiltinEnvironment()
    environment.reset("no-cancel")
    step = environment.step(call)
    assert step.observation is not None and step.observation.error and says in step.observation.text
    assert environment.step(Stop()).reward == 1.0


@pytest.mark.parametrize(
    ("task_id", "call", "rule"),
    [
        (
            "no-cancel",
            ToolCall.of("cancel_booking", booking_id="KBI909", reason="illness"),
            "cancelled without a ground",
        ),
        (
            "no-move",
            ToolCall.of("change_flight", booking_id="KBC303", flight="K201", date="2031-05-18", payment_id="card_1206"),
            "basic booking moved",
        ),
        (
            "no-compensation",
            ToolCall.of("issue_voucher", booking_id="KBH808", amount="50"),
            "compensation that is not due",
        ),
        (
            "not-yours",
            ToolCall.of("cancel_booking", booking_id="KBJ010", reason="illness"),
            "booking of another customer",
        ),
        (
            "bag-paid",
            ToolCall.of("update_extras", booking_id="KBJ011", bags="2", paid_bags="0"),
            "wrong number of paid bags",
        ),
        ("seat-then-meal", ToolCall.of("update_extras", booking_id="KBC303", seat="window"), "seat chosen in basic"),
    ],
)
def test_broken_rules_are_written_down(task_id: str, call: ToolCall, rule: str) -> None:
    environment = BuiltinEnvironment()
    environment.reset(task_id)
    assert rule in environment.step(call).details["violations"]


class Asking:
    """Books what the user wants; asks for what neither the user nor the memory has said."""

    def begin(self, briefing: Briefing):  # noqa: ANN201
        known = {choice.argument for choice in briefing.memory.evidence}
        script = scripts()["usual-eva"]
        wanted = {"seat": "seat", "meal": "meal", "bags": "bags", "protection": "protection", "payment_id": "payment"}
        open_slots = [name for slot, name in wanted.items() if slot not in known]
        todo: list[Action] = [Reply(text="May I have your e-mail address, please?")]
        if open_slots:
            todo.append(Reply(text="Please tell me your wishes for:\n" + "\n".join(f"- {one}" for one in open_slots)))
        todo += [Reply(text="I will book it that way. Shall I go ahead?"), script.gold[0], Reply(text="It is booked.")]

        def act(observation: Observation) -> Decision:
            return Decision(todo.pop(0))

        return act


@pytest.mark.parametrize("amount", [10**400, "1" + "0" * 400, "50.0"])
def test_numbers_of_any_size_are_no_accident(amount: object) -> None:
    environment = BuiltinEnvironment()
    environment.reset(environment.tasks[0].id)
    step = environment.step(ToolCall.of("issue_voucher", booking_id="KBG707", amount=amount))
    assert step.observation is not None and "violations" in step.details


def test_with_a_memory_fewer_questions_lead_to_the_same_reward() -> None:
    episodes = [play(BuiltinEnvironment(), Asking(), "usual-eva", remember=remember) for remember in (False, True)]
    asked = [sum(len(step.details.get("asked", ())) for step in episode.steps) for episode in episodes]
    assert [episode.reward for episode in episodes] == [1.0, 1.0]
    assert asked == [6, 1]
    assert [episode.remembered for episode in episodes] == [False, True]
    assert episodes[0].termination == "user_stop"


def test_gold_of_a_broken_task_is_an_error() -> None:
    script = scripts()["meal"].model_copy(update={"gold": (ToolCall.of("get_booking", booking_id="?"),)})
    with pytest.raises(ValueError, match="gold call"):
        gold_hash(script)
