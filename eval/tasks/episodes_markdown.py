"""The summary of a run on episodes as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval.markdown import cell_text, table, table_cost, table_statuses
from eval.tasks.means import Cell
from eval.tasks.task import Summary

_PARTS = {
    "score": "Score",
    "cer": "CER",
    "ber": "BER",
    "active_pe": "PE, active",
    "passive_pe": "PE, passive",
    "rubrics": "rubrics met",
}
_LENGTHS = {
    "turns": "turns",
    "asked": "questions",
    "steps": "steps",
    "tool_calls": "tool calls",
    "failed_calls": "failed calls",
    "lm_calls": "LM calls",
    "user_lm_calls": "of the user",
    "judge_lm_calls": "of a judge",
    "prompt_tokens_per_call": "prompt tokens / LM call",
    "tokens_per_turn": "tokens / turn",
    "seconds": "seconds",
}
_ONLY_WHEN_ANY = ("user_lm_calls", "judge_lm_calls")
_LABELS = {
    "fact_omission": "fact omission",
    "missing_information": "missing information",
    "constraint_violation": "constraint violation",
}
_COMPARED = {
    "reward": "ΔAvg",
    "success": "Δpass^1",
    **{name: f"Δ{title}" for name, title in {**_PARTS, **_LENGTHS}.items()},
}


def table_scores(summary: Summary) -> Iterator[str]:
    """Avg@k, pass^k, pass@k and the figures of benchmarks that grade in parts (IDSS Table 1)."""
    programs = summary["programs"]
    trials = {one["trials"] for one in programs.values()}
    most = max(trials, default=0)
    parts = _shown(summary, _PARTS)
    rows = [
        [label, str(one["tasks"]), str(one["trials"]), cell_text(one["average"])]
        + [cell_text(one["pass_hat"].get(str(k))) for k in range(1, most + 1)]
        + ([cell_text(one["pass_any"].get(str(most)))] if most > 1 else [])
        + [cell_text(one["means"].get(name)) for name in parts]
        for label, one in programs.items()
    ]
    if rows:
        average = f"Avg@{most}" if len(trials) == 1 else "Avg"
        hats = [f"pass^{k}" for k in range(1, most + 1)]
        header = [
            "program",
            "tasks",
            "trials",
            average,
            *hats,
            *([f"pass@{most}"] if most > 1 else []),
            *parts.values(),
        ]
        yield f"**Episodes (%, 95% bootstrap intervals over tasks)**\n\n{table(header, rows)}"


def table_lengths(summary: Summary) -> Iterator[str]:
    """How long episodes were, and what they took of the agent's LM (IDSS section 4.5)."""
    shown = _shown(summary, _LENGTHS)
    rows = [
        [label, *(cell_text(one["means"].get(name)) for name in shown)] for label, one in summary["programs"].items()
    ]
    if rows:
        yield f"**A mean episode; tokens are the agent's**\n\n{table(['program', *shown.values()], rows)}"


def table_errors(summary: Summary) -> Iterator[str]:
    """Shares of episodes with an error label (IDSS section 4.4), where it can be told without a judge."""
    shown = {name: title for name, title in _LABELS.items() if any(name in one["errors"] for one in _programs(summary))}
    rows = [
        [label, *(cell_text(one["errors"].get(name)) for name in shown)] for label, one in summary["programs"].items()
    ]
    if shown:
        header = ["program", *shown.values()]
        yield f"**Errors, % of episodes that have one (told by code, without a judge)**\n\n{table(header, rows)}"


def table_notes(summary: Summary) -> Iterator[str]:
    """What agents noted, in number, an episode."""
    shown = list(dict.fromkeys(name for one in _programs(summary) for name in one["notes"]))
    rows = [
        [label, *(cell_text(one["notes"].get(name)) for name in shown)] for label, one in summary["programs"].items()
    ]
    if shown:
        yield f"**Noted by the agents, a mean episode**\n\n{table(['program', *shown], rows)}"


def table_groups(summary: Summary) -> Iterator[str]:
    """The mean reward, and the questions asked, by group of tasks."""
    shown = list(dict.fromkeys(name for one in _programs(summary) for name in one["groups"]))
    for figure, title in {"reward": "Avg by group of tasks, %", "asked": "Questions by group of tasks"}.items():
        rows = [
            [label, *(cell_text(one["groups"].get(name, {}).get(figure)) for name in shown)]
            for label, one in summary["programs"].items()
            if any(figure in of for of in one["groups"].values())
        ]
        if rows:
            sizes = [f"{name} (n={_size(summary, name)})" for name in shown]
            yield f"**{title}**\n\n{table(['program', *sizes], rows)}"


def table_deltas(summary: Summary) -> Iterator[str]:
    """Paired differences to the first program."""
    pairs = [(label, minus, cells) for label, found in summary["deltas"].items() for minus, cells in found.items()]
    shown = {name: title for name, title in _COMPARED.items() if any(name in cells for _, _, cells in pairs)}
    rows = [
        [label, minus, str(cells["reward"]["n"]), *(cell_text(cells.get(name), signed=True) for name in shown)]
        for label, minus, cells in pairs
        if "reward" in cells
    ]
    if rows:
        header = ["program", "minus", "tasks", *shown.values()]
        yield f"**Paired differences over tasks (95% intervals; shares in percent points)**\n\n{table(header, rows)}"


def table_terminations(summary: Summary) -> Iterator[str]:
    """Who or what ended the episodes."""
    names = list(dict.fromkeys(name for one in _programs(summary) for name in one["terminations"]))
    rows = [
        [label, *(str(one["terminations"].get(name, 0)) for name in names)]
        for label, one in summary["programs"].items()
    ]
    if names:
        yield f"**What ended the episodes**\n\n{table(['program', *names], rows)}"


def report_text(summary: Summary, scorers: Sequence[str]) -> str:
    """All tables of a summary; the rewards are the environments' own, whatever the scorer."""
    parts = [*table_scores(summary), *table_deltas(summary), *table_lengths(summary), *table_groups(summary)]
    parts += [*table_errors(summary), *table_notes(summary), *table_terminations(summary)]
    return "\n\n".join([*parts, *table_cost(summary), *table_statuses(summary)])


def brief_text(summary: Summary) -> str:
    """What `eval.run` shows at its end."""
    parts = [*table_scores(summary), *table_deltas(summary), *table_lengths(summary), *table_errors(summary)]
    return "\n\n".join([*parts, *table_notes(summary), *table_statuses(summary)])


def _programs(summary: Summary) -> list[Summary]:
    return list(summary["programs"].values())


def _shown(summary: Summary, titles: dict[str, str]) -> dict[str, str]:
    """Those figures that some program has."""
    found = {name: [one["means"].get(name) for one in _programs(summary)] for name in titles}
    return {name: titles[name] for name, cells in found.items() if any(_says(name, cell) for cell in cells)}


def _says(name: str, cell: Cell | None) -> bool:
    return cell is not None and (name not in _ONLY_WHEN_ANY or bool(cell["value"]))


def _size(summary: Summary, group: str) -> int:
    return max(one["groups"][group]["reward"]["n"] for one in _programs(summary) if group in one["groups"])
