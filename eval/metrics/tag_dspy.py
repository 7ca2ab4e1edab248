"""The tag scores as DSPy metrics, for compiling and evaluating a tagger.

    metric = tag_f1                            # token-level macro F1 of one instruction
    metric = tag_f1_with_feedback              # for GEPA: score and text

The example holds `gold`: the tagged instruction, in either form. The prediction holds `text`, as `Tagger` returns it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import dspy

from eval.metrics.fields import field_of
from eval.metrics.tag_metrics import OUTSIDE, TagScore, read_tags, score_tags


def tag_f1(gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None) -> Any:
    """The F1 of one instruction as float; while demonstrations are bootstrapped, whether the tags are wholly right."""
    score = _score(gold, pred)
    if trace is not None and pred_name is None:
        return score.exact
    return score.f1


def tag_f1_with_feedback(
    gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
) -> dspy.Prediction:
    """The same with a text that names every slot that is missing, too much, or of another extent."""
    score = _score(gold, pred)
    return dspy.Prediction(score=score.f1, feedback=" ".join(_sentences(_gold(gold), _text(pred), score)))


def _score(gold: Any, pred: Any) -> TagScore:
    return score_tags(_gold(gold), _text(pred))


def _sentences(gold: str, predicted: str, score: TagScore) -> Iterator[str]:
    if score.exact:
        yield "All right."
        return
    if not score.aligned:
        yield "The words of the instruction were changed: copy every word and only insert tags."
    if not score.actions_right:
        named = ", ".join(read_tags(predicted).actions) or "none"
        yield f"The actions are {', '.join(read_tags(gold).actions) or 'none'}, not {named}."
    wanted, given = _slots(gold), _slots(predicted)
    for name, value in wanted:
        if (name, value) in given:
            given.remove((name, value))
        else:
            yield f"{value!r} must be tagged {name}."
    for name, value in given:
        yield f"{value!r} must not be tagged {name}."


def _slots(text: str) -> list[tuple[str, str]]:
    """(name, words) of every stretch of tokens with one label."""
    runs = groupby(read_tags(text).tokens, key=lambda token: token.label)
    return [(label, " ".join(token.text for token in run)) for label, run in runs if label != OUTSIDE]


def _gold(example: Any) -> str:
    value = field_of(example, "gold")
    if not isinstance(value, str):
        raise ValueError("the example has no `gold`: dspy.Example(instruction=..., gold=tagged text).with_inputs(...)")
    return value


def _text(pred: Any) -> str:
    """A prediction without text is a tagger that failed."""
    value = field_of(pred, "text")
    return value if isinstance(value, str) else ""
