from __future__ import annotations

import dspy
import pytest

from eval.compiling.episodes import EpisodesTask, feedback, reward_with_feedback
from eval.compiling.episodes_source import is_public, load_source
from eval.envs.builtin.tasks import scripts
from eval.envs.episode import Episode, EpisodeStep
from eval.envs.protocol import Observation, Reply
from prefine_dspy.agents import ReAct
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall
from programs.compilation.episode_parts import graft_agent, part_of
from programs.compilation.job import Settings


def task_of(**sizes) -> EpisodesTask:
    lm = dspy.LM("scripted/none")
    return EpisodesTask("react", {}, load_source("builtin", sizes, 0), lm, lm, None, Settings())


def test_splits_are_the_benchmarks_and_apart():
    source = load_source("builtin", {}, 0)
    ids = {name: {task.id for task in split.tasks} for name, split in source.splits.items()}
    assert set().union(*ids.values()) == set(scripts()) and sum(map(len, ids.values())) == len(scripts())
    assert all(scripts()[one].split == name for name, found in ids.items() for one in found)


def test_samples_are_seeded_and_part_of_the_identity():
    first, again = (load_source("builtin", {"train": 3, "dev": 0}, 7) for _ in range(2))
    other = load_source("builtin", {"train": 3, "dev": 0}, 8)
    names = [[task.id for task in one.splits["train"].tasks] for one in (first, again, other)]
    assert names[0] == names[1] != names[2] and len(names[0]) == 3 and not first.splits["dev"].tasks
    assert first.identity == again.identity != other.identity


def test_benchmarks_without_splits_or_user_are_named():
    with pytest.raises(InputError, match="userbench:22 has no splits"):
        load_source("userbench:22", {}, 0, dspy.LM("scripted/user"))
    with pytest.raises(InputError, match="tau:retail: name it with --user-lm"):
        load_source("tau:retail", {}, 0)
    assert is_public("builtin") and is_public("tau:airline") and not is_public("our-log")


def test_tasks_that_doing_nothing_solves_are_no_train_examples():
    task = task_of()
    train = [example.task_id for example in task.job("agent", ReAct(), "bootstrap").train]
    assert train and all(scripts()[one].gold or scripts()[one].outputs for one in train)
    groups = {scripts()[one.id].group for one in task.source.splits["train"].tasks}
    assert "refusal" in groups, "else this says nothing"


def test_forecasts_count_episodes_and_methods():
    task = task_of(train=4, dev=2, test=3)
    assert (task.calls_before(), task.calls_after(("agent",))) == (20, 20 + 60)
    stages = {stage.name: stage for stage in task.stages(ReAct(), "bootstrap-rs", ("agent",))}
    assert stages["agent: bootstrap-rs"].metric_calls == 4 + 4 * 2
    assert stages["score test, compiled"].size.prefix > stages["score test, uncompiled"].size.prefix > 500


def test_what_is_compiled_gets_back_into_the_agent():
    agent = ReAct()
    part = part_of(agent, lambda one, task_id: dspy.Prediction(reward=1.0))
    assert [name for name, _ in part.named_predictors()] == ["agent.act"]
    copy = part.deepcopy()
    copy.agent.act.demos = [dspy.Example(history="h", thought="t", action={"reply": "r"}, other=1)]
    done = graft_agent(copy, agent)
    assert not agent.act.demos and dict(done.act.demos[0]) == {"history": "h", "thought": "t", "action": {"reply": "r"}}
    assert copy(task_id="meal").reward == 1.0


def test_feedback_says_what_should_have_been_changed():
    call = ToolCall.of("update_extras", booking_id="K1", seat="window")
    episode = Episode(
        environment="builtin",
        task_id="seat",
        opening=Observation(source="user", text="A seat!"),
        steps=(
            EpisodeStep(
                action=call,
                observation=Observation(source="tool", text="{}", call=call),
                details={"violations": ["seat chosen in basic"]},
            ),
            EpisodeStep(action=Reply(text="Sorry?"), notes={"unparsed": 1}),
        ),
        gold=(ToolCall.of("update_extras", booking_id="K1", meal="vegan"),),
        writes=("update_extras",),
        termination="user_stop",
    )
    text = feedback(episode)
    assert "Reward 0" in text and 'Changes that were right: update_extras(booking_id="K1", meal="vegan").' in text
    assert 'were made: update_extras(booking_id="K1", seat="window")' in text and "seat chosen in basic" in text
    assert "unparsed 1" in text and "2 steps, 1 of them messages" in text
    scored = reward_with_feedback(dspy.Example(), dspy.Prediction(reward=0.0, episode=episode))
    assert (scored.score, scored.feedback) == (0.0, text)
    won = feedback(episode.model_copy(update={"reward": 1.0}))
    assert "Changes" not in won
