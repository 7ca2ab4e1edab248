import pytest
from scripted_lm import Script, lm_of

from prefine_dspy.lm.doctor import examine


def talented(request):
    """Answers each of the four probes well."""
    if request.tools or "get_weather" in str(request.system):
        return '{"calls": {"tool_calls": [{"name": "get_weather", "args": {"city": "Paris"}}]}}'
    if request.config.response_format:
        return {"colour": "blue", "certain": True}
    return "yes"


def found(script):
    return {finding.ability: finding for finding in examine(lm_of(script))}


def test_an_lm_that_can_do_everything():
    script = Script(talented, tools=False, logprobs=True)
    findings = found(script)
    assert list(findings) == ["answers", "schema", "tool calls", "log-probabilities"]
    assert findings["answers"].works and findings["answers"].evidence == "'yes'"
    assert findings["schema"].works and findings["schema"].path == "calls are constrained by the catalogue's schema"
    assert findings["log-probabilities"].works
    assert findings["log-probabilities"].path == "uncertainty from one pass"
    assert len(script.requests) == 4


def test_native_tools_are_reported_only_where_they_are_declared():
    assert not found(Script(talented, tools=False))["tool calls"].works


def test_an_lm_that_only_talks():
    findings = found(Script(lambda _: "I am a parrot.", schema=False, tools=False))
    assert [finding.works for finding in findings.values()] == [True, False, False, False]
    assert findings["schema"].path == "calls are asked for in words and parsed tolerantly"
    assert findings["log-probabilities"].path == "uncertainty from samples"


def test_an_lm_that_obeys_but_cannot_be_held_to_a_schema():
    findings = found(Script(talented, schema=False))
    assert not findings["schema"].works
    assert "colour=blue" in findings["schema"].evidence


def test_a_dead_endpoint_is_one_finding():
    script = Script(lambda _: RuntimeError("connection\nrefused"))
    (finding,) = examine(lm_of(script))
    assert not finding.works
    assert finding.path == "no program can use this LM"
    assert "connection refused" in finding.evidence and "\n" not in finding.evidence


@pytest.mark.parametrize("text", ["", "null", "[]", '{"calls": 5}', "{" * 500])
def test_no_answer_breaks_it(text):
    assert len(found(Script(lambda request: text or " ", tools=True))) == 4
