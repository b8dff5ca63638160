"""The access page: users, and below them what the chosen one may see, and which grant decides.

A user whose sight is restricted reads of the own tools alone, and of the own grants only without an expert:
either of the two may name what both together do not permit.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from inspector.app.base_screen import ToolKeys
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ListPage
from inspector.app.stream import View
from inspector.core.access import AccessPolicy, Sight, viewer
from inspector.core.number import count
from inspector.core.tool import Tool
from inspector.features.access.ruling import UserRow, ruling, user_rows
from widgets import Column, Record, RecordList, visible

USER_COLUMNS = (
    Column("user", "user", weight=3, min_width=8),
    Column("organisation", "organisation", weight=3, min_width=8),
    Column("roles", "roles", weight=3, hide_below=70),
    Column("tools", "tools", align="right", width=5),
    Column("servers", "by server", weight=8, hide_below=100),
)
TOOL_COLUMNS = (
    Column("tool", "tool", shorten="name", weight=4, min_width=16),
    Column("why", "granted to", weight=6, min_width=20),
)
NO_POLICY = (
    "No policy: everyone sees every tool.\n"
    "Start with --policy FILE, or set access.policy; docs/access.md has the format."
)
NO_USERS = "The policy has no users."
NO_TOOLS = "No tools visible."


def user_records(rows: Sequence[UserRow]) -> tuple[Record, ...]:
    """Return a row a user."""
    return tuple(
        Record(
            row.name,
            (
                *(row.name, row.organisation, ", ".join(row.roles), f"{row.tools:,}"),
                ", ".join(f"{server} {number:,}" for server, number in row.by_server if number),
            ),
            "" if row.tools else "muted",
            copy=row.name,
        )
        for row in rows
    )


def tool_records(sight: Sight, tools: Sequence[Tool], *, is_own: bool = False) -> tuple[Record, ...]:
    """Return the tools that somebody may see, each with whose grant decides.

    Of their `own`, a restricted user reads that only without an expert.
    """
    hides = is_own and bool(sight.expert)
    return tuple(
        Record(tool.id, (tool.id, "" if hides else ruling(sight, tool.id).why), copy=tool.id)
        for tool in sight.of(tools)
    )


def facts(policy: AccessPolicy | None, sight: Sight, tools: Sequence[Tool], expert: str = "") -> Content:
    """Return what the page is about, in one line."""
    if not sight.is_whole:
        seen = visible(viewer(sight.user, sight.expert), limit=60, newlines=False)
        owned = f"   {count(len(sight.of(tools)), 'tool')}"
        back = "   press a to return to the administrator view"
        return Content.assemble((f"as {seen}", "bold"), owned, (back, MUTED))
    if policy is None:
        return Content.styled("no policy", MUTED)
    through = visible(f"   through {expert}", limit=60, newlines=False) if expert else ""
    return Content.assemble(
        (count(len(policy.users), "user"), "bold"),
        f"   {count(len(policy.grants), 'grant')}, {count(len(policy.experts), 'expert')}",
        f"   {count(len(tools), 'tool')}{through}",
    )


class AccessScreen(ListPage, ToolKeys):
    """Who may see which tools. A restricted user sees the own tools here, and the way back."""

    page = "access"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#access-users RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "see_as", "view as", id="access.see_as"),
        Binding("u", "expert", "expert", id="access.expert"),
    ]
    titles: ClassVar[Mapping[str, str]] = {"access-users": "Users"}
    help_lines: ClassVar[tuple[str, ...]] = (
        "Every user in the policy, with tool counts by server. Below: the chosen user's tools, each",
        "with the grants that cover it. A tool without a grant does not exist for that user.",
        "`toolsight config access USER --compare OTHER` lists the tools that only one of two users sees.",
        "u applies the next expert, whose allowlist narrows every grant.",
        "Press a to start a session as the chosen user. The page then shows only that user's tools;",
        "press a again to return to the administrator view.",
    )

    _expert = ""

    _tools = query_one("#access-tools", RecordList)

    def body(self) -> ComposeResult:
        yield Static(id="facts", markup=False)
        yield RecordList(USER_COLUMNS, header=True, empty=NO_USERS, id="access-users")
        yield RecordList(TOOL_COLUMNS, header=True, empty=NO_TOOLS, id="access-tools")

    def drawn_from(self, view: View) -> object:  # noqa: ARG002 - the session has the policy
        session = self.session
        return session.catalog.tools, session.access_policy, session.sight, self._expert

    def draw(self) -> None:
        tools, policy = self.session.catalog.tools, self.session.access_policy
        self.write(facts(policy, self.session.sight, tools, self._expert))
        self.list.display = policy is not None
        if policy is not None:
            self.list.records = user_records(user_rows(policy, tools, self._expert))
        elif not self._tools.has_focus_within:
            self._tools.focus()
        self.draw_detail()

    def draw_detail(self) -> None:
        """Show the tools of the chosen user."""
        tools, policy, sight = self.session.catalog.tools, self.session.access_policy, self.session.sight
        shown, title, empty = self._tools, "This user's tools", NO_TOOLS
        if policy is None:
            title, empty = "Tools", NO_POLICY if sight.is_whole else NO_TOOLS
            records = () if sight.is_whole else tool_records(sight, tools, is_own=True)
        elif not self._user:
            records = ()
        else:
            records = tool_records(policy.sight(self._user, self._expert), tools)
        shown.border_title, shown.empty, shown.records = title, empty, records

    @property
    def _user(self) -> str:
        return self.key if self.session.access_policy is not None else ""

    @property
    def tool_id(self) -> str:
        return self.key_in(self._tools)

    @on(RecordList.Selected, "#access-tools")
    def _open(self) -> None:
        self.open_tool(self.tool_id)

    def action_see_as(self) -> None:
        """Begin a session as the chosen user; from a user's own session, go back to the administrator."""
        if self.session.access_policy is None and self.session.sight.is_whole:
            self.warn("There is no policy.")
        else:
            self.context.see_as(self._user, self._expert if self._user else "")

    def action_expert(self) -> None:
        """Look through the next expert; after the last one, through none."""
        policy = self.session.access_policy
        if policy is not None and policy.experts:
            names = ["", *policy.experts]
            at = names.index(self._expert) if self._expert in names else 0
            self._expert = names[(at + 1) % len(names)]
            self.show_view(self.view)
