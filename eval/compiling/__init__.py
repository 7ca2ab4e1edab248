"""Compiling on a benchmark: its examples, metrics and scores for `programs.compilation`, which knows no benchmark."""
