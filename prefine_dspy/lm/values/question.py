"""ValueQuestion: which value would an LM write here? As an lm15 request, which DSPy caches and counts like any other.

lm15 has a convention for this: a property of the answer's schema with a closed set of strings is a judgment, and
`config.probabilities` asks for a distribution over it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dspy import lm15

OPEN = "x-open"
"""In a schema's property: the values are some of many, so measure how much of the LM's probability they hold."""


@dataclass(frozen=True)
class ValueQuestion:
    """One place in an answer.

    Args:
        instructions: the same for all questions of a program: a stable prompt prefix.
        text: what the LM reads besides, e.g. a hypothesis; questions with the same text share a prefix, too.
        given: the answer's properties before the value, as (name, text).
        field: the property that is asked for, e.g. an argument's name.
        values: that it may have, as text; at least one, none empty.
        open: they are some of many.
    """

    instructions: str
    text: str
    given: tuple[tuple[str, str], ...]
    field: str
    values: tuple[str, ...]
    open: bool = False

    @property
    def prefill(self) -> str:
        """The answer up to the value's first character."""
        before = "".join(f"{json.dumps(name)}:{written(text)}," for name, text in self.given)
        return f"{{{before}{json.dumps(self.field)}:" + '"'

    def schema(self) -> dict[str, Any]:
        """The answer's."""
        properties: dict[str, Any] = {name: {"type": "string", "enum": [text]} for name, text in self.given}
        properties[self.field] = {"type": "string", "enum": list(self.values)} | ({OPEN: True} if self.open else {})
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def measuring(self, model: str) -> lm15.Request:
        """The request for probabilities."""
        config = lm15.Config(response_format=self._format(), probabilities="required", max_tokens=1)
        return self._request(model, self.text, config)

    def answering(self, model: str, schema: bool, **config: Any) -> lm15.Request:
        """The request for an answer, to LMs that cannot measure.

        Args:
            model: the LM's name.
            schema: hold the LM to the values.
            config: of the request (`temperature`, `logprobs`, `max_tokens`).
        """
        format_ = {"response_format": self._format()} if schema else {}
        given = "".join(f"{json.dumps(name)}:{written(text)}," for name, text in self.given)
        options = "|".join(self.values)
        asked = f"Answer with one line of JSON: {{{given}{json.dumps(self.field)}:(one of {options})}}"
        return self._request(model, f"{self.text}\n\n{asked}", lm15.Config(**format_, **config))

    def _format(self) -> dict[str, Any]:
        return {"type": "json_schema", "name": "value", "schema": self.schema()}

    def _request(self, model: str, text: str, config: lm15.Config) -> lm15.Request:
        message = lm15.Message(role="user", parts=(lm15.TextPart(text),))
        return lm15.Request(model=model, messages=(message,), system=self.instructions, config=config)


def written(value: str) -> str:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False)
