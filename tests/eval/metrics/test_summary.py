import pytest

from eval.metrics.slots import score_item
from eval.metrics.summary import summarise, summary_text, table3_row
from prefine_dspy import ToolCall

SLOTS = {"GetHotels": ("average_star",)}
call = ToolCall.of
GOLD = [call("GetHotels", average_star="1", location="Paris")]
RIGHT = score_item(GOLD, GOLD, SLOTS)
WRONG = score_item(GOLD, [call("GetHotels", average_star="5", location="Paris", view="sea")], SLOTS)
UNREADABLE = score_item(GOLD, [], SLOTS, parse_failed=True)
ABSTAINED = score_item([call("GetHotels")], [call("GetHotels")], SLOTS)


def test_figures():
    summary = summarise([RIGHT, WRONG, UNREADABLE, ABSTAINED])
    assert summary.overall == (3, 2, 3)
    assert summary.o_f1.value == pytest.approx(6 / 11)
    assert summary.o_f1_macro == pytest.approx((1 + 0.4 + 0 + 1) / 4)
    assert summary.p_em == 0.5
    assert summary.p_em_with_preference == pytest.approx(1 / 3)
    assert (summary.function_accuracy, summary.abstention_rate, summary.parse_failure_rate) == (0.75, 0.25, 0.25)
    assert (summary.predicted_arguments, summary.gold_arguments) == (1.25, 1.5)


def test_table3_row_is_the_mean_of_types():
    row = table3_row([RIGHT, WRONG, WRONG], ["recall", "transfer", "transfer"])
    assert list(row) == ["recall", "transfer", "avg"]
    assert row["avg"].value == pytest.approx((row["recall"].value + row["transfer"].value) / 2)
    assert row["transfer"].n == 2


def test_text_and_json():
    summary = summarise([RIGHT, WRONG])
    text = summary_text(summary, {"scorer": "strict"})
    assert "scorer: strict" in text
    assert "O-F1" in text and "IMP-F1" in text and "items: 2" in text
    assert summary.model_validate_json(summary.model_dump_json()) == summary


def test_nothing_to_summarise():
    assert summarise([]).n == 0
    assert summarise([ABSTAINED]).p_em_with_preference is None
