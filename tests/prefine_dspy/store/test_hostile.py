"""Ids and texts from outside; one user never sees another's data."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from store_sessions import session

from prefine_dspy.errors import InputError
from prefine_dspy.store import PreferenceStore
from prefine_dspy.types import Memory, MemoryUpdate, Session, ToolCall

NASTY = [
    "'; DROP TABLE prefine_versions; --",
    'a"b',
    "a%",
    "a_",
    "ab",
    "AB",
    "ab ",
    " ab",
    "é",
    "e\u0301",
    "日本語",
    "🙂\u200d🙂",
    "\u202eright to left",
    "../../etc/passwd",
    "a\nb\tc\r",
    "x" * 256,
    "x" * 255 + "y",
    "NULL",
    "0",
]


def remembering(text: str) -> Any:
    def updater(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        after = Memory(text=text, version=memory.version + 1)
        return MemoryUpdate(memory=after, accepted=True, attempts=({"hypothesis": text},))

    return updater


def test_every_id_is_its_own_user_and_every_text_comes_back(store: PreferenceStore) -> None:
    for number, user in enumerate(NASTY):
        text = f"{number} {user.strip()}"[:200]
        store.update(user, session(user, seat=user), remembering(text), lm=user, program=user)
    for number, user in enumerate(NASTY):
        memory = store.get(user)
        assert memory.text == f"{number} {user.strip()}"[:200]
        assert memory.sessions == (user,)
        (version,) = store.history(user)
        assert version.calls[0].arguments == {"flight_class": user} and version.lm == user


@pytest.mark.parametrize("bad", ["x" * 257, "y" * 1_000_000, "a\x00b", "a\ud800b"])
def test_ids_that_cannot_be_kept_are_refused(store: PreferenceStore, bad: str) -> None:
    with pytest.raises(InputError):
        store.update(bad, session("s1"), remembering("x"))
    with pytest.raises(InputError):
        store.update("ana", session(bad), remembering("x"))
    with pytest.raises(InputError):
        store.get(bad)
    assert store.latest("ana") is None


@pytest.mark.parametrize("bad", ["x" * 4_001, "y" * 1_000_000, "a\x00b", "a\ud800b"])
def test_texts_that_cannot_be_kept_are_refused(store: PreferenceStore, bad: str) -> None:
    with pytest.raises(InputError):
        store.correct("ana", bad)
    assert store.latest("ana") is None


def test_a_session_of_a_megabyte_is_refused(store: PreferenceStore) -> None:
    for call in (ToolCall.of("F", a="x" * 1_000_000), ToolCall.of("F", **{"y" * 1_000_000: 1})):
        with pytest.raises(InputError, match="at most 262,144"):
            store.update("ana", Session(id="s1", calls=(call,)), remembering("x"))


def test_an_lm_output_that_is_no_text_does_not_stop_an_update(store: PreferenceStore) -> None:
    store.update("ana", session("s1"), remembering("half \ud83d and \x00 nul"))
    assert store.get("ana").text == "half ? and  nul"
    store.history("ana")[0].model_dump_json()


def test_arguments_of_any_json_kind_come_back(store: PreferenceStore) -> None:
    call = ToolCall.of("F", a=None, b=[1, 2.5, {"c": "\x00\u2028"}], d=True, e={"f": []})
    store.update("ana", Session(id="s1", calls=(call,)), remembering("x"))
    assert store.history("ana")[0].calls == (call,)


def test_a_trace_is_bounded(store: PreferenceStore) -> None:
    attempts = tuple({"stage": "verify", "step": step, "unparsed": "z" * 1_000} for step in range(1_000))
    store.update("ana", session("s1"), lambda m, s: MemoryUpdate(memory=m, attempts=attempts))
    kept = store.history("ana")[0].attempts
    assert kept[0] == {"stage": "cut", "left_out": 1_000 - (len(kept) - 1)}
    assert kept[1:] == attempts[-(len(kept) - 1) :]
    assert 20 < len(kept) < 40


class OwnDataOnly(RuleBasedStateMachine):
    """Any order of changes of several users: everyone's own, and nothing else, comes back."""

    USERS = ("ana", "Ana", "ana ", "a%", "%", "'ana'")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = PreferenceStore(Path(self.folder.name) / "m.db")
        self.text: dict[str, str] = {}
        self.pinned: set[str] = set()
        self.sessions: dict[str, list[str]] = {}
        self.count = 0

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def fresh(self, user: str) -> str:
        self.count += 1
        return f"[{user}] {self.count}"

    @rule(user=st.sampled_from(USERS))
    def observe(self, user: str) -> None:
        text, name = self.fresh(user), self.fresh(user)
        self.store.update(user, session(name, seat=text), remembering(text))
        self.sessions.setdefault(user, []).append(name)
        if user not in self.pinned:
            self.text[user] = text

    @rule(user=st.sampled_from(USERS))
    def correct(self, user: str) -> None:
        self.text[user] = self.fresh(user)
        self.store.correct(user, self.text[user])
        self.pinned.add(user)

    @rule(user=st.sampled_from(USERS))
    def unpin(self, user: str) -> None:
        self.store.unpin(user)
        self.pinned.discard(user)

    @rule(user=st.sampled_from(USERS))
    def forget(self, user: str) -> None:
        self.store.forget(user)
        self.text.pop(user, None)
        self.sessions.pop(user, None)
        self.pinned.discard(user)

    @rule(user=st.sampled_from(USERS))
    def move(self, user: str) -> None:
        """Out and in again."""
        document = self.store.export(user)
        self.store.forget(user)
        self.store.import_(user, document)

    @invariant()
    def everyone_has_their_own(self) -> None:
        for user in self.USERS:
            memory = self.store.get(user)
            assert memory.text == self.text.get(user, "")
            assert list(memory.sessions) == self.sessions.get(user, [])
            document = repr(self.store.export(user))
            for other in self.USERS:
                assert other == user or f"[{other}]" not in document


OwnDataOnly.TestCase.settings = settings(
    max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestOwnDataOnly = OwnDataOnly.TestCase


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(users=st.lists(st.text(min_size=1, max_size=300), min_size=2, max_size=4, unique=True))
def test_any_text_as_id_is_refused_or_kept_apart(tmp_path_factory: pytest.TempPathFactory, users: list[str]) -> None:
    with PreferenceStore(tmp_path_factory.mktemp("any") / "m.db") as store:
        kept = {}
        for number, user in enumerate(users):
            try:
                store.correct(user, f"text {number}")
                kept[user] = f"text {number}"
            except InputError:
                continue
        for user, text in kept.items():
            assert store.get(user).text == text
