"""Which schemas and features a provider's models take, and tool schemas in that form.

Anthropic takes an object schema with few keys at its top, and references to `$defs` only. litellm brings
every schema into that form; done here, before counting, it has nothing left to change.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal

from inspector.schema.json_value import JsonObject, compact

Deferral = Literal["", "tool_reference", "tool_search"]
"""How a provider loads definitions later: Claude expands `tool_reference`, OpenAI takes `tool_search`."""

SchemaDialect = Literal["", "anthropic"]
"""The form of tool schemas that a provider takes; "" for any."""


@dataclass(frozen=True, slots=True)
class ModelFeatures:
    """`breakpoints`: the prompt cache keeps what is marked and nothing else; `deferral`: "" for none."""

    breakpoints: bool = False
    deferral: Deferral = ""
    dialect: SchemaDialect = ""


PLAIN = ModelFeatures()


_TOP = ("type", "properties", "additionalProperties", "required", "$defs", "strict")
_MOVED = ('"$ref":"#/definitions/', '"$ref":"#/components/schemas/')
_DEFS = "$defs"


def schema_for(dialect: SchemaDialect, schema: JsonObject) -> dict[str, Any]:
    """A tool's schema as a provider gets it; as it is without a dialect."""
    if dialect != "anthropic":
        return dict(schema)
    whole = {**schema, "type": "object"}
    whole.setdefault("properties", {})
    moved = _legacy_definitions(schema)
    if moved:
        # A quotation mark inside a JSON string is escaped, so only real references match.
        text = compact({**whole, _DEFS: {**moved, **_object(schema.get(_DEFS))}})
        for prefix in _MOVED:
            text = text.replace(prefix, f'"$ref":"#/{_DEFS}/')
        whole = json.loads(text)
    return {key: value for key, value in whole.items() if key in _TOP}


def _legacy_definitions(schema: JsonObject) -> dict[str, Any]:
    """The definitions at places that Anthropic does not look at."""
    components = _object(schema.get("components"))
    return {**_object(components.get("schemas")), **_object(schema.get("definitions"))}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
