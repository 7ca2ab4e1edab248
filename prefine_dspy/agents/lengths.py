"""How long a text may be that takes the place of the history: a summary, a report, a fold.

The defaults are for a small local LM that writes some twelve tokens a second. The published methods write up to some
thousand tokens: compare methods on a larger LM with more.
"""

from __future__ import annotations

from typing import Annotated

import dspy
from pydantic import Field


def up_to(signature: type[dspy.Signature], field: str, longest: int) -> type[dspy.Signature]:
    """The signature with another limit on a text.

    Args:
        field: of its outputs.
        longest: characters.
    """
    limited: type[dspy.Signature] = signature.with_updated_fields(
        field, type_=Annotated[str, Field(max_length=longest)], constraints=f"maximum length: {longest}"
    )
    return limited
