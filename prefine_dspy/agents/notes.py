"""What agents write down beside an action: short values under these keys, each only when there is something to say.

Counts, to be summed over an episode:
    unparsed: the answer could not be read, or held no action: the user was asked to repeat instead.
    refused: it held a call that does not fit the catalogue: neither was that made.
    dropped: arguments that the tool does not have, left out of a call that was made.
    summaries: LM calls beside the step's own (ReSum's summaries, U-Fold's folds).
    blocked: calls that IDSS did not make because a violated constraint blocks their intent.
    filled: variables that IDSS filled from the user's memory.
    stale: the state in the answer could not be read; the old one stays.
    stuck: the last two actions were one call, so that only a message to the user was on offer.

Texts: `thought`, `problem` (why an answer or a call was not used), and what the method keeps: `state`, `goal`,
`report`, `summary`, `facts`. `complete` is true when IDSS finds every intent settled, `remembered` holds the values
that it filled, by variable.
"""

from __future__ import annotations

COUNTS = ("unparsed", "refused", "dropped", "summaries", "blocked", "filled", "stale", "stuck")
"""Keys of `Decision.notes` whose values are whole numbers."""
