"""The benchmarks: one file each for what it loads, how it slices, and what one item becomes.

`task.py` says what the runner and the report ask of a benchmark; `kinds.py` knows which one a `--data` belongs to.
"""
