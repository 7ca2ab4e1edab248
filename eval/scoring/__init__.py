"""Scoring recorded answers from files: one file a benchmark, behind `python -m eval.score`."""
