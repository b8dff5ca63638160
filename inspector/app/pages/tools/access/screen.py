"""The access page: users above, below what the chosen one may see and why; for the administrator."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.pages.tools.access import content
from inspector.app.stream import View
from inspector.app.tool_keys import ToolKeys
from inspector.core.access import AccessPolicy, user_rows
from widgets import KeyBar, RecordList


class AccessScreen(ToolKeys):
    """Who may see which tools. A restricted user sees the own tools here, and the way back."""

    page = "access"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#access-users RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "see_as", "view as", id="access.see_as"),
        Binding("c", "compare", "compare with", id="access.compare"),
        Binding("u", "expert", "expert", id="access.expert"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Every user in the policy, with tool counts by server. Below: the chosen user's tools, each",
        "with the grants that cover it. A tool without a grant does not exist for that user.",
        "c marks a user to compare with. + only the chosen user sees the tool, − only the marked user.",
        "u applies the next expert, whose allowlist narrows every grant.",
        "Press a to start a session as the chosen user. The page then shows only that user's tools;",
        "press a again to return to the administrator view.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._compared = ""
        self._expert = ""
        self._drawn: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(id="access-facts", markup=False)
        yield RecordList(content.USER_COLUMNS, header=True, empty=content.NO_USERS, id="access-users")
        yield RecordList(content.TOOL_COLUMNS, header=True, empty=content.NO_TOOLS, id="access-tools")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#access-users").border_title = "Users"
        self.show_view(self.view)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the session has the policy
        tools, policy = self.session.catalog.tools, self.session.access_policy
        drawn = (tools, policy, self.session.sight, self._compared, self._expert)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        facts = content.facts(policy, self.session.sight, tools, self._expert)
        self.query_one("#access-facts", Static).update(facts)
        users = self.query_one("#access-users", RecordList)
        users.display = policy is not None
        if policy is not None:
            users.records = content.user_records(user_rows(policy, tools, self._expert), self._compared)
        elif not self.query_one("#access-tools RecordRows").has_focus:
            self.query_one("#access-tools", RecordList).focus()
        self._show_tools()

    @on(RecordList.Highlighted, "#access-users")
    def _show_tools(self) -> None:
        listed = self.query_one("#access-tools", RecordList)
        session, user = self.session, self._user
        tools, policy = session.catalog.tools, session.access_policy
        if policy is None:
            listed.empty = content.NO_POLICY if session.sight.is_whole else content.NO_TOOLS
            listed.border_title = "Tools"
            listed.records = () if session.sight.is_whole else content.own_records(session.sight, tools)
            return
        if not user:
            listed.records = ()
            return
        self._show_of(policy, user, listed)

    def _show_of(self, policy: AccessPolicy, user: str, listed: RecordList) -> None:
        """Show the tools of a user, or the difference to the marked one."""
        tools, sight = self.session.catalog.tools, policy.sight(user, self._expert)
        if self._compared in policy.users and self._compared != user:
            listed.empty = content.NO_DIFFERENCE
            listed.border_title = "Difference from the marked user"
            other = policy.sight(self._compared, self._expert)
            listed.records = content.difference_records(sight, other, tools)
        else:
            listed.empty, listed.border_title = content.NO_TOOLS, "This user's tools"
            listed.records = content.tool_records(sight, tools)

    @property
    def _user(self) -> str:
        current = self.query_one("#access-users", RecordList).current
        return current.key if current is not None and self.session.access_policy is not None else ""

    @property
    def tool_id(self) -> str:
        current = self.query_one("#access-tools", RecordList).current
        return current.key if current is not None else ""

    @on(RecordList.Selected, "#access-tools")
    def _open(self) -> None:
        if self.tool_id:
            self.open_tool(self.tool_id)

    def action_see_as(self) -> None:
        """Begin a session as the chosen user; from a user's own session, go back to the administrator."""
        if self.session.access_policy is None and self.session.sight.is_whole:
            self.warn("There is no policy.")
        else:
            self.context.see_as(self._user, self._expert if self._user else "")

    def action_compare(self) -> None:
        """Compare the others with the chosen user, or no longer."""
        if self._user:
            self._compared = "" if self._compared == self._user else self._user
            self.show_view(self.view)

    def action_expert(self) -> None:
        """Look through the next expert; after the last one, through none."""
        policy = self.session.access_policy
        if policy is not None and policy.experts:
            names = ["", *policy.experts]
            at = names.index(self._expert) if self._expert in names else 0
            self._expert = names[(at + 1) % len(names)]
            self.show_view(self.view)
