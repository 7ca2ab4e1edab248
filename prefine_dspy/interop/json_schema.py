"""JSON schemas of foreign tools: references inlined, "or null" taken off, and a strict form that constrains an LM."""

from __future__ import annotations

from typing import Any

from prefine_dspy.call_schema import TEXT_VALUE

Schema = dict[str, Any]

_DEEPEST = 6
"""Levels of nesting that are followed; below, any value is allowed (a recursive schema has no end)."""
_FORMATS = frozenset({"date", "time", "date-time"})
_KEPT = frozenset(
    "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems"
    " format pattern".split()
)


def inlined(schema: Any, root: Schema | None = None, depth: int = 0) -> Schema:
    """The schema with every local `$ref` replaced by what it points to, so that a part of it can stand alone.

    Args:
        schema: anything; what is no schema allows any value.
        root: where the references point into; the schema itself when None.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {}
    root = schema if root is None else root
    if isinstance(reference := schema.get("$ref"), str):
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**inlined(_pointed_to(reference, root), root, depth + 1), **beside}
    found: Schema = {}
    for key, value in schema.items():
        if key in ("$defs", "definitions"):
            continue
        if key == "properties" and isinstance(value, dict):
            found[key] = {str(name): inlined(one, root, depth + 1) for name, one in value.items()}
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            found[key] = [inlined(one, root, depth + 1) for one in value]
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            found[key] = inlined(value, root, depth + 1)
        else:
            found[key] = value
    return found


def _pointed_to(reference: str, root: Schema) -> Any:
    target: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        target = target.get(name) if isinstance(target, dict) else None
    return target


def not_null(schema: Schema) -> Schema:
    """The schema without "or null": an argument that is not given is left out here, never null."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        rest = [kind for kind in kinds if kind != "null"]
        schema = {**schema, "type": rest[0] if len(rest) == 1 else rest}
    for key in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(key), list):
            left = [one for one in branches if not (isinstance(one, dict) and one.get("type") == "null")]
            outside = {name: value for name, value in schema.items() if name != key}
            schema = {**not_null(left[0]), **outside} if len(left) == 1 else {**schema, key: left}
    if isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1:
        schema = {**schema["allOf"][0], **{name: value for name, value in schema.items() if name != "allOf"}}
    if isinstance(enum := schema.get("enum"), list):
        schema = {**schema, "enum": [one for one in enum if one is not None]}
    if schema.get("default", ...) is None:
        schema = {name: value for name, value in schema.items() if name != "default"}
    return schema


def constraint(schema: Schema) -> Schema:
    """The strict form: only keywords that grammars and hosted LMs' strict modes know, every object closed, each of its
    properties decided (null where it may be absent), free text kept short."""
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        return {"anyOf": [constraint(one) for one in branches if isinstance(one, dict)]}
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if "(?" in str(kept.get("pattern", "")):
        kept.pop("pattern")  # grammars know no look-around
    kind = kept.get("type")
    if kind == "string" and not kept.keys() & {"enum", "const", "format", "pattern", "maxLength"}:
        kept["pattern"] = TEXT_VALUE
    if kind == "array":
        items = schema.get("items")
        kept["items"] = constraint(items) if isinstance(items, dict) and items else {"type": "string"}
    if kind == "object" and isinstance(properties := schema.get("properties"), dict) and properties:
        required = schema.get("required") or ()
        kept["properties"] = {
            name: constraint(one) if name in required else {"anyOf": [constraint(not_null(one)), {"type": "null"}]}
            for name, one in properties.items()
        }
        kept |= {"required": list(properties), "additionalProperties": False}
    return kept
