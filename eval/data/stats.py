"""A build in numbers: the forms of the paper's Table 7 (scale) and Table 8 (what the targets express)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from eval.data.compose import Record
from eval.data.preferences import OTHER, PREFERENCES
from eval.instance import Instance, ReasoningType


def build_stats(records: Sequence[Record], instances: Sequence[Instance]) -> dict[str, Any]:
    """Tables 7 and 8 for instances over the base functions, the unseen ones beside them."""
    base = [i for i in instances if i.schema_name == "base"]
    unseen = [i for i in instances if i.schema_name == "extended"]
    return {
        "table_7": _table_7(records, base),
        "table_8": _table_8(base),
        "unseen_functions": {
            "instances": len(unseen),
            "by_query_type": _counted(i.query_type for i in unseen),
            "by_preference": _counted(i.preference for i in unseen),
        },
        "contested_histories": {
            "total": sum(r.meta.contested for r in records),
            "by_arrangement": _counted(r.meta.arrangement for r in records if r.meta.contested),
            "instances": sum(i.contested for i in base),
        },
        "histories_by_preference": _counted(name for r in records for name in _preferences(r)),
    }


def _table_7(records: Sequence[Record], instances: Sequence[Instance]) -> dict[str, Any]:
    sessions = [session for record in records for session in record.history.sessions]
    turns = sum(len(session.turns) for session in sessions)
    multi = {r.history.id for r in records if len(_preferences(r)) >= 2}
    return {
        "histories": len(records),
        "multi_preference_histories": len(multi),
        "sessions": len(sessions),
        "turns": turns,
        "sessions_per_history": round(len(sessions) / max(1, len(records)), 1),
        "turns_per_session": round(turns / max(1, len(sessions)), 1),
        "instances": _counted((i.reasoning_type for i in instances), get_args(ReasoningType)),
        "instances_total": len(instances),
        "instances_from_multi_preference_histories": sum(i.history_id in multi for i in instances),
        "query_types": _counted((i.query_type for i in instances), ("cg", "cf")),
    }


def _table_8(instances: Sequence[Instance]) -> dict[str, dict[str, int]]:
    columns = (*PREFERENCES, OTHER)
    table = {}
    for kind in get_args(ReasoningType):
        row = _counted((i.preference for i in instances if i.reasoning_type == kind), columns)
        table[kind] = row | {"total": sum(row.values())}
    return table


def _preferences(record: Record) -> set[str]:
    """Two celebrities are not two preferences (appendix A.6)."""
    return {name if name in PREFERENCES else "prefers_star" for name in record.meta.preferences}


def _counted(names: Any, order: Sequence[str] = ()) -> dict[str, int]:
    counts = Counter(names)
    return {name: counts[name] for name in (order or sorted(counts))}
