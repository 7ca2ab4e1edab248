"""The six agents as systems on the built-in airline: they finish its tasks, with the LM calls that their papers say."""

from __future__ import annotations

import dspy
import pytest
from desk_lm import OneTask
from scripted_lm import lm_of

from eval.envs.builtin import BuiltinEnvironment
from eval.envs.play import play
from prefine_dspy.errors import InputError
from programs import load_system, systems_for

AGENTS = ["idss", "react", "stateact", "resum", "iterresearch", "ufold"]
TASKS = ["meal", "book-stated", "grounded", "price-then-meal", "no-cancel", "new-name"]


def episode_of(system, task_id, script, **options):
    with dspy.context(lm=lm_of(script)):
        return play(BuiltinEnvironment(), system, task_id, **options)


def test_the_agents_are_those_of_the_paper():
    assert systems_for("episodes") == AGENTS


@pytest.mark.parametrize("task_id", TASKS)
@pytest.mark.parametrize("name", AGENTS)
def test_tasks_are_finished_with_the_lm_calls_of_the_method(name, task_id):
    script = OneTask(task_id)
    episode = episode_of(load_system(name), task_id, script)
    assert episode.reward == 1.0 and not episode.error
    assert episode.termination == ("transfer" if task_id == "new-name" else "user_stop")
    acted_on = [episode.opening, *(step.observation for step in episode.steps[:-1])]
    users = sum(one.source == "user" for one in acted_on)
    extra = {"ufold": 2 * users}.get(name, 0)
    assert len(script.requests) == len(episode.steps) + extra
    assert sum(step.notes.get("summaries", 0) for step in episode.steps) == extra


def test_resum_asks_once_more_for_each_summary():
    script = OneTask("grounded")
    episode = episode_of(load_system("resum", budget=40), "grounded", script)
    summaries = sum(step.notes.get("summaries", 0) for step in episode.steps)
    assert episode.reward == 1.0 and summaries >= 2
    assert len(script.requests) == len(episode.steps) + summaries


def test_idss_fills_in_what_it_remembers():
    wish = {"name": "seat", "value": "", "source": "derivable"}
    state = {"intents": [{"name": "book", "status": "active"}], "variables": [wish], "constraints": []}
    for preferences, filled in ((True, {"seat": "window"}), (False, {})):
        script = OneTask("usual-eva", state=state)
        system = load_system("idss", preferences=str(preferences))
        episode = episode_of(system, "usual-eva", script, remember=True)
        assert episode.reward == 1.0
        assert episode.steps[0].notes.get("remembered", {}) == filled
        assert ("Sits by the window" in script.prompts[0]) == preferences


@pytest.mark.parametrize("option", ["facts", "state", "constraints"])
def test_ablations_play_too(option):
    script = OneTask("bag-paid")
    episode = episode_of(load_system("idss", **{option: False}), "bag-paid", script)
    assert episode.reward == 1.0 and len(script.requests) == len(episode.steps)


def test_the_completion_rule_ends_an_episode():
    done = {"intents": [{"name": "meal", "status": "completed"}], "variables": [], "constraints": []}
    episode = episode_of(load_system("idss", stop_when_complete=True), "meal", OneTask("meal", state=done))
    assert (episode.termination, episode.reward, len(episode.steps)) == ("agent_stop", 1.0, 2)


@pytest.mark.parametrize("name", AGENTS)
def test_an_lm_that_talks_nonsense_loses_without_an_error(name):
    script = OneTask("meal")
    script._answer = lambda request: "???"
    episode = episode_of(load_system(name), "meal", script)
    assert episode.reward == 0.0 and not episode.error and episode.termination == "user_stop"
    assert all(step.notes["unparsed"] == 1 for step in episode.steps)


def test_wrong_options_are_named():
    with pytest.raises(InputError, match="preferences must be true or false, not 'maybe'"):
        load_system("idss", preferences="maybe")
    with pytest.raises(InputError, match="resum has no option k; known: budget"):
        load_system("resum", k=1)
