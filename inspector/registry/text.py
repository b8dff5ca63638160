"""The text of a tool whose vector a registry searches."""

from inspector.core.tool import Tool
from inspector.search.document import MAX_EMBEDDED
from inspector.search.term import spaced


def embedded_text(tool: Tool) -> str:
    """A tool's name and description (semantic discovery, section 4.3), at most MAX_EMBEDDED characters.

    Where the description is one sentence it equals the passage `opening`, so that both share a vector.
    """
    name = spaced(tool.name) or tool.name
    return f"{name}: {tool.description.strip() or name}"[:MAX_EMBEDDED]
