import pytest

from prefine_dspy.lm.values.trie import END, NEGLIGIBLE, NextTokens, measure

ECONOMY, PREMIUM, BUSINESS = (1, END), (2, 1, END), (2, 3, END)
PATHS = {"economy": ECONOMY, "premium economy": PREMIUM, "premium business": BUSINESS}


def asking(table):
    """`ask` from a table, and what it was asked."""
    asked = []

    def ask(prefix):
        asked.append(prefix)
        listed = table[prefix]
        return NextTokens(listed, max(0.0, 1.0 - sum(listed.values())), min(listed.values()))

    return ask, asked


def test_the_lm_is_asked_only_where_values_part():
    ask, asked = asking({(): {1: 0.2, 2: 0.6, 9: 0.2}, (2,): {1: 0.1, 3: 0.3}})
    found = measure(PATHS, ask)
    assert asked == [(), (2,)]
    assert found.mass == pytest.approx(
        {"economy": 0.25, "premium economy": 0.75 * 0.25, "premium business": 0.75 * 0.75}
    )
    assert found.missing == 0
    assert found.coverage == pytest.approx(0.8)


def test_a_value_that_begins_another_is_told_from_it_by_its_end():
    ask, _ = asking({(): {5: 0.9}, (5,): {END: 0.3, 6: 0.1}})
    found = measure({"1": (5, END), "10": (5, 6, END)}, ask)
    assert found.mass == pytest.approx({"1": 0.75, "10": 0.25})


def test_an_unlisted_token_is_bounded_and_reported():
    ask, _ = asking({(): {1: 0.5, 8: 0.3, 9: 0.15}})
    found = measure({"a": (1, END), "b": (2, END)}, ask)
    # no more than the rest, 0.05
    assert found.mass["b"] == pytest.approx(0.05 / 0.55)
    assert found.missing == pytest.approx(0.05 / 0.55)


def test_improbable_values_are_not_told_apart():
    tiny = NEGLIGIBLE / 2
    ask, asked = asking({(): {1: 1 - tiny, 2: tiny}})
    found = measure(PATHS, ask)
    assert asked == [()]
    assert found.mass["premium economy"] == found.mass["premium business"] == pytest.approx(tiny / 2)
    assert found.missing == pytest.approx(tiny)


def test_everywhere_gives_each_values_own_probability():
    ask, asked = asking({(): {1: 0.2, 2: 0.5}, (1,): {END: 0.5, 7: 0.5}, (2,): {END: 1.0}})
    found = measure({"a": (1, END), "b": (2, END)}, ask, everywhere=True)
    assert found.mass == pytest.approx({"a": 0.1, "b": 0.5})
    assert found.coverage == pytest.approx(0.6)
    assert len(asked) == 3


def test_one_value_needs_no_question():
    ask, asked = asking({})
    assert measure({"on": (1, 2, END)}, ask).mass == {"on": 1.0}
    assert asked == []
