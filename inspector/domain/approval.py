"""Which calls need the user's approval."""

from typing import Final

from inspector.domain.tool import Tool

CHANGED: Final = "its definition changed since you were asked"
ASKED_BEFORE: Final = "you were asked about it before"


def why_ask(tool: Tool) -> str:
    """Why a call needs approval; empty when the server marks the tool as read-only."""
    annotations = tool.annotations
    if annotations.read_only:
        return ""
    if annotations.destructive:
        return "its server marks it as destructive"
    if annotations.read_only is None:
        return "its server does not mark it as read-only"
    return "its server says it makes changes"
