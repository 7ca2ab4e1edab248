"""TAPS's structured tags: the grammar, moving tags onto a sentence, and the Tagger (TAPS section 3.1)."""

from prefine_dspy.tagging.checking import Checked, check
from prefine_dspy.tagging.demonstrations import demonstrations_from_tags
from prefine_dspy.tagging.fitting import Fitted, fit
from prefine_dspy.tagging.labels import action_label, argument_of, function_of, slot_label
from prefine_dspy.tagging.parsing import ParsedTags, parse_tags
from prefine_dspy.tagging.placing import Wanted, from_calls, place
from prefine_dspy.tagging.problems import TagProblem
from prefine_dspy.tagging.rendering import render_tags
from prefine_dspy.tagging.tag_texts import TagTexts, tag_texts
from prefine_dspy.tagging.tagger import Tagger
from prefine_dspy.tagging.tags import Action, Span, Tagged, Triplet, triplets

__all__ = [
    "Action",
    "Checked",
    "Fitted",
    "ParsedTags",
    "Span",
    "TagProblem",
    "TagTexts",
    "Tagged",
    "Tagger",
    "Triplet",
    "Wanted",
    "action_label",
    "argument_of",
    "check",
    "demonstrations_from_tags",
    "fit",
    "from_calls",
    "function_of",
    "parse_tags",
    "place",
    "render_tags",
    "slot_label",
    "tag_texts",
    "triplets",
]
