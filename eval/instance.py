"""One benchmark item: a query, the history it is asked after, and the gold calls."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Query, ToolCall

ReasoningType = Literal["recall", "induction", "transfer"]
QueryType = Literal["cg", "cf"]


class Evidence(BaseModel):
    """Observations of a history for one preference (PRefine section 7.1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    supporting: int = 0
    competing: int = 0
    unrelated: int = 0


class Instance(BaseModel):
    """An MPT instance (PRefine section 4.4).

    Args:
        id: unique in its benchmark.
        history_id: the history it is asked after.
        query: its turns.
        query_type: context-guided ("cg") or context-free ("cf").
        reasoning_type: recall, induction or transfer.
        gold: alternative right calls; usually one. Alternatives differ in one argument's value.
        preference: the latent preference its target expresses ("low_cost", ...), or "other".
        evidence: R, C and U of the history for that preference; None when not known.
        contested: the history holds observations of an opposing preference.
        schema_name: "base" or "extended" (functions unseen in any history, appendix D.6).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    history_id: str
    query: Query
    query_type: QueryType
    reasoning_type: ReasoningType
    gold: tuple[ToolCall, ...]
    preference: str = "other"
    evidence: Evidence | None = None
    contested: bool = False
    schema_name: Literal["base", "extended"] = "base"


class Benchmark(NamedTuple):
    """Histories by id, the instances over them, the tools by schema name, and the slots that count as preferences.

    Args:
        name: what was loaded, e.g. "mini".
        preference_slots: by function, the arguments that IMP-F1 and P-EM count (the rest is EXP-F1).
        identity: sha256 over the content, to tell two benchmarks apart.
    """

    name: str
    histories: dict[str, History]
    instances: list[Instance]
    catalogues: dict[str, Catalogue]
    preference_slots: dict[str, tuple[str, ...]]
    identity: str
