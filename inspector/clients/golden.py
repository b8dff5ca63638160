"""Golden runs: what a client really sent of servers whose tools bear marks, for its rules to be held against.

A run is small: of a definition it has what is not as the server declared it. What the servers declared stands
once beside all runs, under its checksum, so that a run stays true when the servers get other tools.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from inspector.clients.client import Client, Fidelity
from inspector.clients.seen import see_all
from inspector.core.tool import Tool, acting_meta
from inspector.schema.json_value import JsonObject

Key = tuple[str, str]
"""A tool: its server and its name there."""
Definition = tuple[str, str, JsonObject]
"""Name, description and schema."""
_DIGITS = 8


class GoldenRun(Struct, frozen=True):
    """A run of a client: the definitions it sent of `tools`, what it found, and what became of results.

    A search that was not understood found None. `day` is YYYY-MM-DD.
    """

    client: str
    version: str
    model: str
    day: str
    tools: Sequence[Tool]
    definitions: Mapping[Key, Definition]
    searches: Mapping[str, Sequence[Key] | None]
    results: Sequence[str]

    def fidelity(self, client: Client) -> Fidelity:
        """How many of the definitions a client's rules give as they were sent."""
        same = len(same_definitions(client, self.tools, self.definitions))
        return Fidelity(same, len(self.definitions), self.version, self.day)


def same_definitions(client: Client, tools: Iterable[Tool], sent: Mapping[Key, Definition]) -> list[Key]:
    """Those of the definitions that a client's rules give as they were sent."""
    told = {
        (one.tool.server, one.tool.name): (one.name, one.description.shown, one.parameters)
        for one in see_all(client, list(tools))
        if one.refused is None
    }
    return [key for key, definition in sent.items() if told.get(key) == definition]


def declared_tool(server: str, raw: JsonObject, page: int) -> Tool:
    """A tool as a server declares it, on that page of its list."""
    return Tool(
        server,
        raw["name"],
        raw.get("description", ""),
        raw["inputSchema"],
        output_schema=raw.get("outputSchema"),
        title=raw.get("title", ""),
        meta=acting_meta(raw.get("_meta")),
        page=page,
    )


def write_golden(folder: Path, run: GoldenRun, servers: Mapping[str, Sequence[JsonObject]]) -> Path:
    """Write a run to a folder of that client in this one, and what the servers declare beside it.

    Each tool of a server has its `page`. Returns the file of the run. Raises OSError.
    """
    text = json.dumps(servers, indent=1, ensure_ascii=False) + "\n"
    named = f"servers-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}.json"
    about = {
        "client": run.client,
        "version": run.version,
        "model": run.model,
        "day": run.day,
        "servers": named,
    }
    declared = {(tool.server, tool.name): tool for tool in run.tools}
    definitions = [[*key, _differs(declared[key], *sent)] for key, sent in run.definitions.items()]
    parts = {"definitions": definitions, "searches": run.searches, "results": run.results}
    file = folder / run.client / "run.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    (folder / named).write_text(text, encoding="utf-8")
    file.write_text(json.dumps(about | parts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def _differs(tool: Tool, name: str, description: str, parameters: JsonObject) -> JsonObject:
    """A definition without what is as the server declared it."""
    found: dict[str, Any] = {"name": name}
    if description != tool.description:
        found["description"] = description
    if parameters != tool.input_schema:
        found["parameters"] = parameters
    return found
