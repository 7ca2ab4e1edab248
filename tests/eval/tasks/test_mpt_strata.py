from eval.tasks.mpt_strata import strata, table_strata

NOTHING = {"tp": 0, "fp": 0, "fn": 0}


def item(program, at, right, **changes):
    part = {"tp": int(right), "fp": int(not right), "fn": int(not right)}
    score = {
        **{"overall": part, "pref": part, "nonpref": NOTHING, "pref_exact_match": int(right), "function_right": True},
        **{"abstained": False, "parse_failed": False, "predicted_arguments": 1, "gold_arguments": 1},
        "gold_preferences": 1,
    }
    base = {
        **{"program": program, "id": str(at), "history_id": f"h{at}", "query_type": "cf", "reasoning_type": "recall"},
        **{"schema": "base", "evidence": {"supporting": 4, "competing": at, "unrelated": 0}},
        "scores": {"strict": score, "reference": score},
    }
    return {**base, **changes}


ITEMS = [
    *(item("first", at, at % 2 == 0, query_type="cg" if at < 2 else "cf", contested=at == 1) for at in range(4)),
    item("first", 10, False, changed_after=6, contested=True),
    item("first", 11, False, schema="extended"),
    *(item("second", at, True, query_type="cg" if at < 2 else "cf", contested=at == 1) for at in range(4)),
    item("second", 10, True, changed_after=6, contested=True),
    item("second", 11, True, schema="extended"),
    item("second", 12, True, schema="extended"),
]


def test_each_stratum_holds_its_queries():
    cells = strata(ITEMS)["cells"]["strict"]["first"]
    sizes = {name: cell["O-F1"]["n"] for name, cell in cells.items() if not name.startswith("interference")}
    assert sizes == {
        "all": 4,
        "context-guided": 2,
        "context-free": 2,
        "Recall": 4,
        "contested": 1,
        "not contested": 3,
        "unseen schema": 1,
        "drifting": 1,
    }
    assert sum(cell["O-F1"]["n"] for name, cell in cells.items() if name.startswith("interference")) == 4
    assert cells["all"]["O-F1"]["value"] == 50 and cells["all"]["difference"] is None


def test_differences_are_paired_with_the_first_program():
    cells = strata(ITEMS)["cells"]["strict"]["second"]
    assert cells["all"]["difference"]["value"] == 50
    assert (cells["unseen schema"]["O-F1"]["n"], cells["unseen schema"]["difference"]["n"]) == (2, 1)
    assert 0 < cells["all"]["difference"]["p"] <= 1


def test_the_table_has_a_row_a_stratum_and_nothing_to_say_of_nothing():
    (text,) = table_strata({"strata": strata(ITEMS)}, "strict")
    assert "| drifting " in text and "Δ to first" in text and " p " in text
    assert list(table_strata({"strata": strata([])}, "strict")) == []
