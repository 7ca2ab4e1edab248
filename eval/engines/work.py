"""A group of a phase, done far from the run's folder: its journals are lines that come with it and lines that go back.

A worker makes the run's task itself and resumes it from the lines of the run so far, as a later process would. So what
it does with a group is what one process does with it, and a group can be begun by one worker and finished by another.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from eval.failures import ErrorStreak
from eval.journal import Journal
from eval.run_folder import RunFolder
from eval.runner import LeaveGroupError
from eval.tasks.attempt import RunGuard
from eval.tasks.task import Phase, Record, Task
from prefine_dspy.errors import BudgetExhausted, InputError, PrefineError

Lines = dict[str, list[Record]]
"""By the name of a journal."""
_NEVER = 2**62


class Line(NamedTuple):
    """A line that a journal of the run is to have."""

    journal: str
    record: Record


class Unit(NamedTuple):
    """A unit of the phase is finished."""


class Stopped(NamedTuple):
    """Why the run has to end.

    Args:
        kind: the class of the exception.
        message: its text.
    """

    kind: str
    message: str

    @classmethod
    def by(cls, error: PrefineError) -> Stopped:
        return cls(type(error).__name__, str(error))

    def error(self) -> PrefineError:
        """The exception where it is raised again."""
        kinds: dict[str, type[PrefineError]] = {"BudgetExhausted": BudgetExhausted, "PrefineError": PrefineError}
        return kinds.get(self.kind, InputError)(self.message)


Event = Line | Unit | Stopped


def journals_of(folder: RunFolder) -> dict[str, Journal]:
    """The journals of a run by name."""
    return {name: value for name, value in vars(folder).items() if isinstance(value, Journal)}


def settled(folder: RunFolder) -> Lines:
    """All lines of a run so far. Errors that the next process would ask again are kept here as they are: those of
    former processes are gone by now, and this one goes on from its own."""
    return {name: [_settled(line) for line in journal.read()] for name, journal in journals_of(folder).items()}


def _settled(line: Record) -> Record:
    error = line.get("error")
    return {**line, "error": {**error, "retry": False}} if isinstance(error, dict) and "retry" in error else line


class SentJournal(Journal):
    """A journal whose lines came with the work, and whose new ones go back."""

    def __init__(self, name: str, lines: Iterable[Record], send: Callable[[Event], None]) -> None:
        super().__init__(Path(f"{name}.jsonl"))
        self._name = name
        self._lines = list(lines)
        self._send = send

    def append(self, record: Record) -> None:
        self._send(Line(self._name, record))

    def read(self) -> list[Record]:
        return self._lines

    def replace(self, records: Iterable[Record]) -> None:
        """The run's own journal has been put in order before."""
        self._lines = list(records)

    def repair(self) -> bool:
        return False


class SentFolder:
    """As much of a `RunFolder` as a task uses.

    Args:
        path: the run's folder where it can be seen from here; else a temporary one takes its place.
        lines: of all journals.
        send: takes what happens.
    """

    def __init__(self, path: Path, lines: Lines, send: Callable[[Event], None]) -> None:
        self._temporary = None if path.is_dir() else tempfile.TemporaryDirectory(prefix="prefine-")
        self.path = path if self._temporary is None else Path(self._temporary.name)
        for name, known in lines.items():
            setattr(self, name, SentJournal(name, known, send))


class Work:
    """A worker's side of a run.

    Args:
        task: made here.
        path: of the run's folder, on the driver's machine.
        guard: of this worker; LM errors in a row are counted by the driver, over all workers.
    """

    def __init__(self, task: Task, path: Path, cache: Any) -> None:
        self._task = task
        self._path = path
        self._guard = RunGuard(cache, ErrorStreak(_NEVER))
        self._events: SimpleQueue[Event | BaseException | None] = SimpleQueue()
        self._entered: tuple[Phase, Iterator[Phase]] | None = None

    def enter(self, number: int, lines: Lines) -> None:
        """Be ready for the groups of the run's phase of that number, from the lines written so far.

        Raises:
            PrefineError: whatever the task says is wrong.
        """
        folder: Any = SentFolder(self._path, lines, self._events.put)
        phases = self._task.phases(folder, self._guard)
        for _ in range(number):
            next(phases)
        self._entered = (next(phases), phases)

    def group(self, at: int, leave: Callable[[], bool]) -> Iterator[Event]:
        """Finish what is open of one group; what happens comes out as it happens.

        Args:
            at: the group's place in the phase.
            leave: asked after each unit; True ends the work there.
        """
        assert self._entered is not None, "enter a phase first"
        phase = self._entered[0]

        def tick() -> None:
            self._events.put(Unit())
            if leave():
                raise LeaveGroupError

        def work() -> None:
            try:
                phase.run(phase.groups[at], tick)
            except LeaveGroupError:
                pass
            except BaseException as error:
                self._events.put(error)
            finally:
                self._events.put(None)

        thread = threading.Thread(target=work, name="group", daemon=True)
        thread.start()
        while (event := self._events.get()) is not None:
            if isinstance(event, PrefineError):
                event = Stopped.by(event)
            if isinstance(event, BaseException):
                raise event
            yield event
        thread.join()
