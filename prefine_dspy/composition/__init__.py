"""Calls composed from a dialogue's own calls and tagged instructions: no LM reads instructions at query time.

TAPS shows tags to an LM, which then writes the calls. But tags say already which words are values of which arguments;
what is left, conditions, alternatives and what calls have in common, is a rule. A user's instructions are tagged once,
whenever they change, and a request costs one short LM call over the dialogue alone.
"""

from prefine_dspy.composition.compose import compose
from prefine_dspy.composition.tag_and_compose import TagAndCompose

__all__ = ["TagAndCompose", "compose"]
