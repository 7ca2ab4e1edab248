"""One file per system of the papers: how it maps an instance to tool calls."""
