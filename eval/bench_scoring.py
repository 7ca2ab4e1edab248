"""`python -m eval.bench_scoring`: seconds that each scorer takes for as many recorded answers as MPT has instances.

The answers are made up from the catalogue, in the forms that LMs write calls in, with the mistakes that they make.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from eval.data.catalogue import base_catalogue
from eval.score import TASKS, Pairs, Settings
from prefine_dspy.tools import Parameter
from prefine_dspy.types import ToolCall

MPT_INSTANCES = 4695
_DATES = ("March 5th", "2019-03-08", "5 March 2019", "tomorrow", "next Monday", "some day", "03/11/2019")
_TIMES = ("18:15", "6:15 pm", "9 am", "12:00", "half past six")
_NAMES = ("Paris", "Joe's Diner", "San Jose", "Jackie Chan", "Alien (1979)", "Portland, OR")


def recorded(n: int, seed: int = 0) -> Pairs:
    """Gold and recorded answers of n made-up items."""
    generator = random.Random(seed)
    return {f"bench-{number}": _item(generator) for number in range(n)}


def _item(generator: random.Random) -> tuple[list[str], str]:
    tool = generator.choice(base_catalogue().tools)
    filled = generator.sample(tool.parameters, k=min(len(tool.parameters), generator.randint(1, 4)))
    gold = {parameter.name: _value(parameter, generator) for parameter in filled}
    answer: dict[str, Any] = dict(gold)
    for parameter in tool.parameters:
        chance = generator.random()
        if chance < 0.15:
            answer[parameter.name] = _value(parameter, generator)
        elif chance < 0.25:
            answer.pop(parameter.name, None)
    call = ToolCall(name=tool.name, arguments=answer)
    return [str(ToolCall(name=tool.name, arguments=gold))], generator.choice(list(_forms(call)))


def _value(parameter: Parameter, generator: random.Random) -> str:
    options = parameter.choices() or parameter.enum
    if "date" in parameter.name:
        options = (*_DATES, f"2019-{generator.randint(1, 12):02d}-{generator.randint(1, 28):02d}")
    elif "time" in parameter.name:
        options = _TIMES
    elif parameter.name.startswith("number_of"):
        options = ("1", "2", "3")
    return generator.choice(options or _NAMES)


def _forms(call: ToolCall) -> Iterator[str]:
    """The ways an LM writes a call, or fails to."""
    named = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    yield str(call)
    yield named
    yield json.dumps({call.name: call.arguments}, ensure_ascii=False)
    yield f"```json\n{named}\n```"
    yield f"<think>Which one (hm)?</think>\nHere you go:\n{call}\nAnything else?"
    yield named[:-12]
    yield "I cannot tell which one you prefer."


def main(n: Annotated[int, typer.Option(help="recorded answers")] = MPT_INSTANCES) -> None:
    """Print the seconds of each scorer, summary and intervals included."""
    pairs = recorded(n)
    for name, scorer in TASKS["mpt"].scorers.items():
        start = time.perf_counter()
        scored = scorer(pairs, Settings())
        seconds = time.perf_counter() - start
        print(f"{name}: {len(scored.items)} recorded answers in {seconds:.2f} s ({1e6 * seconds / n:.0f} us an item)")
        sys.stdout.flush()


if __name__ == "__main__":
    typer.run(main)
