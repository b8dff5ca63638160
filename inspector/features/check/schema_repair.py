"""The repair of a tool's schema, shown as a difference of its source file, or of its JSON."""

import json
from collections.abc import Collection, Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from pathlib import Path

from msgspec import Struct

from inspector.clients.client import Client
from inspector.clients.repair import Accepts, repair
from inspector.config.program import source_files
from inspector.core.server import ServerSpec
from inspector.features.check.definition_rule import INVALID, LOST, SCHEMA_REFUSED
from inspector.features.check.finding import Finding
from inspector.features.check.schema_text import schema_replacement
from inspector.schema.json_value import JsonObject, as_object
from inspector.session.view import SessionView

_ACCEPTED: dict[Accepts, str] = {
    "same": "It accepts the same arguments.",
    "fewer": "It accepts fewer arguments:",
    "more": "It accepts more arguments:",
    "other": "It accepts other arguments:",
}
REPAIRED = (SCHEMA_REFUSED, INVALID, LOST)
"""The rules that say of a schema what a repair may mend."""
_MOST_REPAIRED = 200


class SchemaRepair(Struct, frozen=True):
    """What a tool's input schema would be if all clients that were looked at took it.

    `lines` say which arguments it accepts no longer, or newly; `left` is what only its author can mend.
    `difference` is that of the file `path`, or of the schema as JSON if it stands in none.
    """

    tool_id: str
    schema: JsonObject
    steps: tuple[str, ...]
    accepts: Accepts
    lines: tuple[str, ...]
    left: tuple[str, ...]
    difference: str
    path: Path | None = None


def repairs_of(
    session: SessionView,
    findings: Collection[Finding],
    clients: Sequence[Client],
    servers: Sequence[ServerSpec],
) -> dict[str, SchemaRepair]:
    """The repairs of the tools whose schemas a finding is about, by id; servers' files are looked through."""
    files = {spec.name: source_files(spec).files for spec in servers}
    schemas: dict[str, JsonObject] = {tool.id: tool.input_schema for tool in session.catalog.seen}
    for server, state in session.state.servers.items():
        for one in state.skipped:
            if one.definition is not None:
                schemas[f"{server}:{one.name}"] = as_object(one.definition.get("inputSchema"))
    wanted = (
        (one.server, name)
        for one in findings
        if one.rule in REPAIRED
        for name in one.tools or ((one.tool,) if one.tool else ())
    )
    found = {}
    for server, name in islice(dict.fromkeys(wanted), _MOST_REPAIRED):
        schema = schemas.get(f"{server}:{name}")
        if schema and (made := _repaired(server, name, schema, clients, files.get(server, ()))):
            found[made.tool_id] = made
    return found


def _repaired(
    server: str, name: str, schema: JsonObject, clients: Sequence[Client], files: Sequence[Path]
) -> SchemaRepair | None:
    conditions = dict.fromkeys(one for client in clients for one in client.schemas.conditions)
    if (made := repair(schema, tuple(conditions))) is None:
        return None
    changed = schema_replacement(files, name, schema, made.schema) if made.steps else None
    old, new = (
        json.dumps(one, ensure_ascii=False, indent=1).splitlines(keepends=True)
        for one in (schema, made.schema)
    )
    difference = changed.difference if changed else "".join(islice(unified_diff(old, new, n=1), 2, None))
    told = (made.accepts, made.lines, tuple(one.says for one in made.left))
    return SchemaRepair(
        f"{server}:{name}", made.schema, made.steps, *told, difference, changed.path if changed else None
    )


def repair_lines(one: SchemaRepair, most: int) -> Iterator[str]:
    """A repair for people: its steps, what it accepts, and the lines that differ, of each so many."""
    if one.steps:
        told = "; ".join(one.steps)
        yield f"{told[:1].upper()}{told[1:]}."
        yield _ACCEPTED[one.accepts]
        yield from _first(one.lines, most, "  ")
    if one.left:
        yield "For its author to mend:"
        yield from _first(one.left, most, "  ")
    yield from _first(one.difference.splitlines(), most * 4, "")


def _first(lines: Sequence[str], most: int, indent: str) -> Iterator[str]:
    yield from (f"{indent}{line}" for line in lines[:most])
    if len(lines) > most:
        yield f"{indent}and {len(lines) - most:,} more"
