"""Histories and instances from files in MPT's own format."""

from __future__ import annotations

from pathlib import Path

from eval.instance import Instance
from prefine_dspy.errors import InputError
from prefine_dspy.types import History


def load_released(path: Path) -> tuple[dict[str, History], list[Instance]]:
    raise InputError(f"cannot read {path} yet: use mini or a folder made by eval.data.build")


def load_hub() -> tuple[dict[str, History], list[Instance]]:
    raise InputError("cannot read mpt yet: use mini or a folder made by eval.data.build")
