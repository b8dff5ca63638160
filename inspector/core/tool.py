"""A tool as its server declares it, and its definition as sent to a model."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaDialect, schema_for

MAX_WIRE_NAME = 64
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")
_SEPARATOR = "__"
_HASH_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Annotations:
    """The server's own claims about a tool, which need not be true; None if it makes no claim."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one server. `input_schema` is JSON Schema with `type: object`; `tags` are the server's."""

    server: str
    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})
    annotations: Annotations = Annotations()
    output_schema: JsonObject | None = None
    title: str = ""
    tags: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """`server:tool`, unique in a catalog; Toolsight shows tools by it."""
        return f"{self.server}:{self.name}"

    @property
    def wire_name(self) -> str:
        """The name by which a model calls it."""
        return wire_name(self.server, self.name)


def wire_name(server: str, name: str) -> str:
    """Map (server, tool) to a name every provider accepts: `^[a-zA-Z0-9_-]{1,64}$`.

    The name depends only on its two arguments, so it stays the same when the catalog changes. If
    `server__tool` would be too long or ambiguous, the name ends with a hash of both.
    """
    joined = f"{server}{_SEPARATOR}{name}"
    if len(joined) <= MAX_WIRE_NAME and _reads_back_one_way(server, name):
        return joined
    digest = hashlib.sha256(f"{server}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    slug = _FORBIDDEN.sub("_", joined)[: MAX_WIRE_NAME - _HASH_DIGITS - len(_SEPARATOR)]
    return f"{slug}{_SEPARATOR}{digest}"


def _reads_back_one_way(server: str, name: str) -> bool:
    return (
        bool(_PLAIN.fullmatch(server) and _PLAIN.fullmatch(name))
        and not server.endswith("_")
        and not name.startswith("_")
        and _SEPARATOR not in server
        and _SEPARATOR not in name
    )


def definition(tool: Tool, dialect: SchemaDialect = "") -> dict[str, Any]:
    """The tool's function definition for the `tools` array of OpenAI's chat completions API."""
    return function_definition(tool.wire_name, tool.description, schema_for(dialect, tool.input_schema))


def function_definition(name: str, description: str, parameters: JsonObject) -> dict[str, Any]:
    """An entry in the `tools` array of the chat completions format."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": dict(parameters)},
    }


def server_of(tool: str) -> str:
    """The server of a tool's id."""
    return tool.partition(":")[0]
