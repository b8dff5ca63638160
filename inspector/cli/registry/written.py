"""A tool of a registry as the commands write it."""

from dataclasses import asdict
from typing import Any

from inspector.domain.registered_tool import RegisteredTool
from inspector.domain.summary_pool import first_sentence, shortened

_SAID = 100


def tool_json(found: RegisteredTool) -> dict[str, Any]:
    """A tool for programs."""
    return {"id": found.tool.id, **asdict(found)}


def tool_line(found: RegisteredTool) -> str:
    """What a tool does, on a line."""
    return shortened(first_sentence(found.tool.description), _SAID)
