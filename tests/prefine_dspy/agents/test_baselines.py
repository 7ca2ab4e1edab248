"""What each of the five methods shows its LM, and how often it asks."""

from __future__ import annotations

import dspy
import pytest
from agent_world import BRIEFING, GET, Fields, asked, heard, order, returned, run, say
from scripted_lm import lm_of, prompt_of

from prefine_dspy.agents import IterResearch, ReAct, ReSum, StateAct, UFold
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

COURSE = [heard("first wish"), returned(order(note="alpha")), heard("second wish"), returned(order(note="beta"))]
ACTIONS = [GET, say("I found alpha."), GET, say("I found beta.")]


def after_history(prompt: str) -> str:
    return prompt.partition("history:\n")[2]


@pytest.mark.parametrize("agent", [ReAct(), StateAct()])
def test_the_whole_history_only_grows(agent):
    script = Fields(ACTIONS)
    run(agent, script, COURSE)
    assert len(script.requests) == 4
    assert len({str(request.system) for request in script.requests}) == 1
    histories = [after_history(prompt) for prompt in script.prompts[1:]]
    assert histories[1].startswith(histories[0]) and histories[2].startswith(histories[1])
    last = script.prompts[-1]
    assert all(text in last for text in ("first wish", "alpha", "second wish", "beta", "get_order("))


def test_goal_and_state_stay_in_the_history():
    script = Fields(ACTIONS, goal=["g1", "g2", "g3", "g4"], state=["s1", "s2", "s3", "s4"])
    decisions = run(StateAct(), script, COURSE)
    assert "goal: g1\nstate: s1\nthought: my thought\ncall: get_order" in script.prompts[-1]
    assert "goal: g3\nstate: s3" in script.prompts[-1]
    assert decisions[0].notes == {"goal": "g1", "state": "s1", "thought": "my thought"}


def test_policy_and_tools_come_before_everything_that_changes():
    script = Fields(ACTIONS)
    run(ReAct(), script, COURSE[:2], BRIEFING._replace(now="2031-05-12T09:00", greeting="Welcome!"))
    system = str(script.requests[0].system)
    assert system == str(script.requests[1].system)
    assert "Be exact." in system and "get_order(order_id)" in system and "It is 2031-05-12T09:00." in system
    assert "agent: Welcome!\nuser: first wish" in script.prompts[0]


def test_resum_summarises_exactly_when_its_budget_is_passed():
    long = returned(order(note="x" * 400))
    course = [heard("first wish"), long, heard("second wish"), long, long]
    actions = [GET, say("One moment."), GET, GET, say("Done.")]
    script = Fields(actions, summary=["the order is open", "still open"])
    decisions = run(ReSum(budget=130), script, course)
    # 100 tokens and more a return: the history is too long when there is something older than what was just read
    counts = [decision.notes.get("summaries", 0) for decision in decisions]
    assert counts == [0, 0, 1, 0, 1]
    assert len(script.requests) == len(course) + sum(counts)
    third = after_history(script.prompts[2])
    assert third == "user: first wish\nsummary: the order is open\nuser: second wish"
    fifth = after_history(script.prompts[4])
    assert fifth.startswith("user: first wish\nsummary: still open\nuser: second wish\ncall: get_order")
    assert fifth.count("xxxx") and fifth.count("result:") == 1


def test_what_resum_cannot_shorten_is_not_summarised():
    script = Fields([GET, say("Done.")])
    decisions = run(ReSum(budget=1), script, [heard("wish"), returned("y" * 900)])
    # before the return there are the first request, the call itself and a thought
    assert [decision.notes.get("summaries", 0) for decision in decisions] == [0, 0]
    assert "y" * 900 in script.prompts[-1]


def test_a_summary_that_cannot_be_read_leaves_the_history():
    def answer(request):
        return "no json" if "summary" in str(request.config.response_format) else {"thought": "t", "action": say("Hm.")}

    script = Fields([])
    script._answer = answer
    decisions = run(ReSum(budget=1), script, [heard("wish"), heard("more"), heard("again")])
    assert all(isinstance(one.action.text, str) for one in decisions)
    assert "user: wish\nthought: t\nagent: Hm.\nuser: more\nthought: t\nagent: Hm.\nuser: again" in script.prompts[-1]


@pytest.mark.parametrize("budget", [0, -1, 1.5, "x", True])
def test_a_budget_is_a_whole_number(budget):
    with pytest.raises(InputError, match="budget must be a whole number, 1 or more"):
        ReSum(budget=budget)


def test_iterresearch_shows_nothing_older_than_the_last_step():
    script = Fields(ACTIONS, new_report=["r1", "r2", "r3", "r4"])
    decisions = run(IterResearch(), script, COURSE)
    assert len(script.requests) == 4
    first, _, third, fourth = (prompt.partition("question:")[2] for prompt in script.prompts)
    assert "(nothing yet)" in first and "(none)" in first
    assert "report: r2" in third and "agent: I found alpha." in third and "user: second wish" in third
    assert "report: r3" in fourth and 'call: get_order({"order_id":"o1"})' in fourth and "beta" in fourth
    assert "first wish" in fourth
    assert not any(old in fourth for old in ("alpha", "second wish", "r1", "r2"))
    assert decisions[2].notes["report"] == "r3"


@pytest.mark.parametrize(
    ("usual", "longer", "field", "limit"),
    [
        (ReSum(budget=60), ReSum(budget=60, longest=2000), "summary", 500),
        (IterResearch(), IterResearch(longest=2000), "new_report", 400),
        (UFold(), UFold(longest_summary=2000), "summary", 400),
        (UFold(), UFold(longest_log=2000), "tool_log", 500),
    ],
)
def test_what_takes_the_place_of_the_history_may_be_longer(usual, longer, field, limit):
    for agent, length in ((usual, limit), (longer, 2000)):
        script = Fields([GET, say("Hm."), say("Done.")], **{field: "w" * 3000})
        run(agent, script, [heard("wish"), returned("x" * 300), heard("more")])
        limits = [asked(one)[field]["maxLength"] for one in script.requests if field in asked(one)]
        assert limits and set(limits) == {length}
        assert script.prompts[-1].count("w" * length) == 1 and "w" * (length + 1) not in script.prompts[-1]
    predictors = [one.dump_state() for one in (usual, longer)]
    assert predictors[0] == predictors[1], "compiled programs fit both"


def test_a_missing_report_leaves_the_old_one():
    script = Fields(ACTIONS, new_report=["r1", "", "r3", "r4"])
    run(IterResearch(), script, COURSE)
    assert "report: r1" in script.prompts[2]


def test_ufold_asks_twice_more_at_each_message_of_the_user():
    script = Fields(ACTIONS, summary=["wants one", "wants two"], tool_log=["nothing known", "the order is alpha"])
    decisions = run(UFold(), script, COURSE)
    assert [decision.notes.get("summaries", 0) for decision in decisions] == [2, 0, 2, 0]
    assert len(script.requests) == 4 + 2 * 2
    third, fourth = (prompt.partition("summary: wants two")[2] for prompt in script.prompts[2:])
    assert "tool_log: the order is alpha" in third and third.rstrip().endswith("user: second wish")
    assert "first wish" not in fourth and "beta" in fourth and "I found alpha." not in fourth
    folding = [prompt_of(one) for one in script.requests if "action" not in str(one.config.response_format)]
    assert "agent: I found alpha.\nuser: second wish" in folding[2] and "note" not in folding[2]
    assert '"note": "alpha"' in folding[3] and "second wish" not in folding[3]


def test_a_trial_is_asked_anew_at_a_temperature():
    seen = []

    class Listening(dspy.Predict):
        def forward(self, **kwargs):
            seen.append(kwargs.get("config"))
            return super().forward(**kwargs)

    for temperature, trial in ((0.7, 2), (0.7, 0), (0.0, 2)):
        agent = ReAct()
        agent.act = Listening(agent.act.signature)
        act = agent.begin(BRIEFING._replace(trial=trial))
        with dspy.context(lm=lm_of(Fields([say("Hello.")])).copy(temperature=temperature)):
            act(heard("hi"))
    assert seen == [{"rollout_id": 2}, {}, {}]


def test_episodes_of_one_agent_do_not_touch_each_other():
    agent, script = ReAct(), Fields([say("a"), say("b"), GET])
    one, two = agent.begin(BRIEFING), agent.begin(BRIEFING)
    with dspy.context(lm=lm_of(script)):
        one(heard("wish of one"))
        two(heard("wish of two"))
        assert one(heard("go on")).action == ToolCall.of("get_order", order_id="o1")
    assert "wish of two" not in script.prompts[-1] and "wish of one" in script.prompts[-1]


def test_a_call_made_twice_running_is_not_offered_a_third_time():
    script = Fields([GET, GET, say("It is open."), GET])
    seen = returned(order(note="alpha"))
    decisions = run(ReAct(), script, [heard("wish"), seen, seen, heard("thanks")])
    offered = [
        "anyOf" in request.config.response_format["schema"]["properties"]["action"] for request in script.requests
    ]
    assert offered == [True, True, False, True]
    assert [decision.notes.get("stuck", 0) for decision in decisions] == [0, 0, 1, 0]
    assert len({str(request.system) for request in script.requests}) == 1
