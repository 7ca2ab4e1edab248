import pytest

from programs.compilation.estimate import CallSize, Stage, report, search_metric_calls
from programs.compilation.job import Settings

STAGE = Stage("one", 10, 20, CallSize(prefix=1000, fresh=100, output=30), prefixes=2)


def test_tokens_of_a_stage():
    assert STAGE.prompt_tokens == 20 * 1100
    assert STAGE.read_tokens == 2 * 1000 + 20 * 100  # what repeats is read once
    assert STAGE.output_tokens == 600
    assert STAGE.seconds(100, 30) == pytest.approx(40 + 20)


@pytest.mark.parametrize(
    "optimizer, wanted",
    [
        ("labeled", (0, 0)),
        ("bootstrap", (20, 0)),
        ("bootstrap-rs", (20, 40)),
        ("bootstrap-optuna", (20, 70)),
        ("mipro", (60, 90)),
        ("gepa", (24, 69)),
        ("simba", (280, 20)),
    ],
)
def test_metric_calls(optimizer, wanted):
    """20 train and 10 dev examples."""
    assert search_metric_calls(optimizer, Settings(candidates=3), 20, 10) == wanted


def test_the_report_adds_up():
    text = report([STAGE, STAGE], 100, 30)
    assert text.splitlines()[-2].split() == ["in", "all", "20", "40", "44000", "8000", "1200", "2:00"]
    assert "100 new prompt tokens" in text
