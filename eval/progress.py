"""Progress with rate and time left: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LINE_EVERY_SECONDS = 15.0


class PhaseProgress:
    """Shows how far one phase is; a context manager. `advance` may be called from any thread.

    Args:
        what: the phase, e.g. "memories".
        total: units of the phase.
        done: units that a former process finished; they do not count for the rate.
        unit: what is counted, e.g. "sessions".
    """

    def __init__(
        self,
        what: str,
        total: int,
        done: int,
        unit: str,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.what, self.total, self.before, self.unit = what, total, done, unit
        self.done = done
        self.stream = stream or sys.stderr
        self._clock = clock
        self._lock = threading.Lock()
        self._bar: Progress | None = None

    def __enter__(self) -> PhaseProgress:
        self._started = self._last_line = self._clock()
        if self.stream.isatty():
            self._bar = Progress(
                TextColumn("{task.description:<9}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(file=self.stream),
            )
            self._task = self._bar.add_task(self.what, total=self.total, completed=self.done, rate="")
            self._bar.start()
        else:
            self._print()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self.done > self.before:
            self._print()

    def advance(self) -> None:
        """One more unit is done."""
        with self._lock:
            self.done += 1
            if self._bar is not None:
                self._bar.update(self._task, completed=self.done, rate=self._rate_text())
            elif self._clock() - self._last_line >= LINE_EVERY_SECONDS:
                self._last_line = self._clock()
                self._print()

    def line(self) -> str:
        """`items 40/120, 0.8 items/s, 1:40 left`."""
        parts = [f"{self.what} {self.done}/{self.total}"]
        if rate := self._rate():
            parts.append(self._rate_text())
            if self.done < self.total:
                minutes, seconds = divmod(round((self.total - self.done) / rate), 60)
                parts.append(f"{minutes}:{seconds:02} left")
        return ", ".join(parts)

    def _rate(self) -> float:
        seconds = self._clock() - self._started
        return (self.done - self.before) / seconds if seconds > 0 else 0.0

    def _rate_text(self) -> str:
        return f"{self._rate():.2f} {self.unit}/s"

    def _print(self) -> None:
        print(self.line(), file=self.stream, flush=True)
