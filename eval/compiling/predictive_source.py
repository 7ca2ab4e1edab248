"""Histories to compile on without labels: a benchmark's, or anyone's call logs. Gold, preferences and queries of a
benchmark are not handed on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eval.data.load import load_benchmark
from eval.data.logs import is_call_log, read_logs
from eval.data.splits import Sources, sources_of, split
from eval.instance import Benchmark
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History


class CallHistories(NamedTuple):
    """Args:
    name: of the data.
    identity: sha256 over its content.
    splits: "train", "dev" and "test"; no user and no dialogue is in two.
    tools: of all histories.
    """

    name: str
    identity: str
    splits: dict[str, tuple[History, ...]]
    tools: Catalogue


def load_histories(data: str, sizes: Mapping[str, int | None], seed: int) -> CallHistories:
    """Read and deal out.

    Args:
        data: call logs (`eval.data.logs`), or as `load_benchmark` takes it.
        sizes: histories by split; None takes the default share.
        seed: of the dealing.

    Raises:
        InputError: the data cannot be read, or has fewer histories than asked for.
    """
    if is_call_log(data):
        logs = read_logs(data)
        unlabelled = Benchmark(data, logs.histories, [], {"base": logs.tools}, {}, logs.identity)
        sources = {user: Sources(frozenset({user}), frozenset()) for user in logs.histories}
    else:
        unlabelled = load_benchmark(data)._replace(instances=[])
        sources = sources_of(data, unlabelled.histories)
    dealt = split(unlabelled, sources, sizes, seed)
    name = "call logs" if is_call_log(data) else unlabelled.name
    histories = {side: one.histories for side, one in dealt.items()}
    return CallHistories(name, unlabelled.identity, histories, unlabelled.catalogues["base"])
