"""`python -m prefine_dspy.store show|history|correct|unpin|forget|export|import USER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from prefine_dspy import command
from prefine_dspy.errors import InputError
from prefine_dspy.store.preferences import PreferenceStore
from prefine_dspy.store.records import Version

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, help="What is remembered of a user: read, correct, forget it."
)
User = Annotated[str, typer.Argument(help="the user's id")]
Url = Annotated[
    str | None,
    typer.Option(help="sqlite:///PATH, a path, or postgresql://...; else $PREFINE_STORE, else the user's data folder"),
]


@app.command()
def show(user: User, url: Url = None) -> None:
    """The present hypothesis, and where it comes from."""
    with PreferenceStore(url, create=False) as store:
        found, memory = store.latest(user), store.get(user)
    if found is None:
        raise _unknown()
    print(memory.text or "(no hypothesis yet)")
    for one in memory.evidence:
        print(f"  chosen in {len(one.sessions)} sessions: {one.function} {one.argument}={one.value}")
    print(f"{_state(found)}; {len(memory.sessions)} sessions observed; last change {found.at:%Y-%m-%d %H:%M} UTC")


@app.command()
def history(user: User, url: Url = None) -> None:
    """All versions, oldest first, a line each."""
    with PreferenceStore(url, create=False) as store:
        versions = store.history(user)
    if not versions:
        raise _unknown()
    for one in versions:
        source = f"session {one.session}" if one.session is not None else one.cause
        news = one.memory.text if one.accepted else "(unchanged)"
        calls = "; ".join(str(call) for call in one.calls)
        print(
            f"{one.number:4} {one.at:%Y-%m-%d %H:%M} {source}: {news}"
            + (" [pinned]" if one.pinned else "")
            + (f" <- {calls}" if calls else "")
            + (f" ({one.lm})" if one.lm else "")
        )


@app.command()
def correct(
    user: User,
    text: Annotated[str, typer.Argument(help="the hypothesis in your own words")],
    pin: Annotated[bool, typer.Option(help="keep it whatever later sessions show")] = True,
    url: Url = None,
) -> None:
    """Replace the hypothesis by your own words; it stays until `unpin`."""
    if not text.strip():
        raise InputError(
            "a correction needs words: say what is to be remembered, or remove everything with "
            "python -m prefine_dspy.store forget USER"
        )
    with PreferenceStore(url) as store:
        memory = store.correct(user, text, pinned=pin)
    print(f"corrected; hypothesis {memory.version}{', pinned' if pin else ''}")


@app.command()
def unpin(user: User, url: Url = None) -> None:
    """Let later sessions change a corrected hypothesis again."""
    with PreferenceStore(url, create=False) as store:
        if store.latest(user) is None:
            raise _unknown()
        store.unpin(user)
    print("not pinned")


@app.command()
def forget(user: User, url: Url = None) -> None:
    """Remove everything that is remembered of a user, from the database's files too."""
    with PreferenceStore(url, create=False) as store:
        found = store.forget(user)
    print("forgotten" if found else "nothing was remembered of this user")


@app.command()
def export(user: User, url: Url = None) -> None:
    """Everything that is kept of a user, as JSON."""
    with PreferenceStore(url, create=False) as store:
        if store.latest(user) is None:
            raise _unknown()
        print(json.dumps(store.export(user), indent=2))


@app.command("import")
def import_(
    user: User,
    file: Annotated[Path, typer.Argument(help="what `export` printed; - reads standard input")],
    url: Url = None,
) -> None:
    """Take in an exported memory under a user's id."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
        document = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file} cannot be read as exported JSON: {error}") from None
    with PreferenceStore(url) as store:
        memory = store.import_(user, document)
    print(f"imported: {len(memory.sessions)} sessions, hypothesis {memory.version}")


def _state(version: Version) -> str:
    return f"hypothesis {version.memory.version}{', corrected by a person and pinned' if version.pinned else ''}"


def _unknown() -> InputError:
    return InputError("nothing is remembered of this user in this store; give another store with --url")


def main() -> None:
    """The command; errors of ours are one line."""
    command.run(app)


if __name__ == "__main__":
    main()
