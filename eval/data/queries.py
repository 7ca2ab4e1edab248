"""The queries that instances are asked with: context-guided and context-free templates, in our own wording.

A context-guided template states some arguments in its turns; a context-free one names the task in one sentence
(PRefine section 4.3, Table 6).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from eval.instance import QueryType
from prefine_dspy.types import Query, Turn

_FOLDER = Path(__file__).parent / "queries"


class Template(BaseModel):
    """One query.

    Args:
        id: unique among all templates.
        function: the function that has to be called.
        targets: the preference arguments it leaves open, most important first; empty for context-free ones, which
            leave all of them open.
        stated: the arguments that the turns state, and so belong to the gold call.
        turns: what is said, beginning with the user, in turns.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    query_type: QueryType
    function: str
    targets: tuple[str, ...] = ()
    stated: dict[str, Any] = Field(default_factory=dict)
    turns: tuple[str, ...]

    def query(self) -> Query:
        """The query as it is asked; its id is the template's."""
        roles = ("user", "assistant")
        turns = tuple(Turn.model_validate({"role": roles[i % 2], "text": text}) for i, text in enumerate(self.turns))
        return Query(id=self.id, turns=turns)


@cache
def templates() -> tuple[Template, ...]:
    """Those over the base functions, in file order: the first of a function is its default."""
    return _read("base.json")


@cache
def unseen_templates() -> tuple[Template, ...]:
    """Those over the seven functions that no history calls (appendix D.6)."""
    return _read("unseen.json")


def first_templates(query_type: QueryType) -> dict[str, Template]:
    """The default template by base function."""
    return {t.function: t for t in reversed(templates()) if t.query_type == query_type}


def unseen_template(query_type: QueryType, function: str, target: str) -> Template | None:
    """The template over an unseen function that leaves `target` open."""
    fitting = [t for t in unseen_templates() if t.query_type == query_type and t.function == function]
    return next((t for t in fitting if query_type == "cf" or target in t.targets), None)


def _read(file: str) -> tuple[Template, ...]:
    return TypeAdapter(tuple[Template, ...]).validate_json((_FOLDER / file).read_bytes())
