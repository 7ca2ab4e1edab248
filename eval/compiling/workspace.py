"""Where a compilation works: its settings, its lock, and the journal of LM answers that makes it resumable.

The journal is `CallCache`: a compilation that was killed runs again from the start, and every call that was answered
is answered from there at no cost; all choices are seeded, so it comes back to where it was.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

import dspy

from eval.call_cache import CallCache, installed
from eval.journal import write_json
from eval.locked_folder import CONFIG, LockedFolder, read_object
from eval.run_config import check_same
from eval.usage import reported
from prefine_dspy.errors import BudgetExhausted, InputError
from prefine_dspy.manifest import CostPart


class Workspace:
    """A context manager: inside of it, every LM call is journaled and counted.

    Args:
        path: the folder.
        config: what decides the result; a workspace is only resumed under the same.
        resume: continue what is there; begins it when there is nothing.
        max_calls: LM calls at most, over all processes that worked here; None for no limit.

    Raises:
        InputError: it holds another compilation, or one and `resume` is False, or another process works there.
    """

    def __init__(self, path: Path, config: dict[str, Any], *, resume: bool, max_calls: int | None) -> None:
        self.path = path
        self.config = config
        self.resume = resume
        self.max_calls = max_calls
        self._folder = LockedFolder(path, option="--work", busy="compiling in", content="compilation")

    def __enter__(self) -> Workspace:
        self._folder.acquire()
        try:
            self._open()
            self.cache = CallCache(self.path / "lm_answers", self.max_calls)
            self._installed = installed(self.cache)
            self._installed.__enter__()
            self._context = dspy.context(
                callbacks=[*(dspy.settings.callbacks or []), self.cache], disable_history=True, adapter=None
            )
            self._context.__enter__()
        except BaseException:
            self._folder.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, trace)
        self._installed.__exit__(kind, error, trace)
        self._folder.release()

    def check(self) -> None:
        """Raise what has stopped the LM calls, if anything has."""
        if self.cache.stop is not None:
            raise self.cache.stop

    def allow(self, calls: int | None) -> None:
        """Set the limit; a limit that was reached before is forgotten."""
        self.cache.max_calls = calls
        if isinstance(self.cache.stop, BudgetExhausted):
            self.cache.stop = None

    def cost(self) -> CostPart:
        """What all answers of the journal took."""
        calls = tokens_in = tokens_out = 0
        seconds = 0.0
        for key in self.cache.disk_cache.iterkeys():
            stored = self.cache.disk_cache.get(key)
            if not isinstance(stored, dict) or "answer" not in stored:
                continue
            used, _ = reported(stored["answer"])
            calls += 1
            tokens_in += used.get("input_tokens", 0)
            tokens_out += used.get("output_tokens", 0)
            seconds += float(stored.get("seconds", 0.0))
        return CostPart(lm_calls=calls, input_tokens=tokens_in, output_tokens=tokens_out, seconds=round(seconds, 1))

    def _open(self) -> None:
        before = read_object(self.path / CONFIG, "--work")
        if before is None:
            self._folder.check_empty()
            write_json(self.path / CONFIG, self.config)
            return
        if not self.resume:
            raise InputError(f"{self.path} holds a compilation already: add --resume, or give another --work or --out")
        check_same(self.path, before, json.loads(json.dumps(self.config, default=str)))
