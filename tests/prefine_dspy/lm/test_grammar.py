import re

import pytest

from prefine_dspy.lm.grammar import compact_grammar

pytest.importorskip("xllamacpp")
SCHEMA = {
    "type": "object",
    "properties": {"function": {"const": "GetFlights"}, "flight_class": {"enum": ["Economy", "Première"]}},
    "required": ["function", "flight_class"],
    "additionalProperties": False,
}


def test_a_schema_becomes_a_grammar_without_free_white_space():
    grammar = compact_grammar(SCHEMA)
    assert "GetFlights" in grammar and "Première" in grammar
    if grammar.startswith("%llguidance"):
        assert '"whitespace_flexible": false' in grammar
    else:
        assert re.search(r'^space ::= ""$', grammar, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("converted", "expected"),
    [
        ('root ::= "{" space "}" space\nspace ::= | " " | "\\n"{1,2}', 'root ::= "{" space "}" space\nspace ::= ""'),
        ("%llguidance {}\nstart: %json {}", None),
    ],
)
def test_both_kinds_of_builds_are_served(monkeypatch, converted, expected):
    import xllamacpp

    monkeypatch.setattr(xllamacpp, "json_schema_to_grammar", lambda text: converted)
    grammar = compact_grammar({"type": "object"})
    if expected is None:
        assert grammar.startswith('%llguidance {}\nstart: %json {"type": "object", "x-guidance"')
    else:
        assert grammar == expected
