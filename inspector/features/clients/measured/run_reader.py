"""Every fact that a conversation which has ended shows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from inspector.clients.client import Topic
from inspector.features.clients.measured import reading_calls, reading_tools
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.reading import Reading

NONE: Final[Mapping[str, str]] = MappingProxyType({})
ABOUT: Final = {
    "marked-second": "a tool of the same name as another server's",
    "marked-odd": "names with dots, dashes and slashes",
    "marked-schemas": "every keyword of a schema",
    "marked-empty": "a tool with an empty inputSchema",
    "marked-boolean": "a parameter whose schema is true",
    "marked-ends": "a tool that ends the server",
    "marked-old": "no server/discover",
    "marked-new": "2026-07-28 alone",
}
"""What is odd about each of the small servers."""


def read_run(conversation: Conversation, version: str = "", costs: Mapping[str, str] = NONE) -> Reading:
    """What it shows; `version` is that of the client's program, "" for what it calls itself.

    `costs` are servers with which it did not come to ask its model, and what it does with each. Raises
    ProtocolError if the model was never given a tool, or no server was asked for its tools.
    """
    reading = Reading(conversation, version, costs)
    for server, does in costs.items():
        says = f"With {server} ({ABOUT[server]}) it {does}."
        reading.facts.append((Topic.LISTING, says, "its output"))
    for part in (*reading_tools.PARTS, *reading_calls.PARTS):
        reading.facts += part(reading)
    return reading
