import pytest

from eval.instance import Evidence
from eval.metrics.interference import by_quintile, competing_split, interference, quintiles


def test_the_formula():
    assert interference(Evidence(supporting=3, competing=1, unrelated=4)) == pytest.approx(5 / 8)
    assert interference(Evidence(supporting=3)) == 0
    assert interference(Evidence()) == 0
    assert interference(Evidence(competing=2)) == 1


def test_only_the_ratio_of_the_weights_orders_histories_of_equal_shares():
    few, many = Evidence(supporting=5, competing=1), Evidence(supporting=5, competing=2)
    for beta, gamma in ((4, 0.25), (2, 0.5), (8, 0.9)):
        assert interference(few, beta, gamma) < interference(many, beta, gamma)


@pytest.mark.parametrize(("beta", "gamma"), [(1, 0.5), (4, 1), (4, 0), (0.2, 4)])
def test_the_weights_must_be_ordered(beta, gamma):
    with pytest.raises(ValueError, match="beta > 1 > gamma > 0"):
        interference(Evidence(supporting=1), beta, gamma)


def test_quintiles_are_by_rank_within_a_type():
    scores = [0.1, 0.2, 0.3, 0.4, 0.5] + [0.9, 0.8, 0.7, 0.6, 0.55]
    assert quintiles(scores, ["recall"] * 5 + ["transfer"] * 5) == [1, 2, 3, 4, 5, 5, 4, 3, 2, 1]


def test_quintiles_have_equal_sizes_without_ties():
    parts = quintiles([i / 100 for i in range(100)], ["recall"] * 100)
    assert [parts.count(part) for part in range(1, 6)] == [20] * 5


def test_equal_scores_share_a_quintile():
    parts = quintiles([0.0] * 30 + [0.5] * 10, ["recall"] * 40)
    assert parts == [2] * 30 + [5] * 10
    assert quintiles([0.3], ["recall"]) == [3]
    assert quintiles([], []) == []


def test_by_item_id():
    evidence = {"a": Evidence(supporting=1), "b": Evidence(supporting=1, competing=1), "x": Evidence()}
    assert by_quintile(evidence, {"a": "recall", "b": "recall"}) == {"a": 2, "b": 4}
    assert competing_split(evidence) == {"a": False, "b": True, "x": False}
