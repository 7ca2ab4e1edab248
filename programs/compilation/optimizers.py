"""The optimizers by name: each compares programs through `Job` and leaves the best one there.

`labeled` and the bootstrapping ones place demonstrations; `mipro`, `gepa` and `simba` (DSPy's own, thinly wrapped) also
rewrite instructions. Sources: DSPy 3.4.1 (LabeledFewShot, BootstrapFewShot, BootstrapFewShotWithRandomSearch,
BootstrapFewShotWithOptuna, MIPROv2, GEPA, SIMBA). The random search and the one by Optuna are written here: DSPy's
take whole examples as labelled demonstrations, while here each predictor has its own pool.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout

import dspy
from dspy.utils.exceptions import DSPyError

from prefine_dspy.errors import BudgetExhausted, InputError
from programs.compilation.demonstrations import choose, fill_empty, give
from programs.compilation.dspy_optimizers import gepa, mipro, simba
from programs.compilation.job import Job
from programs.compilation.parts import predictors
from programs.compilation.traces import labelled, mixed, traces


def labeled(job: Job) -> None:
    """Demonstrations written from the train split's annotation, balanced over their kinds; no LM call."""
    job.propose(f"labelled, seed {job.settings.seed}", labelled(job, job.settings.seed))


def bootstrap(job: Job) -> None:
    """Demonstrations from successful runs, topped up with labelled ones where a kind is missing."""
    labeled(job)
    job.propose("bootstrapped", mixed(job, traces(job), job.settings.seed))


def bootstrap_rs(job: Job) -> None:
    """Random search: the uncompiled program, labelled sets and mixtures with bootstrapped steps, compared on dev."""
    settings = job.settings
    labeled(job)
    job.measure("uncompiled", job.student)
    # without labels there are no sets to choose from
    from_labels = settings.candidates - settings.candidates // 2 if job.pools else 0
    for seed in range(settings.seed, settings.seed + from_labels):
        job.measure(f"labelled, seed {seed}", labelled(job, seed))
    if settings.candidates > 1:
        found = traces(job)
        for seed in range(settings.seed, settings.seed + settings.candidates // 2):
            job.measure(f"bootstrapped, seed {seed}", mixed(job, found, seed))


def bootstrap_optuna(job: Job) -> None:
    """Which set of demonstrations each predictor gets, chosen for each on its own by Optuna's TPE over dev."""
    import optuna

    settings = job.settings
    labeled(job)
    job.measure("uncompiled", job.student)
    found = traces(job)
    names = [name for name, _ in predictors(job.student)]
    sets: dict[str, list[list[dspy.Example]]] = {}
    for name in names:
        pool, own = job.pools.get(name, ()), found.get(name, ())
        seeds = range(settings.seed, settings.seed + settings.candidates)
        sets[name] = [choose(pool, settings.demos, seed, first=own if seed % 2 else ()) for seed in seeds]

    def objective(trial: optuna.Trial) -> float:
        chosen = {name: trial.suggest_int(name, 0, settings.candidates - 1) for name in names}
        part = give(job.student, {name: sets[name][at] for name, at in chosen.items()})
        label = ", ".join(f"{name.rpartition('.')[2]} {at}" for name, at in chosen.items())
        return job.measure(f"trial {trial.number} ({label})", part)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=settings.seed))
    study.optimize(objective, n_trials=settings.all_trials)


OPTIMIZERS: dict[str, Callable[[Job], None]] = {
    "labeled": labeled,
    "bootstrap": bootstrap,
    "bootstrap-rs": bootstrap_rs,
    "bootstrap-optuna": bootstrap_optuna,
    "mipro": mipro,
    "gepa": gepa,
    "simba": simba,
}
# these compare programs on dev, and may find that the uncompiled one is the best
SEARCHING = frozenset({"bootstrap-rs", "bootstrap-optuna", "mipro", "gepa", "simba"})
# and these are about demonstrations: none of their predictors may end without one
DEMONSTRATING = frozenset({"labeled", "bootstrap", "bootstrap-rs", "bootstrap-optuna", "mipro"})

# of these the first does nothing else, and the second ends with what it found
ALWAYS_DEMONSTRATING = frozenset({"labeled", "bootstrap"})


def optimize(name: str, job: Job) -> str:
    """Run an optimizer; the best program so far is in `job.best()` whatever ended it.

    Returns:
        Why it ended early, or "".

    Raises:
        InputError: unknown optimizer, or too few examples for it.
    """
    if name not in OPTIMIZERS:
        raise InputError(f"no optimizer is called {name!r}; known: {', '.join(OPTIMIZERS)}")
    job.propose("uncompiled", job.student)
    try:
        try:
            with redirect_stdout(sys.stderr):  # DSPy's own progress
                OPTIMIZERS[name](job)
        except Exception:
            job.check()  # optimizers wrap what stopped them in errors of their own
            raise
    except BudgetExhausted as stop:
        return str(stop)
    except DSPyError as error:  # an LM that cannot write what the optimizer asks for, e.g. a proposed instruction
        return f"{name} could not go on: {' '.join(str(error).split())[:200]}"
    return ""


def finished(name: str, job: Job) -> dspy.Module:
    """The best program, with no predictor left empty by an optimizer of demonstrations."""
    best = job.best()
    if name in DEMONSTRATING and best.label != "uncompiled":
        return fill_empty(best.part, job.pools, job.settings.demos, job.settings.seed)
    return best.part
