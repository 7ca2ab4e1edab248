"""DSPy's JSON adapter with short prompts: the schema goes to the LM's grammar, not into the text.

DSPy prints the JSON schema of every typed field into the prompt, thousands of tokens for a catalogue of 36 functions,
and writes demonstrations as indented JSON, half of whose tokens are white space.
"""

from __future__ import annotations

import json
from typing import Any

import dspy
from annotated_types import MaxLen
from dspy.adapters.utils import format_field_value, serialize_for_json
from dspy.utils.exceptions import AdapterParseError
from pydantic import TypeAdapter

_LONGEST_ANSWER = 20_000
_MOST_BRACKETS = 200


def is_noise(text: str) -> bool:
    """Whether a text is no answer, whatever it holds: tolerant readers of JSON take minutes for such texts."""
    return len(text) > _LONGEST_ANSWER or text.count("{") + text.count("[") > _MOST_BRACKETS


class CompactAdapter(dspy.JSONAdapter):
    """Fields as `name: value`, answers as one line of JSON. Its only failure at reading is `AdapterParseError`."""

    def __init__(self) -> None:
        super().__init__(use_native_function_calling=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """The fields of an answer.

        Raises:
            AdapterParseError: there are none, or not all.
        """
        if not is_noise(completion):
            try:
                fields: dict[str, Any] = super().parse(signature, completion)
                return fields
            except (ValueError, RecursionError):  # nested too deeply, numbers beyond all bounds
                pass
        raise AdapterParseError(
            adapter_name=type(self).__name__,
            signature=signature,
            lm_response=completion,
            message="the answer holds no fields",
        )

    def _prepare_response_format(self, lm: Any, lm_kwargs: dict[str, Any], signature: type[dspy.Signature]) -> None:
        """Send the answer's schema where the LM takes one; DSPy's own would drop the limits on lengths."""
        if "response_format" not in lm.supported_params:
            return
        if lm.supports_response_schema:
            body = {"name": signature.__name__, "schema": answer_schema(signature), "strict": True}
            lm_kwargs["response_format"] = {"type": "json_schema", "json_schema": body}
        else:
            lm_kwargs["response_format"] = {"type": "json_object"}

    def format_field_description(self, signature: type[dspy.Signature]) -> str:
        """The task comes first (`format_system_message`); fields are described where they are used."""
        return "\n".join(
            f"{name}: {description}"
            for name, field in signature.input_fields.items()
            if (description := _description(name, field))
        )

    def format_field_structure(self, signature: type[dspy.Signature]) -> str:
        """The answer's keys in order."""
        keys = ",".join(f'"{name}":{_shape(name, field)}' for name, field in signature.output_fields.items())
        return f"Answer with one line of JSON: {{{keys}}}"

    def format_task_description(self, signature: type[dspy.Signature]) -> str:
        """The instructions as they are."""
        return str(signature.instructions)

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        """Task, inputs, answer: all of it the same for every call of a signature, so that it stays cached."""
        parts = (
            self.format_task_description(signature),
            self.format_field_description(signature),
            self.format_field_structure(signature),
        )
        return "\n\n".join(part for part in parts if part)

    def user_message_output_requirements(self, signature: type[dspy.Signature]) -> None:
        """The system message said it."""
        return None

    def format_user_message_content(
        self,
        signature: type[dspy.Signature],
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        """One block a field, in the signature's order."""
        blocks = [prefix]
        for name, field in signature.input_fields.items():
            if name in inputs:
                value = format_field_value(field_info=field, value=inputs[name])
                blocks.append(f"{name}:\n{value}" if "\n" in str(value) else f"{name}: {value}")
        blocks.append(suffix)
        return "\n\n".join(block for block in blocks if block).strip()

    def format_field_with_value(self, fields_with_values: dict[Any, Any], role: str = "user") -> str:
        """Assistant turns as compact JSON, in the form that the grammar allows."""
        if role == "user":
            return super().format_field_with_value(fields_with_values, role)
        values = {field.name: value for field, value in fields_with_values.items()}
        return json.dumps(serialize_for_json(values), ensure_ascii=False, separators=(",", ":"))


def answer_schema(signature: type[dspy.Signature]) -> dict[str, Any]:
    """The JSON schema of an answer: one object with every output field, in order."""
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for name, field in signature.output_fields.items():
        properties[name] = TypeAdapter(field.annotation).json_schema()
        definitions |= properties[name].pop("$defs", {})  # they are referred to from the root
        for limit in field.metadata:
            if isinstance(limit, MaxLen):
                properties[name]["maxLength"] = limit.max_length
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return schema | {"$defs": definitions} if definitions else schema


def _description(name: str, field: Any) -> str:
    text = str((field.json_schema_extra or {}).get("desc", ""))
    return "" if text == f"${{{name}}}" else text


def _shape(name: str, field: Any) -> str:
    if field.annotation is bool:
        return "true or false"
    description = _description(name, field)
    return f"({description})" if description else "..."
