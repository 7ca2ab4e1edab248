"""What a compilation will take, before its first call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# tokens per second of the default local LM on 2 cores, and characters a token: said in the estimate, so that whoever
# has a faster LM can correct them
PROMPT_RATE, OUTPUT_RATE = 85.0, 28.0
CHARACTERS_PER_TOKEN = 4.0
# generate and verify, and in every third session or so a refinement that is verified again
CALLS_PER_SESSION = 2.7


class CallSize(NamedTuple):
    """A typical LM call of one kind, in tokens.

    Args:
        prefix: what is the same in all of them (instructions, tools, demonstrations): read once, then cached by the LM.
        fresh: what differs.
        output: what is written.
    """

    prefix: int
    fresh: int
    output: int


class Stage(NamedTuple):
    """One step of a compilation.

    Args:
        name: for people.
        metric_calls: examples scored.
        lm_calls: how many, at most about.
        size: of each.
        prefixes: different prefixes in use, e.g. one a candidate and catalogue.
    """

    name: str
    metric_calls: int
    lm_calls: int
    size: CallSize
    prefixes: int = 1

    @property
    def prompt_tokens(self) -> int:
        """All that is sent."""
        return self.lm_calls * (self.size.prefix + self.size.fresh)

    @property
    def read_tokens(self) -> int:
        """What an LM with a prefix cache has to read."""
        return min(self.lm_calls, self.prefixes) * self.size.prefix + self.lm_calls * self.size.fresh

    @property
    def output_tokens(self) -> int:
        return self.lm_calls * self.size.output

    def seconds(self, prompt_rate: float, output_rate: float) -> float:
        return self.read_tokens / prompt_rate + self.output_tokens / output_rate


def tokens(text: str) -> int:
    """An estimate without a tokenizer."""
    return round(len(text) / CHARACTERS_PER_TOKEN)


def search_metric_calls(optimizer: str, settings: object, train: int, dev: int) -> tuple[int, int]:
    """(train examples run, dev examples scored) by an optimizer, at most about.

    Args:
        settings: `programs.compilation.job.Settings`.
        train, dev: examples.
    """
    candidates = int(getattr(settings, "candidates", 0))
    trials = int(getattr(settings, "all_trials", 0))
    bootstrap = train if optimizer.startswith("bootstrap") else 0
    if optimizer == "labeled":
        return 0, 0
    if optimizer == "bootstrap":
        return bootstrap, 0
    if optimizer == "bootstrap-rs":
        return bootstrap if candidates > 1 else 0, (1 + candidates) * dev
    if optimizer == "bootstrap-optuna":
        return bootstrap, (1 + trials) * dev
    if optimizer == "mipro":
        return candidates * train, (3 + trials) * dev
    if optimizer == "gepa":
        asked = int(getattr(settings, "metric_calls", 0)) or dev + 3 * (3 + dev)
        return round(0.5 * asked), asked + 2 * dev  # real calls exceed the number asked for by about a half
    steps = int(getattr(settings, "steps", 1))
    batch = min(32, train)
    return steps * batch * (2 * candidates + 1), 2 * dev


def report(stages: Sequence[Stage], prompt_rate: float, output_rate: float) -> str:
    """A table for people."""
    lines = [
        f"{'stage':<34}{'metric calls':>13}{'LM calls':>10}{'tokens in':>11}{'of them new':>13}{'out':>8}{'time':>9}"
    ]
    for stage in stages:
        lines.append(_line(stage.name, [stage], prompt_rate, output_rate))
    lines.append(_line("in all", stages, prompt_rate, output_rate))
    lines.append(
        f"tokens: characters / {CHARACTERS_PER_TOKEN:g}; time: {prompt_rate:g} new prompt tokens and {output_rate:g} "
        "output tokens a second (--prompt-rate, --output-rate); prefixes that repeat are read once by an LM that "
        "caches them"
    )
    return "\n".join(lines)


def _line(name: str, stages: Sequence[Stage], prompt_rate: float, output_rate: float) -> str:
    seconds = sum(stage.seconds(prompt_rate, output_rate) for stage in stages)
    minutes, rest = divmod(round(seconds), 60)
    return (
        f"{name:<34}{sum(s.metric_calls for s in stages):>13}{sum(s.lm_calls for s in stages):>10}"
        f"{sum(s.prompt_tokens for s in stages):>11}{sum(s.read_tokens for s in stages):>13}"
        f"{sum(s.output_tokens for s in stages):>8}{f'{minutes}:{rest:02}':>9}"
    )
