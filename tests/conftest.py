"""Every test starts from DSPy's defaults, without network and cache; markers are off unless asked for."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"

import dspy
import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--local-lm", action="store_true", help="run the tests that load a local LM")
    parser.addoption(
        "--shared-data", action="store_true", help="run the tests that read the corpora beside the checkout"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    off = {
        "local_lm": not config.getoption("--local-lm"),
        "tiny_lm": not config.getoption("--local-lm"),
        "shared_data": not config.getoption("--shared-data") or not SHARED_DATA.is_dir(),
    }
    reasons = {"local_lm": "--local-lm", "tiny_lm": "--local-lm", "shared_data": "--shared-data"}
    for item in items:
        for marker in off:
            if off[marker] and marker in item.keywords:
                item.add_marker(pytest.mark.skip(reason=f"switched on with {reasons[marker]}"))


@pytest.fixture(autouse=True)
def _fresh_dspy(tmp_path_factory: pytest.TempPathFactory) -> object:
    """A cache of the test's own, and no LM or adapter left over from another test."""
    cache = tmp_path_factory.mktemp("dspy_cache")
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False, disk_cache_dir=str(cache))
    dspy.clients.base_lm.GLOBAL_HISTORY.clear()
    dspy.settings.configure(lm=None, adapter=None, callbacks=[], track_usage=False, trace=[])
    return None


@pytest.fixture
def shared_data() -> Path:
    """The corpora's folder; use it together with the marker `shared_data`."""
    return SHARED_DATA
