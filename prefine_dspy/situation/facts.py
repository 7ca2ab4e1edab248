"""The fact layer's store: entity -> attribute -> fact, every fact with its source, its step and what it replaced.

An attribute is a key of the record itself; what is nested in it stays in it, because a container that comes again
replaces the stored one whole: shortened lists and removed keys must leave nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from prefine_dspy.situation.identity import EntityKey
from prefine_dspy.situation.paths import MISSING, Path, value_at

Kind = Literal["observed", "inferred"]
_RANK: dict[str, int] = {"inferred": 0, "observed": 1}


class Source(NamedTuple):
    """Where a fact comes from.

    Args:
        kind: "observed" by a tool, or "inferred" by the agent. An observation beats an inference (IDSS section 3.2.1).
        step: of the observation, counted from 1.
        tool: the tool that returned it; empty for an inference.
        arguments: of that call, as text.
        evidence: why, for an inference.
    """

    kind: Kind
    step: int
    tool: str = ""
    arguments: str = ""
    evidence: str = ""

    def __str__(self) -> str:
        where = f"{self.tool}({self.arguments})" if self.tool else self.evidence or "the agent"
        return f"{self.kind} at step {self.step}: {where}"


@dataclass(frozen=True, slots=True)
class Fact:
    """One attribute's current value.

    Args:
        value: a JSON value.
        replaced: earlier different values with their sources, oldest first.
    """

    value: Any
    source: Source
    replaced: tuple[tuple[Any, Source], ...] = ()


class Rejected(NamedTuple):
    """A write that a more credible or newer one had forestalled. Logged, never shown as a fact."""

    entity: EntityKey
    attribute: str
    value: Any
    source: Source


class Found(NamedTuple):
    """A value with the fact that it stands in."""

    entity: EntityKey
    path: Path
    value: Any
    source: Source


@dataclass
class FactStore:
    """Everything that is known, by entity.

    Args:
        rejected: writes that lost, in order.
    """

    rejected: list[Rejected] = field(default_factory=list)
    _entities: dict[EntityKey, dict[str, Fact]] = field(default_factory=dict)
    _named: dict[str, list[EntityKey]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[EntityKey]:
        return iter(self._entities)

    def __len__(self) -> int:
        return len(self._entities)

    def __contains__(self, key: object) -> bool:
        return key in self._entities

    def entity(self, key: EntityKey) -> Mapping[str, Fact]:
        """The facts of an entity by attribute; empty for an unknown one."""
        return self._entities.get(key, {})

    def step(self, key: EntityKey) -> int:
        """When the entity was last observed; 0 for an unknown one."""
        return max((fact.source.step for fact in self.entity(key).values()), default=0)

    def write(self, key: EntityKey, attribute: str, value: Any, source: Source) -> bool:
        """Store a value unless what is stored is more credible, or as credible and newer.

        Returns:
            Whether the value is now the fact.
        """
        return self._write(self._facts(key), key, attribute, value, source)

    def write_all(self, key: EntityKey, record: Mapping[str, Any], source: Source) -> None:
        """Store every attribute of a record."""
        facts = self._facts(key)
        if facts:
            for attribute, value in record.items():
                self._write(facts, key, attribute, value, source)
        else:
            facts.update({attribute: Fact(value, source) for attribute, value in record.items()})

    def _facts(self, key: EntityKey) -> dict[str, Fact]:
        """The entity's facts, to be written to."""
        facts = self._entities.get(key)
        if facts is None:
            facts = self._entities[key] = {}
            self._named.setdefault(key.id.casefold(), []).append(key)
        return facts

    def _write(self, facts: dict[str, Fact], key: EntityKey, attribute: str, value: Any, source: Source) -> bool:
        old = facts.get(attribute)
        if old is None:
            facts[attribute] = Fact(value, source)
            return True
        if _precedence(source) < _precedence(old.source):
            self.rejected.append(Rejected(key, attribute, value, source))
            return False
        same = _same(old.value, value)
        facts[attribute] = Fact(value, source, old.replaced if same else (*old.replaced, (old.value, old.source)))
        return True

    def forget(self, key: EntityKey, attribute: str | None = None) -> None:
        """Drop an attribute, or a whole entity, that a newer observation of its container no longer has."""
        facts = self._entities.get(key)
        if facts is not None and attribute is not None:
            facts.pop(attribute, None)
        if facts is not None and (attribute is None or not facts):
            del self._entities[key]
            self._named[key.id.casefold()].remove(key)

    def value(self, key: EntityKey, path: Path) -> Any:
        """The current value at a path of an entity, or MISSING."""
        fact = self.entity(key).get(str(path[0])) if path else None
        return MISSING if fact is None else value_at(fact.value, path[1:])

    def named(self, type: str, id: str) -> list[EntityKey]:
        """The entities of that type (empty: any) and id in any scope, newest first. Letter case does not count."""
        plain = type.casefold()
        found = [key for key in self._named.get(id.casefold(), ()) if not plain or key.type.casefold() == plain]
        return sorted(found, key=self.step, reverse=True)

    def of_type(self, type: str) -> list[EntityKey]:
        """All entities of a type, in the order in which they came."""
        return [key for key in self._entities if key.type.casefold() == type.casefold()]

    def find(self, key: EntityKey, path: Path) -> Found | None:
        """The value at a path with its source; None where nothing is known."""
        value = self.value(key, path)
        return None if value is MISSING else Found(key, path, value, self.entity(key)[str(path[0])].source)


def _precedence(source: Source) -> tuple[int, int]:
    return _RANK[source.kind], source.step


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same in value and type: True is not 1."""
    try:
        return type(one) is type(other) and one == other
    except RecursionError:
        return False
