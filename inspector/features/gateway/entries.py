"""What a client of the gateway is listed: `search_tools`, `call_tool`, and the tools that are bound."""

from collections.abc import Iterable, Sequence

from msgspec.structs import asdict

from inspector.core.message import ModelRequest
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject
from inspector.tokens.manifest import SEARCH_TOOLS
from inspector.tokens.synthetic import SYNTHETIC

_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}
# A call through `call_tool` may do anything that a server's tools do.
_OWN_HINTS = {True: {"readOnlyHint": True, "openWorldHint": False}, False: {"destructiveHint": True}}


class Names:
    """The names of tools for clients: a server's own while it is alone, else those that models get.

    Both say which tool is meant, also after the catalog has changed.
    """

    def __init__(self, servers: Sequence[str]) -> None:
        self._alone = len(servers) == 1

    def of(self, tool: Tool) -> str:
        """The name of a tool, or of a prompt that is given as one."""
        return tool.name if self._alone else tool.wire_name


def entries(request: ModelRequest, tools: Iterable[Tool], names: Names) -> list[JsonObject]:
    """The entries of `tools/list` for what a model would get in this request, in its order."""
    known = {tool.wire_name: tool for tool in tools}
    functions = (entry["function"] for entry in request.tools)
    return [
        own_entry(function) if function["name"] in SYNTHETIC else entry(known[function["name"]], names)
        for function in functions
    ]


def own_entry(function: JsonObject) -> JsonObject:
    """The entry of a tool that Toolsight answers itself."""
    name = function["name"]
    return {
        "name": name,
        "description": function["description"],
        "inputSchema": function["parameters"],
        "annotations": _OWN_HINTS[name == SEARCH_TOOLS],
    }


def entry(tool: Tool, names: Names) -> JsonObject:
    """The entry of a server's tool, as the server declares it; it is never called as a task."""
    claims = asdict(tool.annotations)
    optional = {
        "title": tool.title,
        "description": tool.said,
        "outputSchema": tool.output_schema,
        "annotations": {_HINTS[name]: claim for name, claim in claims.items() if claim is not None},
        "_meta": tool.meta,
    }
    shown = {key: value for key, value in optional.items() if value}
    return {"name": names.of(tool), "inputSchema": tool.input_schema, **shown}
