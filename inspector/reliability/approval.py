"""Which calls need the user's approval."""

from typing import Final

from inspector.core.session import SessionState
from inspector.core.tool import Tool
from inspector.search.rules import contradiction

CHANGED: Final = "its definition changed since you were asked"
ASKED_BEFORE: Final = "you were asked about it before"
CLAIMED: Final = "its server says it is read-only"
CLAIMED_SINCE: Final = "its server now says it is read-only"


def why_ask(tool: Tool, state: SessionState) -> str:
    """Why a call needs approval in the session; empty if a trusted server says that the tool only reads.

    The specification of MCP: "clients MUST consider tool annotations to be untrusted unless they come from
    trusted servers" (2025-11-25, Tools). Which servers are trusted, only the user can say. A trusted server
    is not believed if the tool contradicts it, or if it claimed otherwise earlier in the session.
    """
    annotations = tool.annotations
    if contradicted := contradiction(tool):
        return contradicted
    if annotations.read_only:
        if tool.id in state.not_read_only:
            return CLAIMED_SINCE
        return "" if tool.server in state.trusted_servers else CLAIMED
    if annotations.destructive:
        return "its server marks it as destructive"
    if annotations.read_only is None:
        return "its server does not mark it as read-only"
    return "its server says it makes changes"


def is_known_to_read(tool: Tool, state: SessionState) -> bool:
    """Whether a trusted server says that the tool only reads, and nothing speaks against it."""
    return bool(tool.annotations.read_only) and not why_ask(tool, state)


def is_repeatable(tool: Tool, state: SessionState) -> bool:
    """Whether a second equal call changes nothing more: it only reads, or a trusted server says so.

    As with reading, a claim that the tool contradicts, or that earlier definitions lacked, is not believed.
    """
    if is_known_to_read(tool, state):
        return True
    is_claimed = tool.annotations.idempotent and tool.server in state.trusted_servers
    if not is_claimed or contradiction(tool):
        return False
    return all(version.annotations.idempotent for version in state.versions(tool.id))
