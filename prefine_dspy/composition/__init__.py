"""Calls repaired from tags: what tagged instructions say and an answer lacks is filled in by a rule.

TAPS shows tags to an LM, which then writes the calls anew. But tags say already which words are values of which
arguments; what is left, conditions, alternatives and what calls have in common, can be computed. So a second answer is
saved, and an answer is never made worse by being written again: what it holds stays.
"""

from prefine_dspy.composition.repair import repair
from prefine_dspy.composition.tag_and_repair import TagAndRepair

__all__ = ["TagAndRepair", "repair"]
