"""Evidence interference (PRefine section 7.1, appendix D.3): how much of a history speaks against its preference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eval.instance import Evidence

BETA = 4.0
GAMMA = 0.25
"""The paper gives beta : gamma = 16 : 1 and beta > 1 > gamma > 0 but not the weights; these fit both."""


def interference(evidence: Evidence, beta: float = BETA, gamma: float = GAMMA) -> float:
    """I = (beta C + gamma U) / (R + beta C + gamma U), between 0 and 1; 0 for a history without observations.

    Args:
        evidence: R supporting, C competing, U unrelated observations.
        beta: weight of competing evidence, above 1.
        gamma: weight of unrelated evidence, between 0 and 1.
    """
    if not beta > 1 > gamma > 0:
        raise ValueError(f"the weights must satisfy beta > 1 > gamma > 0, got beta={beta}, gamma={gamma}")
    against = beta * evidence.competing + gamma * evidence.unrelated
    total = evidence.supporting + against
    return against / total if total else 0.0


def quintiles(scores: Sequence[float], types: Sequence[str], parts: int = 5) -> list[int]:
    """Per item 1 (least interference) to 5, by rank within its reasoning type.

    Equal scores share the quintile of their middle rank: which of two equally difficult items is the harder one would
    be an accident of their order. Parts are therefore of about equal size only.
    """
    values, labels = np.asarray(scores, dtype=float), np.asarray(types, dtype=str)
    if values.shape != labels.shape:
        raise ValueError(f"types must be given per item: {labels.size} for {values.size} scores")
    part = np.zeros(len(values), dtype=int)
    for label in np.unique(labels):
        chosen = labels == label
        _, code, size = np.unique(values[chosen], return_inverse=True, return_counts=True)
        middle = np.cumsum(size) - size / 2  # of the ranks 0..n that equal scores take up
        part[chosen] = np.minimum(parts, 1 + np.floor(parts * middle / chosen.sum()).astype(int))[code]
    return [int(one) for one in part]


def by_quintile(
    evidence: Mapping[str, Evidence], types: Mapping[str, str], beta: float = BETA, gamma: float = GAMMA
) -> dict[str, int]:
    """Quintile by item id, for the items whose evidence is known."""
    ids = [one for one in evidence if one in types]
    scores = [interference(evidence[one], beta, gamma) for one in ids]
    return dict(zip(ids, quintiles(scores, [types[one] for one in ids]), strict=True))


def competing_split(evidence: Mapping[str, Evidence]) -> dict[str, bool]:
    """By item id, whether anything in the history competes with its preference (C > 0)."""
    return {one: found.competing > 0 for one, found in evidence.items()}
