"""A tool as its server declares it, and the definition a model is given for it."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

from inspector.domain.jsonvalue import JsonObject

MAX_WIRE_NAME = 64
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")
_SEPARATOR = "__"
_HASH_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Annotations:
    """The server's own claims about a tool; None where it makes no claim. Claims, not facts."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one server. `input_schema` is JSON Schema with `type: object`."""

    server: str
    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})
    annotations: Annotations = Annotations()
    output_schema: JsonObject | None = None
    title: str = ""

    @property
    def id(self) -> str:
        """`server:tool`, unique in a catalog and how Toolsight shows a tool."""
        return f"{self.server}:{self.name}"

    @property
    def wire_name(self) -> str:
        """The name a model calls it by."""
        return wire_name(self.server, self.name)


def wire_name(server: str, name: str) -> str:
    """Map (server, tool) to a name every provider takes: `^[a-zA-Z0-9_-]{1,64}$`.

    The name depends on nothing but its two arguments, so it never changes while a catalog does. Where
    `server__tool` would be too long, or could be read back in more than one way, a hash of both ends it.
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


def definition(tool: Tool) -> dict[str, Any]:
    """The function definition as the OpenAI chat-completions `tools` array wants it."""
    return function_definition(tool.wire_name, tool.description, tool.input_schema)


def function_definition(name: str, description: str, parameters: JsonObject) -> dict[str, Any]:
    """A `tools` entry of the chat-completions wire format."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": dict(parameters)},
    }
