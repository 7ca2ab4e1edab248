"""What can go wrong in a store that is not the caller's input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from prefine_dspy.errors import PrefineError


class StoreError(PrefineError):
    """The database could not do what was asked; what it held before is still there."""


@contextmanager
def one_line(where: str) -> Iterator[None]:
    """Turn a database's error into one line without SQL or values: those are a user's data.

    Args:
        where: the store, without password.
    """
    try:
        yield
    except SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise StoreError(f"the store {where} failed: {cause[0] if cause else type(error).__name__}") from error
