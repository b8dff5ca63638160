"""What becomes of one tool on its way to a client's model: its name, its description, its schema."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from inspector.clients.client import Client, NameRule, SchemaRule
from inspector.core.number import count
from inspector.core.tool import Tool, function_definition
from inspector.schema.json_value import JsonObject, compact

_HASH_DIGITS = 12
_MIDDLE = "..."
# Values of these keywords are schemas by name, a list of schemas, one schema.
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
)
_DESCRIPTION = "description"
# A server may nest schemas as deep as it likes.
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Cut:
    """A text of which the model reads the first `kept` characters."""

    text: str
    kept: int

    @property
    def shown(self) -> str:
        return self.text[: self.kept]

    @property
    def lost(self) -> str:
        return self.text[self.kept :]


@dataclass(frozen=True, slots=True)
class SeenTool:
    """A tool as a client's model gets it.

    `refused` says why the model does not get it at all; `changes` say what else becomes of it. `definition`
    is in the chat completions format whatever the client sends, so that its tokens compare.
    """

    tool: Tool
    name: str
    description: Cut
    definition: JsonObject
    changes: tuple[str, ...] = ()
    refused: str = ""


def cut(text: str, limit: int) -> Cut:
    """A text cut after `limit` characters; 0 is no limit."""
    return Cut(text, min(len(text), limit) if limit else len(text))


def as_sent(client: Client, tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools that a client's model can get, with the texts and schemas that it gets of them."""
    found = (see(client, tool) for tool in tools)
    return tuple(
        replace(
            seen.tool,
            description=seen.description.shown,
            input_schema=seen.definition["function"]["parameters"],
        )
        for seen in found
        if not seen.refused
    )


def see(client: Client, tool: Tool) -> SeenTool:
    """What the client makes of a tool. Does not raise, whatever the tool declares."""
    name = sent_name(client.names, tool.server, tool.name)
    description = cut(tool.description, client.texts.description)
    schema, changes, refused = sent_schema(client.schemas, tool.input_schema)
    too_long = _too_long(client.names, name)
    told = [*_name_changes(client.names, name, tool), *changes]
    if description.lost:
        told.append(f"description cut by {count(len(description.lost), 'character')}")
    return SeenTool(
        tool,
        name,
        description,
        function_definition(name, description.shown, schema),
        tuple(told),
        too_long or refused,
    )


def sent_name(rule: NameRule, server: str, tool: str) -> str:
    """The name of a tool as the model reads it; one that is refused is returned whole."""
    part = server.lower() if rule.server_lower else server
    part = _replaced(rule.server_replaced or rule.replaced, part)
    part = part[: rule.server_limit] if rule.server_limit else part
    name = rule.form.format(server=part, tool=_replaced(rule.replaced, tool))
    if not rule.limit or len(name) <= rule.limit or rule.over == "refused":
        return name
    if rule.over == "cut":
        return name[: rule.limit]
    if rule.over == "middle":
        half = (rule.limit - len(_MIDDLE)) // 2
        return f"{name[:half]}{_MIDDLE}{name[-half:]}"
    raw = f"{server}\0{tool}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha1(raw, usedforsecurity=False).hexdigest()[:_HASH_DIGITS]
    return f"{name[: rule.limit - _HASH_DIGITS - 1]}_{digest}"


def _replaced(pattern: str, text: str) -> str:
    return re.sub(pattern, "_", text) if pattern else text


def _too_long(rule: NameRule, name: str) -> str:
    if not rule.limit or len(name) <= rule.limit:
        return ""
    return f"its name has {len(name)} characters; at most {rule.limit} are allowed"


def _name_changes(rule: NameRule, name: str, tool: Tool) -> Iterator[str]:
    plain = rule.form.format(server=tool.server, tool=tool.name)
    if rule.limit and len(plain) > rule.limit >= len(name):
        yield f"name shortened from {len(plain)} characters"
    replaced = _replaced(rule.replaced, plain)
    if replaced != plain:
        yield f"renamed from {plain}"


def sent_schema(rule: SchemaRule, schema: JsonObject) -> tuple[dict[str, Any], tuple[str, ...], str]:
    """A schema as the model gets it, what was changed, and why it is refused if it is."""
    top = [key for key in rule.top if key in schema]
    if top and rule.at_top == "refused":
        return dict(schema), (), f"its schema has {', '.join(top)} at the top level"
    changes = [f"schema: {', '.join(top)} removed from the top level"] if top else []
    kept: dict[str, Any] = {key: value for key, value in schema.items() if key not in top}
    if rule.keeps:
        lost: dict[str, None] = {}
        kept = _with(kept, frozenset(rule.keeps), lost, _DEEPEST)
        changes += [f"schema: {', '.join(lost)} removed"] if lost else []
    if rule.largest and len(compact(kept).encode("utf-8", "surrogatepass")) >= rule.largest:
        kept = _without_descriptions(kept, _DEEPEST)
        changes.append("schema: too large, so all parameter descriptions were removed")
    return kept, tuple(changes), ""


def _with(schema: JsonObject, keeps: frozenset[str], lost: dict[str, None], levels: int) -> dict[str, Any]:
    """The schema with these keywords only, down to so many levels; the others are added to `lost`."""
    lost.update(dict.fromkeys(key for key in schema if key not in keeps))
    kept = {key: value for key, value in schema.items() if key in keeps}
    return _each(kept, lambda one: _with(one, keeps, lost, levels - 1), levels)


def _without_descriptions(schema: JsonObject, levels: int) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key != _DESCRIPTION}
    return _each(kept, lambda one: _without_descriptions(one, levels - 1), levels)


def _each(schema: dict[str, Any], change: Callable[[JsonObject], Any], levels: int) -> dict[str, Any]:
    """The schema with every schema directly in it changed, if there are levels left."""
    return {key: _value(key, value, change) for key, value in schema.items()} if levels else schema


def _value(key: str, value: Any, change: Callable[[JsonObject], Any]) -> Any:
    if key in _BY_NAME and isinstance(value, dict):
        return {name: change(one) if isinstance(one, dict) else one for name, one in value.items()}
    if key in _LISTED and isinstance(value, list):
        return [change(one) if isinstance(one, dict) else one for one in value]
    if key in _SINGLE and isinstance(value, dict):
        return change(value)
    return value
