"""What an exception means for its item."""

from __future__ import annotations

import json

from eval.failures import classify


def test_an_answer_nested_too_deeply_is_not_asked_for_again() -> None:
    try:
        json.loads("[" * 100_000)
    except RecursionError as error:
        failure = classify(error)
    assert failure.status == "parse_error" and not failure.retry
