"""A version of a tool as the registry's tables have it."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from inspector.adapters.sqlite.codec import decode_value, encode_value
from inspector.adapters.sqlite.registry_sight import globbed, loaded, stored
from inspector.domain.error import StoreError
from inspector.domain.registered_tool import RegisteredTool
from inspector.domain.tool import Tool
from inspector.engine.discovery.document import key_of
from inspector.engine.registry.text import embedded_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Staged = tuple[bytes, int, bytes, bytes, bytes, str, float, bool, bytes, str]
"""Id, version, name, server, origin, hash, time, whether it is there, key and definition."""
COLUMNS = """
    version.definition, version.origin, version.version, version.hash, version.at,
    tool.is_there AND tool.version = version.version
"""


def staged(found: RegisteredTool) -> Staged:
    """The row of a version to be merged."""
    tool = found.tool
    definition = encode_value(_adapter().dump_python(tool, warnings=False))
    named = stored(tool.id), found.version, globbed(tool.id), stored(tool.server), stored(found.origin)
    return *named, found.hash, found.at, found.is_there, key_of(embedded_text(tool)), definition


def registered(row: Sequence[Any]) -> RegisteredTool:
    """The version in a row of `COLUMNS`. Raises StoreError if it is damaged, or another program's."""
    definition, origin, version, hash_, at, is_there = row
    return RegisteredTool(tool_in(definition), loaded(origin), version, hash_, at, bool(is_there))


def tool_in(definition: str) -> Tool:
    """The tool of a definition as stored. Raises StoreError if it is damaged, or another program's."""
    try:
        return _adapter().validate_python(decode_value(definition))
    except (ValueError, RecursionError) as error:
        hint = "Import the tools again into another file (--db)."
        raise StoreError(f"a tool in the registry cannot be read: {error}", hint=hint) from error


@cache
def _adapter() -> "TypeAdapter[Tool]":
    from pydantic import TypeAdapter

    return TypeAdapter(Tool)
