"""The folder of a run: config, memories, items, transcripts, summary, the LM's answers, and the lock over them."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from eval.journal import Journal, write_json
from eval.locked_folder import CONFIG, LockedFolder, read_object
from eval.run_config import RunConfig, check_same, provenance
from prefine_dspy.errors import InputError


class RunFolder:
    """Opens a run for writing; a context manager that holds its lock.

    Args:
        path: the folder.
        config: what the run is.
        resume: continue a run that is there. Without it an existing run is an error; with it a missing one is begun,
            so that the same command line works before and after a kill.
        module: the command whose run it is.

    Raises:
        InputError: the folder holds a run and `resume` is False, or a run of another configuration, or something
            that is no run, or another process writes it now.
    """

    def __init__(self, path: Path, config: RunConfig, *, resume: bool, module: str = "eval.run") -> None:
        self.path = path
        self.module = module
        self.config = config
        self.resume = resume
        self.memories = Journal(path / "memories.jsonl")
        self.items = Journal(path / "items.jsonl")
        self.transcripts = Journal(path / "transcripts.jsonl")
        self.answers = path / "lm_answers"
        self.warnings: list[str] = []
        self._folder = LockedFolder(path, option="--out", busy="writing", content="run")

    def __enter__(self) -> RunFolder:
        self._folder.acquire()
        try:
            self._open()
        except BaseException:
            self._folder.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for journal in self._journals():
            journal.close()
        self._folder.release()

    def _open(self) -> None:
        document = read_config(self.path)
        now = self.config.model_dump(mode="json")
        if document is None:
            self._folder.check_empty()
            write_json(self.path / CONFIG, {"config": now, "provenance": provenance(self.module)})
            return
        if not (self.resume or self.memories.read() or self.items.read()):
            # the first try found no LM or had no budget: what it left is no reason to ask for --resume
            self._repair()
            write_json(self.path / CONFIG, {"config": now, "provenance": provenance(self.module)})
            return
        if not self.resume:
            raise InputError(f"{self.path} holds a run already: add --resume to continue it, or give another --out")
        check_same(self.path, document["config"], now)
        was, is_now = document.get("provenance", {}).get("commit"), provenance(self.module)["commit"]
        if was != is_now:
            self.warnings.append(f"the run was started at commit {was}, this is {is_now}")
        (self.path / "summary.json").unlink(missing_ok=True)
        self._repair()

    def _repair(self) -> None:
        for journal in self._journals():
            if journal.repair():
                self.warnings.append(f"cut off a torn last line of {journal.path.name} (the process was killed)")

    def _journals(self) -> tuple[Journal, ...]:
        return self.memories, self.items, self.transcripts

    def write_summary(self, summary: dict[str, Any]) -> None:
        """The last thing a complete run does."""
        write_json(self.path / "summary.json", summary)


def read_config(path: Path) -> dict[str, Any] | None:
    """The run's config.json as `{"config": ..., "provenance": ...}`; None when there is none.

    Raises:
        InputError: it cannot be read.
    """
    document = read_object(path / CONFIG, "--out")
    if document is not None and not isinstance(document.get("config"), dict):
        raise InputError(f"{path / CONFIG} is damaged: give another --out")
    return document
