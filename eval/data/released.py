"""Histories and instances from files in MPT's own format (`MPT_v2_0725.json`: a JSON list, or one object a line).

The released file holds histories only; its instances follow from it by the rules of the released code.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from eval.data.call_text import parse_call
from eval.data.files import json_lines, parse_json, read_text
from eval.data.instances import Facts, unseen_instances
from eval.data.preferences import PREFERENCES, Mapping, Stance
from eval.data.released_rules import Entry, Example, released_instances
from eval.instance import Instance
from prefine_dspy.errors import InputError
from prefine_dspy.types import History, Session, ToolCall, Turn

HUB_NAME = "HYU-NLP/MPT"

_ROLES: dict[str, Literal["user", "assistant"]] = {"user": "user", "assistant": "assistant"}

Loaded = tuple[dict[str, History], list[Instance]]


def load_released(path: Path) -> Loaded:
    """Histories by `example_id`, and the instances over them.

    Raises:
        InputError: not JSON (names file and line), or a key is missing or odd (names the record and the key).
    """
    return build(_objects(path))


def load_hub() -> Loaded:
    """The same from the Hugging Face hub, or from its local cache.

    Raises:
        InputError: the hub cannot be reached and nothing is cached, or the data set is not there.
    """
    import datasets
    import huggingface_hub

    try:
        # load_dataset would try for half a minute before it gives up
        if not _cached(Path(datasets.config.HF_DATASETS_CACHE)):
            huggingface_hub.HfApi().dataset_info(HUB_NAME, timeout=20)
        splits = datasets.load_dataset(HUB_NAME)
    except Exception as error:  # the client raises a dozen kinds for one reason
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"cannot load {HUB_NAME} from the Hugging Face hub ({why}): use mini, or give MPT's file as a path"
        ) from None
    return build((f"{HUB_NAME} {name}:{k}", row) for name, rows in splits.items() for k, row in enumerate(rows))


def _cached(cache: Path) -> bool:
    wanted = HUB_NAME.replace("/", "___").lower()
    return cache.is_dir() and any(folder.name.lower() == wanted for folder in cache.iterdir())


def build(objects: Iterable[tuple[str, Any]]) -> Loaded:
    """Histories and instances from ("where it stands", record) pairs."""
    mapping = Mapping()
    examples = [_example(where, value) for where, value in objects]
    twice = [name for name, n in Counter(example.history.id for example in examples).items() if n > 1]
    if twice:
        raise InputError(f"record {twice[0]}: example_id is there more than once")
    if not examples:
        raise InputError("no record in the file: MPT's format is a JSON list of examples, or one a line")
    instances = released_instances(examples, mapping)
    for example in examples:
        instances += unseen_instances(Facts(example.history, mapping))
    return {e.history.id: e.history for e in examples}, instances


def _objects(path: Path) -> Iterator[tuple[str, Any]]:
    """The records of a JSON list, of a single object, or one a line."""
    text = read_text(path)
    first = text.strip().partition("\n")[0]
    if _is_json(first) and not first.startswith("[") and first != text.strip():
        yield from json_lines(path)
        return
    whole = parse_json(text, path)
    for k, value in enumerate(whole if isinstance(whole, list) else [whole]):
        yield f"{path}[{k}]", value


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _example(where: str, value: Any) -> Example:
    record = _Reader(where, value)
    name = record.text("example_id")
    record = _Reader(f"record {name}", value)
    history = History(id=name, sessions=tuple(_session(name, k, one) for k, one in enumerate(record.list("sessions"))))
    meta = _Reader(f"record {name}, meta", record.get("meta"))
    subset = str(meta.get("subset", ""))
    contested = subset.startswith("conflict_")
    return Example(
        history=history,
        recurring=tuple(_call(record.where, "api_calls", text) for text in record.list("api_calls")),
        entries=tuple(_entry(name, k, entry) for k, entry in enumerate(record.list("api_calls_pref"))),
        contested=contested,
        majority=str(meta.get("majority", "") or ""),
    )


def _session(example: str, k: int, value: Any) -> Session:
    record = _Reader(f"record {example}, sessions[{k}]", value)
    turns = []
    for n, one in enumerate(record.list("dialogue")):
        turn = _Reader(f"{record.where}, dialogue[{n}]", one)
        role = _ROLES.get(turn.text("role").lower())
        if role is None:
            raise InputError(f"{turn.where}: key 'role' must be User or Assistant")
        calls = tuple(_call(turn.where, "service", text) for text in turn.optional_list("service"))
        turns.append(Turn(role=role, text=turn.text("message"), calls=calls))
    return Session(
        id=record.text("dialogue_id"),
        turns=tuple(turns),
        calls=tuple(_call(record.where, "api_call", text) for text in record.list("api_call")),
    )


def _entry(example: str, k: int, value: Any) -> Entry:
    record = _Reader(f"record {example}, api_calls_pref[{k}]", value)
    group = record.text("value_group")
    if group not in PREFERENCES:
        raise InputError(f"{record.where}: key 'value_group' is {group!r}, not one of {', '.join(PREFERENCES)}")
    functions: dict[str, None] = {}
    stars: Counter[str] = Counter()
    for n, one in enumerate(record.list("evidence")):
        piece = _Reader(f"{record.where}, evidence[{n}]", one)
        functions[piece.text("domain")] = None
        for seen in piece.list("values"):
            found = _Reader(f"{piece.where}, values", seen)
            meta = _Reader(f"{found.where}, meta", found.get("meta", None) or {})
            count = meta.get("count", None) or 1
            if not isinstance(count, int):
                raise InputError(f"{meta.where}: key 'count' must be a whole number, found {count!r}")
            stars[found.text("value")] += count
    star = stars.most_common(1)[0][0] if group == "prefers_star" and stars else ""
    return Entry(Stance(group, star), tuple(functions))


def _call(where: str, key: str, text: Any) -> ToolCall:
    try:
        return parse_call(text)
    except InputError as error:
        raise InputError(f"{where}: key {key!r}: {error}") from None


_REQUIRED: Any = object()


class _Reader:
    """One object of the file; whatever is missing or odd is reported with the place it belongs to."""

    def __init__(self, where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {type(value).__name__}")
        self.where = where
        self.value = value

    def get(self, key: str, default: Any = _REQUIRED) -> Any:
        if key not in self.value:
            if default is _REQUIRED:
                raise InputError(f"{self.where}: key {key!r} is missing")
            return default
        return self.value[key]

    def text(self, key: str) -> str:
        found = self.get(key)
        if not isinstance(found, str):
            raise InputError(f"{self.where}: key {key!r} must be text, found {type(found).__name__}")
        return found

    def optional_list(self, key: str) -> list[Any]:
        return self.list(key) if self.value.get(key) else []

    def list(self, key: str) -> list[Any]:
        found = self.get(key)
        if not isinstance(found, list):
            raise InputError(f"{self.where}: key {key!r} must be a list, found {type(found).__name__}")
        return found
