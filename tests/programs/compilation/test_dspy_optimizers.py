"""MIPROv2, GEPA and SIMBA on a toy part: they run on a job, keep its budget and leave the best program there."""

from __future__ import annotations

import dspy
import pytest

from eval.call_cache import CallCache, installed
from prefine_dspy.errors import InputError
from programs.compilation.demonstrations import Labelled
from programs.compilation.job import Job, Settings
from programs.compilation.optimizers import OPTIMIZERS, SEARCHING, finished, optimize
from tests.scripted_lm import Script, lm_of, prompt_of, stage_of


class Colour(dspy.Module):
    def __init__(self):
        super().__init__()
        self.say = dspy.Predict("thing: str -> hypothesis: str")

    def forward(self, thing):
        return self.say(thing=thing)


THINGS = {f"thing {n}": ("red" if n % 2 else "blue") for n in range(12)}


def example(thing):
    return dspy.Example(thing=thing, hypothesis=THINGS[thing]).with_inputs("thing")


def metric(gold, pred, trace=None):
    return float(pred["hypothesis"] == gold.hypothesis)


def feedback(gold, pred, trace=None, pred_name=None, pred_trace=None):
    return dspy.Prediction(score=metric(gold, pred), feedback=f"should be {gold.hypothesis}")


def answers(request):
    """Right for what is demonstrated or when the instructions say so; a reflecting LM writes those instructions."""
    prompt = prompt_of(request)
    last = request.messages[-1].text or ""
    thing = next((one for one in sorted(THINGS, key=len, reverse=True) if f"{one}\n" in last + "\n"), "")
    asks = "hypothesis" in prompt and thing and "proposed" not in prompt and "feedback" not in prompt.lower()
    if not asks:
        text = "Odd things are red, even ones blue."
        return (
            f"```\n{text}\n```"
            if "```" in prompt
            else f"[[ ## proposed_instruction ## ]]\n{text}\n[[ ## completed ## ]]"
        )
    good = "Odd things are red" in prompt or len(request.messages) > 2
    return f"[[ ## hypothesis ## ]]\n{THINGS[thing] if good else 'green'}\n\n[[ ## completed ## ]]"


def job(check=lambda: None, **changes):
    script = Script(answers, schema=False, tools=False)
    lm = lm_of(script).copy(cache=True)
    pool = [Labelled(example(thing), (THINGS[thing],)) for thing in list(THINGS)[:4]]
    settings = Settings(demos=2, candidates=2, trials=3, steps=1, metric_calls=30, **changes)
    return script, Job(
        name="caller",
        student=Colour(),
        pools={"say": pool},
        train=[example(thing) for thing in list(THINGS)[:6]],
        dev=[example(thing) for thing in list(THINGS)[6:]],
        metric=metric,
        feedback=feedback,
        lm=lm,
        teacher_lm=lm,
        settings=settings,
        check=check,
    )


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_every_optimizer_ends_with_a_better_program(name):
    _, one = job()
    assert optimize(name, one) == ""
    program = finished(name, one)
    assert one.mean(one.student, one.dev) == 0.0
    assert one.mean(program, one.dev) == 1.0
    assert program.say.demos or "Odd things" in program.say.signature.instructions


@pytest.mark.parametrize("name", sorted(SEARCHING))
@pytest.mark.parametrize("budget", [1, 5, 9])
def test_a_budget_that_ends_leaves_the_best_so_far(name, budget, tmp_path):
    with installed(CallCache(tmp_path, max_calls=budget)) as cache, dspy.context(callbacks=[cache]):

        def check():
            if cache.stop:
                raise cache.stop

        script, one = job(check)
        assert "--max-calls" in optimize(name, one)
        assert len(script.requests) <= budget
        assert finished(name, one).say.demos or one.best().label == "uncompiled"


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_the_same_seed_gives_the_same_program(name):
    states = []
    for _ in range(2):
        _, one = job()
        optimize(name, one)
        states.append(finished(name, one).dump_state())
    assert states[0] == states[1]


def test_an_unknown_optimizer_is_said():
    _, one = job()
    with pytest.raises(InputError, match="known: labeled"):
        optimize("magic", one)


def test_what_does_not_come_from_the_budget_is_raised():
    _, one = job()

    def broken(gold, pred, trace=None):
        raise ZeroDivisionError

    one.metric = broken
    with pytest.raises(ZeroDivisionError):
        optimize("bootstrap-rs", one)


def test_stage_of_knows_no_colours():
    script, one = job()
    one.mean(one.student, one.dev[:1])
    assert stage_of(script.requests[0]) == "other"
