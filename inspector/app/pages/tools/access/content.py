"""The texts of the access page: users with what they may see, and tools with the grant that decides.

A user whose sight is restricted reads of the own tools alone, and of the own grants only without an expert:
either of the two may name what both together do not permit.
"""

from collections.abc import Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.core.access import AccessPolicy, Sight, UserRow, ruling, sight_difference, viewer
from inspector.core.number import count
from inspector.core.tool import Tool
from widgets import Column, Record, visible

USER_COLUMNS = (
    Column("mark", width=1),
    Column("user", "user", weight=3, min_width=8),
    Column("organisation", "organisation", weight=3, min_width=8),
    Column("roles", "roles", weight=3, hide_below=70),
    Column("tools", "tools", align="right", width=5),
    Column("servers", "by server", weight=8, hide_below=100),
)
TOOL_COLUMNS = (
    Column("side", "", width=1),
    Column("tool", "tool", shorten="name", weight=4, min_width=16),
    Column("why", "granted to", weight=6, min_width=20),
)
NO_POLICY = (
    "No policy: everyone sees every tool.\n"
    "Start with --policy FILE, or set access.policy; docs/access.md has the format."
)
NO_USERS = "The policy has no users."
NO_TOOLS = "No tools visible."
NO_DIFFERENCE = "Both users see the same tools."
_WAY_BACK = "press a to return to the administrator view"


def user_records(rows: Sequence[UserRow], compared: str = "") -> tuple[Record, ...]:
    """Return a row a user; the one that others are compared with is marked."""
    return tuple(_user(row, is_compared=row.name == compared) for row in rows)


def _user(row: UserRow, *, is_compared: bool) -> Record:
    servers = ", ".join(f"{server} {number:,}" for server, number in row.by_server if number)
    cells = (
        "◆" if is_compared else "",
        *(row.name, row.organisation, ", ".join(row.roles), f"{row.tools:,}", servers),
    )
    return Record(row.name, cells, "" if row.tools else "muted", copy=row.name)


def tool_records(sight: Sight, tools: Sequence[Tool]) -> tuple[Record, ...]:
    """Return the tools that somebody may see, each with whose grant decides."""
    return tuple(
        Record(tool.id, ("", tool.id, ruling(sight, tool.id).why), copy=tool.id) for tool in sight.of(tools)
    )


def difference_records(first: Sight, second: Sight, tools: Sequence[Tool]) -> tuple[Record, ...]:
    """Return the tools that only one of two may see, with a plus for the first and a minus for the second."""
    found = sight_difference(first, second, tools)
    sides = (("+", first, found.first, "success"), ("−", second, found.second, "warning"))
    return tuple(
        Record(
            tool_id,
            (sign, tool_id, f"only {sight.user}: {ruling(sight, tool_id).why}"),
            "success" if tone == "success" else "warning",
            copy=tool_id,
        )
        for sign, sight, ids, tone in sides
        for tool_id in ids
    )


def own_records(sight: Sight, tools: Sequence[Tool]) -> tuple[Record, ...]:
    """Return a restricted user's text: their own tools, and their own grants without an expert."""
    if not sight.expert:
        return tool_records(sight, tools)
    return tuple(Record(tool.id, ("", tool.id, ""), copy=tool.id) for tool in sight.of(tools))


def facts(policy: AccessPolicy | None, sight: Sight, tools: Sequence[Tool], expert: str = "") -> Content:
    """Return what the page is about, in one line."""
    if not sight.is_whole:
        seen = visible(viewer(sight.user, sight.expert), limit=60, newlines=False)
        return Content.assemble(
            (f"as {seen}", "bold"), f"   {count(len(sight.of(tools)), 'tool')}", (f"   {_WAY_BACK}", MUTED)
        )
    if policy is None:
        return Content.styled("no policy", MUTED)
    through = visible(f"   through {expert}", limit=60, newlines=False) if expert else ""
    return Content.assemble(
        (count(len(policy.users), "user"), "bold"),
        f"   {count(len(policy.grants), 'grant')}, {count(len(policy.experts), 'expert')}",
        f"   {count(len(tools), 'tool')}{through}",
    )
