"""A version of a tool as the registry's tables have it."""

from functools import cache
from typing import TYPE_CHECKING

from inspector.adapters.postgres.stored_text import original, stored
from inspector.adapters.sqlite.codec import decode_value, encode_value
from inspector.domain.error import StoreError
from inspector.domain.registered_tool import RegisteredTool
from inspector.domain.tool import Tool
from inspector.engine.discovery.document import key_of
from inspector.engine.registry.text import embedded_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Staged = tuple[str, int, str, str, str, float, bool, bytes, str]
"""Id, version, server, origin, hash, time, whether it is there, key and definition."""
Row = tuple[str, str, int, str, float, bool]
"""Definition, origin, version, hash, time and whether it is there, as `COLUMNS` selects them."""

COLUMNS = "v.definition, v.origin, v.version, v.hash, v.at, t.id IS NOT NULL"
# Every version with the tool if it is there now in that version; "JOIN" leaves only those.
VERSIONS = "toolsight.version v LEFT JOIN toolsight.tool t USING (id, version)"
NOW = "toolsight.tool t JOIN toolsight.version v USING (id, version)"


def staged(found: RegisteredTool) -> Staged:
    """The row of a version to be merged."""
    tool = found.tool
    definition = encode_value(_adapter().dump_python(tool, warnings=False))
    named = stored(tool.id), found.version, stored(tool.server), stored(found.origin)
    return *named, found.hash, found.at, found.is_there, key_of(embedded_text(tool)), definition


def registered(row: Row) -> RegisteredTool:
    """The version in a row. Raises StoreError if it is damaged, or another program's."""
    definition, origin, version, hash_, at, is_there = row
    return RegisteredTool(tool_in(definition), original(origin), version, hash_, at, is_there)


def tool_in(definition: str) -> Tool:
    """The tool of a definition as stored. Raises StoreError if it is damaged, or another program's."""
    try:
        return _adapter().validate_python(decode_value(definition))
    except (ValueError, RecursionError) as error:
        hint = "Import the tools again into another database."
        raise StoreError(f"a tool in the registry cannot be read: {error}", hint=hint) from error


@cache
def _adapter() -> "TypeAdapter[Tool]":
    from pydantic import TypeAdapter

    return TypeAdapter(Tool)
