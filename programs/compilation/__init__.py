"""Compiling programs: demonstrations, metrics of parts, optimizers, budgets. Knows no benchmark: examples and metrics
come in as arguments, and `programs.compile` is where both are put together."""
