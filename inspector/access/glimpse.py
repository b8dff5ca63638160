"""What is seen of one server: its permitted tools, and its free text only where all of them are."""

from dataclasses import replace

from inspector.access.reach import covers
from inspector.core.access import Sight
from inspector.core.events import ServerFailed
from inspector.core.ports import ToolListing
from inspector.core.server import ServerInfo

AWAY = "is not available"
"""Why a server failed, for who may not see all of its tools: its error could name the others."""


def seen_listing(server: str, listing: ToolListing, sight: Sight) -> ToolListing:
    """The permitted tools of a listing, and of those that were skipped the permitted ones."""
    if sight.is_whole:
        return listing
    skipped = tuple(one for one in listing.skipped if sight.permits(f"{server}:{one.name}"))
    return replace(listing, tools=sight.of(listing.tools), skipped=skipped)


def seen_info(server: str, info: ServerInfo, sight: Sight) -> ServerInfo:
    """What a server says of itself; its summary and instructions may name any of its tools."""
    if sight.is_whole or covers(sight, server):
        return info
    return replace(info, summary="", instructions="")


def since(before: str, now: str) -> str:
    """What was written after `before`, where both are the ends of one text, each cut at its beginning."""
    for length in range(min(len(before), len(now)), 0, -1):
        if before.endswith(now[:length]):
            return now[length:].lstrip("\n")
    return now


def seen_failure(failure: ServerFailed, sight: Sight) -> ServerFailed:
    """Why a server failed; in its own words only for who may see all that it could have."""
    if sight.is_whole or covers(sight, failure.server):
        return failure
    return ServerFailed(failure.server, AWAY, needs_login=failure.needs_login)
