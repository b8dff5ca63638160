"""A version of a tool as the registry's tables have it."""

from inspector.core.registered_tool import RegisteredTool
from inspector.registry.acceptance import definition_of, tool_in
from inspector.registry.embedding import embedded_text
from inspector.registry.postgres.stored_text import original, stored
from inspector.search.document import key_of

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
    named = stored(tool.id), found.version, stored(tool.server), stored(found.origin)
    return *named, found.hash, found.at, found.is_there, key_of(embedded_text(tool)), definition_of(tool)


def registered(row: Row) -> RegisteredTool:
    """The version in a row. Raises StoreError if it is damaged, or another program's."""
    definition, origin, version, hash_, at, is_there = row
    return RegisteredTool(tool_in(definition), original(origin), version, hash_, at, is_there)
