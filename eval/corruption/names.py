"""Which names are alike: the substitutes of the corruption study.

The published study compares embeddings of a sentence encoder. Here names are compared by their letters, so that the
study needs no model and gives the same tags everywhere: character trigrams of the names' words, weighted by how few
names have them (TF-IDF), cosine between them. `pickup_city` is near `city`, `check_in_date` near `check_out_date`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

Nearest = Callable[[str, Sequence[str], int], list[str]]
"""(name, candidates, how many) -> the candidates most similar to the name, most similar first. Must not depend on
the candidates' order."""


def nearest_names(name: str, candidates: Sequence[str], most: int) -> list[str]:
    """The candidates whose letters are most like the name's; equally similar ones in alphabetical order."""
    others = sorted(set(candidates))
    grams = {one: _trigrams(one) for one in {*others, name}}
    having = Counter(gram for counts in grams.values() for gram in counts)
    rarity = {gram: 1 + math.log(len(grams) / count) for gram, count in having.items()}
    vectors = {one: {gram: n * rarity[gram] for gram, n in counts.items()} for one, counts in grams.items()}
    return sorted(others, key=lambda one: (-round(_cosine(vectors[name], vectors[one]), 9), one))[:most]


def _trigrams(name: str) -> Counter[str]:
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return Counter(f" {word} "[at : at + 3] for word in words for at in range(len(word)))


def _cosine(a: dict[str, float], b: dict[str, float]) -> float:
    # math.fsum: the sum must not depend on the order of the grams
    product = math.fsum(value * b[gram] for gram, value in a.items() if gram in b)
    norms = math.sqrt(math.fsum(v * v for v in a.values()) * math.fsum(v * v for v in b.values()))
    return product / norms if norms else 0.0
