"""Anyone's call logs as histories: OpenAI chat logs with tool calls, one session a line.

    {"user": "ann", "session": "2025-03-01", "messages": [...], "tools": [...]}

`messages` are chat messages with their `tool_calls` (or Responses items); calls that failed or were never answered are
left out. `user` tells people apart; lines of one user stand in the order of time. `session` is optional and unique
within a user. `tools` are OpenAI function definitions, needed on one line at least; a later definition of the same
function replaces an earlier one, functions without a definition are known by their calls alone.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from eval.data.files import json_lines
from prefine_dspy.errors import InputError
from prefine_dspy.interop.catalogue import catalogue, covering
from prefine_dspy.interop.sessions import to_session
from prefine_dspy.tools import Catalogue, Tool
from prefine_dspy.types import History, Session

FORMAT = '{"user": "ann", "session": "1", "messages": [...], "tools": [...]}'
_KEYS = {"user", "session", "messages", "tools"}


class CallLogs(NamedTuple):
    """Args:
    histories: by user, in the order of first appearance.
    tools: of all lines.
    identity: sha256 over both.
    """

    histories: dict[str, History]
    tools: Catalogue
    identity: str


def is_call_log(path: str | Path) -> bool:
    """Whether a file's first line is an object with "messages"."""
    file = Path(path)
    if not file.is_file():
        return False
    try:
        with open(file, "rb") as lines:
            found = json.loads(next((line for line in lines if line.strip()), b"").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "messages" in found


def read_logs(path: str | Path) -> CallLogs:
    """The users of a file of call logs.

    Raises:
        InputError: a line that is no session, or no line with tools; names the line and shows the format.
    """
    sessions: dict[str, list[Session]] = {}
    defined: dict[str, Tool] = {}
    for where, line in json_lines(Path(path)):
        user, session, tools = _read(where, line)
        own = sessions.setdefault(user, [])
        if any(one.id == session.id for one in own):
            raise InputError(f"{where}: user {user!r} has two sessions {session.id!r}: give each its own name")
        own.append(session)
        defined |= {tool.name: tool for tool in tools}
    if not sessions:
        raise InputError(f"{path} is empty: write one session a line, {FORMAT}")
    if not defined:
        raise InputError(f'no line of {path} has "tools": add the OpenAI function definitions to one, {FORMAT}')
    histories = {user: History(id=user, sessions=tuple(own)) for user, own in sessions.items()}
    calls = [call for own in sessions.values() for session in own for call in session.calls]
    known = covering(Catalogue(defined.values()), calls)
    assert known is not None
    digest = sha256()
    for part in (*histories.values(), *known):
        digest.update(part.model_dump_json().encode("utf-8", "replace") + b"\n")
    return CallLogs(histories, known, digest.hexdigest())


def _read(where: str, line: Any) -> tuple[str, Session, list[Tool]]:
    if not isinstance(line, dict) or "messages" not in line:
        raise InputError(f"{where}: not a session of a call log: write {FORMAT}")
    if unknown := sorted(map(str, line.keys() - _KEYS)):
        raise InputError(f"{where}: unknown key {unknown[0]!r}: write {FORMAT}")
    user, name = line.get("user"), line.get("session", where.rpartition(":")[2])
    for key, value in (("user", user), ("session", name)):
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise InputError(f'{where}: "{key}" must be a name, not {value!r}: write {FORMAT}')
    try:
        session = to_session({"messages": line["messages"]}, str(name))
        session.model_dump_json()
        tools = list(catalogue(line["tools"])) if line.get("tools") else []
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except ValueError:
        raise InputError(f"{where}: holds half a character (\\ud800 to \\udfff): correct the file") from None
    return str(user), session, tools
