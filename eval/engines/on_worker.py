"""The task of a command line, made again on a worker's machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from eval.preparation import Asked, prepare
from eval.run_config import RunConfig, differences
from eval.tasks.task import Task
from prefine_dspy.errors import InputError


def task_on_worker(asked: dict[str, Any], config: RunConfig, folder: str) -> Task:
    """Load what the driver loaded; nothing but names travels.

    Args:
        asked: the fields of `eval.preparation.Asked`.
        config: what they are on the driver's machine.
        folder: the driver's working directory, from which relative paths count; where there is none like it, this
            process's own.

    Raises:
        InputError: something is missing here, or is not what it is there (other data, another library version).
    """
    if Path(folder).is_dir():
        os.chdir(folder)
    # memories of another run are among the lines that come with the work
    task, here = prepare(Asked(**{**asked, "memories": None}))
    there = config.model_copy(update={"memories": None}).model_dump(mode="json")
    if lines := differences(there, here.model_dump(mode="json")):
        raise InputError(
            f"a worker's machine ({os.uname().nodename}) is not like this one: {lines[0].strip()} (here -> there): "
            "install the same versions and copy the same data there"
        )
    return task
