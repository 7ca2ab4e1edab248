"""TAPS's corruption study: how much the answers depend on the tags (TAPS section 5)."""

from eval.corruption.corrupt import STRATEGIES, Applied, Corrupted, Strategy, corrupt
from eval.corruption.curve import CorruptionScore, curve, curve_markdown
from eval.corruption.plot import draw_curve

__all__ = [
    "STRATEGIES",
    "Applied",
    "Corrupted",
    "CorruptionScore",
    "Strategy",
    "corrupt",
    "curve",
    "curve_markdown",
    "draw_curve",
]
