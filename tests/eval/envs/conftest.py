"""Benchmarks that lie beside the project, in folders that environment variables name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


def _checkout(variable: str, source: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = os.environ.get(variable)
    if not folder or not Path(folder, source).is_dir():
        pytest.skip(f"needs a checkout: set {variable} to its folder")
    monkeypatch.syspath_prepend(str(Path(folder, source)))
    return Path(folder)


@pytest.fixture
def tau_bench_checkout(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout that PREFINE_TAU_BENCH names, importable."""
    return _checkout("PREFINE_TAU_BENCH", ".", monkeypatch)


@pytest.fixture
def tau2_checkout(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout that PREFINE_TAU2 names, importable."""
    return _checkout("PREFINE_TAU2", "src", monkeypatch)


@pytest.fixture
def userbench_checkout(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout that PREFINE_USERBENCH names, importable."""
    return _checkout("PREFINE_USERBENCH", ".", monkeypatch)


@pytest.fixture
def vita_checkout(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout that PREFINE_VITA names, importable."""
    return _checkout("PREFINE_VITA", "src", monkeypatch)


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """None of the benchmarks can be imported."""
    for module in ("tau_bench", "tau_bench.envs", "tau2", "tau2.registry", "travelgym", "vita", "vita.registry"):
        monkeypatch.setitem(sys.modules, module, None)
    yield
