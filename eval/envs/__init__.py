"""Interactive benchmarks: one protocol, an environment of our own, and adapters of the published ones."""
