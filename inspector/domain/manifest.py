"""The server manifest and the `search_tools` definition that carries it (PRD sections 2.2 and 2.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.domain.tool import Tool, function_definition

SEARCH_TOOLS = "search_tools"
LISTED_IN_FULL = 10
LISTED_OF_MANY = 4
_HEADER = "Available tool servers (use this tool to load their definitions):"
_PURPOSE = (
    "Search for and load tool definitions from available MCP servers. "
    "Use this before calling a tool that isn't currently loaded."
)
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": (
                "Natural language capability search across all deferred tools "
                "(e.g. 'create a calendar event'). Uses keyword matching."
            ),
        },
        "server_name": {"type": "string", "description": "Filter results to a specific server by name."},
        "tool_names": {
            "type": "array",
            "items": {"type": "string"},
            "description": (
                "Load specific tools by exact name. "
                "Most token-efficient when you know the tool name from the manifest."
            ),
        },
    },
}


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One server of the manifest: its name, its permitted deferred tools, and one line about it."""

    server: str
    tools: tuple[str, ...]
    summary: str = ""


def entries(deferred: Iterable[Tool], summaries: Mapping[str, str]) -> tuple[ManifestEntry, ...]:
    """Group deferred tools by server, in catalog order."""
    names: dict[str, list[str]] = {}
    for tool in deferred:
        names.setdefault(tool.server, []).append(tool.name)
    return tuple(ManifestEntry(s, tuple(tools), summaries.get(s, "")) for s, tools in names.items())


def manifest_text(servers: Sequence[ManifestEntry]) -> str:
    """The manifest exactly as PRD section 2.2 prints it."""
    return "\n\n".join([_HEADER, *(_entry_text(entry) for entry in servers)])


def _entry_text(entry: ManifestEntry) -> str:
    count = len(entry.tools)
    noun = "tool" if count == 1 else "tools"
    if count > LISTED_IN_FULL:
        names = ", ".join(entry.tools[:LISTED_OF_MANY]) + f", ... and {count - LISTED_OF_MANY} more"
    else:
        names = ", ".join(entry.tools)
    line = f"- {entry.server} ({count} {noun}): {names}"
    return f"{line}\n  {entry.summary}" if entry.summary else line


def search_tools_definition(manifest: str) -> dict[str, Any]:
    """The meta-tool of PRD section 2.3, as an entry of the `tools` array."""
    description = f"{_PURPOSE}\n\n<manifest>\n{manifest}\n</manifest>"
    return function_definition(SEARCH_TOOLS, description, _PARAMETERS)
