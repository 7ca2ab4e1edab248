import pytest

from eval.corruption import CorruptionScore, curve, curve_markdown, draw_curve

SCORES = [
    CorruptionScore(share, seed, f"i{instance}", max(0.0, (instance % 4) / 3 - share * 0.4 + seed * 0.01))
    for share in (1.0, 0.0, 0.5)
    for seed in (0, 1)
    for instance in range(20)
]


def test_a_row_a_share_with_an_interval_over_instances():
    rows = curve(SCORES)
    assert [row["share"] for row in rows] == [0.0, 0.5, 1.0]
    first = rows[0]
    assert first["f1"]["n"] == 20
    assert first["f1"]["value"] == pytest.approx(50.5, abs=0.1)
    assert first["f1"]["low"] < first["f1"]["value"] < first["f1"]["high"]
    assert first["seeds"] == {0: 50.0, 1: 51.0}
    values = [row["f1"]["value"] for row in rows]
    assert values == sorted(values, reverse=True)
    assert curve(SCORES[::-1]) == rows
    assert curve([]) == []


def test_the_table():
    lines = curve_markdown(curve(SCORES)).splitlines()
    assert len(lines) == 5
    assert lines[2].startswith("| 0 % ")
    assert "50.0 to 51.0 (2)" in lines[2]


def test_the_plot(tmp_path):
    pytest.importorskip("matplotlib")
    path = draw_curve({"all": curve(SCORES), "nothing": []}, tmp_path / "corruption.png")
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")
    assert draw_curve({}, tmp_path / "none.png") is None
