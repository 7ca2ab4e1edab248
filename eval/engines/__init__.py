"""Where the groups of a run are worked on: threads of one process (`eval.runner`), or a Ray cluster."""
