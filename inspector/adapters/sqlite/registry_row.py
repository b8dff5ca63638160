"""A version of a tool as the registry's tables have it."""

from collections.abc import Sequence
from typing import Any

from inspector.adapters.sqlite.registry_sight import globbed, loaded, stored
from inspector.adapters.stored_definition import definition_of, tool_in
from inspector.domain.registered_tool import RegisteredTool
from inspector.engine.discovery.document import key_of
from inspector.engine.registry.text import embedded_text

Staged = tuple[bytes, int, bytes, bytes, bytes, str, float, bool, bytes, str]
"""Id, version, name, server, origin, hash, time, whether it is there, key and definition."""
COLUMNS = """
    version.definition, version.origin, version.version, version.hash, version.at,
    tool.is_there AND tool.version = version.version
"""


def staged(found: RegisteredTool) -> Staged:
    """The row of a version to be merged."""
    tool = found.tool
    named = stored(tool.id), found.version, globbed(tool.id), stored(tool.server), stored(found.origin)
    return *named, found.hash, found.at, found.is_there, key_of(embedded_text(tool)), definition_of(tool)


def registered(row: Sequence[Any]) -> RegisteredTool:
    """The version in a row of `COLUMNS`. Raises StoreError if it is damaged, or another program's."""
    definition, origin, version, hash_, at, is_there = row
    return RegisteredTool(tool_in(definition), loaded(origin), version, hash_, at, bool(is_there))
