import json

import pytest
from call_logs import FLIGHTS, chat, write

from eval.data.logs import is_call_log, read_logs
from prefine_dspy.errors import InputError


def test_lines_become_sessions_of_users_in_order(tmp_path):
    file = write(
        tmp_path,
        {"user": "ann", "session": "first", "messages": chat("flights", seat="Economy"), "tools": [FLIGHTS]},
        {"user": 7, "messages": chat("flights", seat="Business")},
        {"user": "ann", "messages": chat("trains", coach="quiet")},
    )
    assert is_call_log(file)
    logs = read_logs(file)
    assert list(logs.histories) == ["ann", "7"]
    assert [session.id for session in logs.histories["ann"].sessions] == ["first", "3"]
    assert logs.histories["ann"].sessions[0].calls[0].arguments == {"seat": "Economy"}
    assert logs.tools.get("flights").parameter("seat").choices() == ("Economy", "Business")
    assert logs.tools.get("trains").parameter("coach") is not None
    assert logs.identity == read_logs(file).identity


def test_the_latest_definition_of_a_tool_counts(tmp_path):
    newer = json.loads(json.dumps(FLIGHTS).replace('"Business"', '"First"'))
    lines = [{"user": "a", "messages": chat("flights"), "tools": [one]} for one in (FLIGHTS, newer)]
    logs = read_logs(write(tmp_path, *lines))
    assert logs.tools.get("flights").parameter("seat").choices() == ("Economy", "First")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"user": "a", "messages": chat("flights")}], 'has "tools"'),
        ([{"messages": chat("flights")}], 'logs.jsonl:1: "user" must be a name'),
        ([{"user": "a", "messages": 3}], "logs.jsonl:1: a session is"),
        ([{"user": "a", "messages": [{"x": 1}]}], "logs.jsonl:1: the session's messages"),
        ([{"user": "a", "messages": [], "gold": 1}], "unknown key 'gold'"),
        ([{"user": "a", "messages": [], "tools": [3]}], "logs.jsonl:1: int is no tool"),
        ([{"user": "a", "session": "s", "messages": []}] * 2, "logs.jsonl:2: user 'a' has two sessions 's'"),
        ([{"user": "\ud800", "messages": chat("\ud800")}], "half a character"),
        ([{"messages": 1}, 4], 'logs.jsonl:1: "user"'),
        ([4], "not a session"),
        ([], "is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, lines, said):
    with pytest.raises(InputError, match=said.replace("(", r"\(")) as error:
        read_logs(write(tmp_path, *lines))
    assert "\n" not in str(error.value)


def test_other_files_are_no_logs(tmp_path):
    assert not is_call_log(tmp_path) and not is_call_log(tmp_path / "none.jsonl") and not is_call_log("mini")
    for text in ("", "[]", "{", '{"gold": 1}', "\n\n"):
        (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
        assert not is_call_log(tmp_path / "x.jsonl")
