import numpy as np
import pytest

from eval.tasks.means import correlation_cell, mean_cell, mean_cells


def test_a_mean_has_an_interval_around_it():
    cell = mean_cell([1.0] * 30 + [0.0] * 70)
    assert cell["value"] == 30 and cell["n"] == 100
    # the normal approximation's half width is 9 points
    assert 19 < cell["low"] < 23 and 37 < cell["high"] < 41
    assert mean_cell([1.0] * 30 + [0.0] * 70) == cell
    assert mean_cell([]) is None


def test_groups_are_drawn_whole():
    values = [1.0, 0.0] * 50
    alone = mean_cell(values, [str(at) for at in range(100)])
    assert alone == mean_cell(values)
    # ten items that always agree are one observation: the interval widens about threefold
    tens = [float(at // 10 % 2) for at in range(100)]
    grouped = mean_cell(tens, [str(at // 10) for at in range(100)])
    assert grouped["value"] == 50 and grouped["n"] == 100
    width, narrow = (cell["high"] - cell["low"] for cell in (grouped, mean_cell(tens)))
    assert 2.5 < width / narrow < 3.7
    assert correlation_cell(values, values, ["a", "b"] * 50)["value"] == 1


def test_columns_of_the_same_items_are_what_they_are_alone():
    columns = {"a": [0.0, 1.0, 0.5, 0.5], "b": [1.0, 1.0, 1.0, 1.0], "c": [-0.1, 0.2, 0.0, 0.3]}
    assert mean_cells(columns) == {name: mean_cell(values) for name, values in columns.items()}
    assert mean_cells({"a": [], "b": []}) == {"a": None, "b": None}


def test_a_correlation_is_pearsons():
    drawn = np.random.default_rng(1)
    x = drawn.random(200)
    y = -x + drawn.normal(0, 0.3, 200)
    cell = correlation_cell(list(x), list(y))
    assert cell["value"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.001)
    assert -1 <= cell["low"] < cell["value"] < cell["high"] < 0


@pytest.mark.parametrize(("a", "b"), [([0.5] * 5, [0.0, 1.0, 0.0, 1.0, 0.0]), ([0.1, 0.2], [0.0, 1.0]), ([], [])])
def test_what_does_not_vary_has_no_correlation(a, b):
    assert correlation_cell(a, b) is None


def test_close_numbers_do_not_lose_their_digits():
    x = [1 - 1e-6 * k for k in range(50)]
    cell = correlation_cell(x, [0.01 * k for k in range(50)])
    assert (cell["value"], cell["low"]) == (-1, -1)
