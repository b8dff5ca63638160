"""Servers whose texts, names and schemas exceed what clients take."""

from inspector.core.server import ServerInfo
from inspector.core.tool import Tool
from tests.support.memory_servers import MemoryServer

RULE = "Never lend to a reader with fines."
"""The rule at the end of the instructions, which a client that cuts them does not show."""
INSTRUCTIONS = f"The loans of a library.\n{'Open on every weekday. ' * 120}\n{RULE}"
DESCRIPTION = f"Search the catalogue. {'Titles come from every branch. ' * 90}Add reference=true for all."
LONG_NAME = "reserve_" + "for_collection_" * 5 + "later"
COMBINED = {
    "type": "object",
    "properties": {"isbn": {"type": "string", "pattern": "^97[89]", "description": "The title"}},
    "oneOf": [{"required": ["isbn"]}],
}
TOOLS = (
    Tool("town.library", "search_catalogue", DESCRIPTION),
    Tool("town.library", LONG_NAME, "Reserve a title."),
    Tool("town.library", "lend", "Lend a copy.", COMBINED),
    Tool("town.library", "loan.renew", "Renew a loan."),
)


def library() -> dict[str, MemoryServer]:
    """One such server."""
    return {"town.library": MemoryServer(TOOLS, info=ServerInfo("library", instructions=INSTRUCTIONS))}
