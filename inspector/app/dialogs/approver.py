"""Questions before something runs: approvals of calls, consent, what earlier runs left running."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from inspector.app.draw.line import MUTED, change_lines
from inspector.config.consent import ServerConsent, purpose, warnings_text
from inspector.core.number import count
from inspector.core.ports import ApprovalRequest, Decision, Leftovers
from inspector.core.report import Fact
from inspector.core.server import Leftover, ended_text, since_text
from inspector.schema.json_value import compact
from widgets import Choice, GuardedConfirm, plain, visible

if TYPE_CHECKING:
    from textual.app import App


_VALUE_LIMIT = 2000
_TRUSTING = (
    "Toolsight cannot verify the claim. For the rest of this session, “trust its claims” runs any tool that "
    "{} marks as read-only without asking."
)


def trusting(server: str) -> Content:
    """Return what it means to trust the claims of a server."""
    return Content.styled(_TRUSTING.format(visible(server, limit=60, newlines=False)), MUTED)


def approval_body(request: ApprovalRequest) -> Content:
    """Return the reason for asking, every argument on its own line, and what changed in the definition."""
    lines = [Content.assemble((f"{request.why[:1].upper()}{request.why[1:]}.", "$text-warning")), Content("")]
    for name, value in request.arguments.items():
        text = value if isinstance(value, str) else compact(value)
        lines.append(
            Content.assemble(
                plain(name, newlines=False).stylize("bold"), "  ", plain(text, limit=_VALUE_LIMIT)
            )
        )
    if not request.arguments:
        lines.append(Content.styled("no arguments", MUTED))
    if request.offers_trust:
        lines += [Content(""), trusting(request.tool.server)]
    if request.changes:
        lines += [Content(""), Content.styled("Changed since you were last asked", "$text-warning")]
        lines += change_lines(request.changes)
    return Content("\n").join(lines)


_TRUST = Choice("", "trust its claims", Decision.SERVER)
_CHOICES = (
    Choice("", "this session", Decision.SESSION),
    Choice("", "once", Decision.ONCE),
    Choice("", "no", Decision.NO),
)


class ModalApprover:
    """An `Approver` that asks on screen. It is created before the app and attached to it later."""

    def __init__(self, *, yes: bool = False) -> None:
        """With `yes`, every call is approved without asking."""
        self._yes = yes
        self._app: App[None] | None = None

    def attach(self, app: "App[None]") -> None:
        self._app = app

    async def ask(self, request: ApprovalRequest) -> Decision:
        if self._yes:
            return Decision.SESSION
        if self._app is None:
            return Decision.NO
        choices = (_TRUST, *_CHOICES) if request.offers_trust else _CHOICES
        dialog = GuardedConfirm(f"Call {request.tool.id}?", approval_body(request), choices)
        # A future instead of push_screen_wait, because any task may ask, not only a worker.
        answer = self._app.push_screen(dialog, wait_for_dismiss=True)
        return Decision(await answer or Decision.NO)


_LABEL_WIDTH = 9
TEXT_AT = 2 + _LABEL_WIDTH
"""The column at which the text of a line begins, and goes on if it is wrapped."""
_WARNING = "$text-warning"


def consent_body(source: str, servers: tuple[ServerConsent, ...]) -> Content:
    """Return the file, and for each server what decides what it runs; what to look at is marked with `!`."""
    runs = " with your permissions" if any(server.argv or server.executes for server in servers) else ""
    told = f"\nwould {purpose(servers)}{runs}:"
    head = Content.assemble(plain(source, newlines=False, exact=True).stylize("bold"), told)
    if warnings := warnings_text(servers):
        head = Content.assemble(head, "\n", (warnings, _WARNING))
    blocks = [head]
    for server in servers:
        name = plain(server.name, newlines=False, exact=True).stylize("bold $accent")
        blocks.append(Content("\n").join([name, *map(fact_line, server.facts())]))
    return Content("\n\n").join(blocks)


def fact_line(fact: Fact) -> Content:
    """A line of a question; what to look at before a yes is marked with `!`."""
    text = plain(fact.text, newlines=False, exact=True)
    if fact.warns:
        return Content.assemble((f"! {fact.label:<{_LABEL_WIDTH}}", _WARNING), text.stylize("bold"))
    return Content.assemble((f"  {fact.label:<{_LABEL_WIDTH}}", MUTED), text)


_YES = "yes"


class ChangeDialog(GuardedConfirm):
    """Shows what would be started and what would be written. The focus is on no, and esc means no."""

    DEFAULT_CSS = "ChangeDialog > Vertical { width: 100; }"

    def __init__(self, title: str, body: Content, yes: str, no: str = "no") -> None:
        super().__init__(title, body, (Choice("", yes, _YES), Choice("", no, "no")), indent=TEXT_AT)


class ConsentDialog(ChangeDialog):
    """Shows exactly what would run."""

    def __init__(self, source: str, servers: tuple[ServerConsent, ...]) -> None:
        body = consent_body(source, servers)
        super().__init__("Allow this configuration?", body, "allow it", "no, leave")

    @staticmethod
    def accepted(answer: str | None) -> bool:
        """Whether the dialog's answer is a yes."""
        return answer == _YES


_END, _KEEP = "end", "keep"
_LEFTOVER_CHOICES = (
    Choice("", "end them", _END),
    Choice("", "leave them running", _KEEP),
    Choice("", "not now", "no"),
)


async def ask_about_leftovers(app: "App[None]", leftovers: Leftovers) -> None:
    """Tell what an earlier run left, if anything, and do what a person says."""
    found = await asyncio.to_thread(leftovers.find)
    if not found:
        return
    dialog = GuardedConfirm("Left running by an earlier session", leftover_body(found), _LEFTOVER_CHOICES)
    answer = await app.push_screen_wait(dialog)
    if answer == _END:
        app.notify(f"Ending processes left behind by {count(len(found), 'server')} …", markup=False)
        left = await asyncio.to_thread(leftovers.end, found)
        app.notify(ended_text(left, found), severity="warning" if left else "information", markup=False)
    elif answer == _KEEP:
        await asyncio.to_thread(leftovers.keep, found)


def leftover_body(found: Sequence[Leftover]) -> Content:
    """Each server with its command, when it was started, and the processes that would be ended."""
    head = Content(
        "Toolsight was killed, or these processes outlived their server. "
        "“end them” sends SIGTERM, then SIGKILL."
    )
    return Content("\n\n").join([head, *map(_leftover, found)])


def _leftover(leftover: Leftover) -> Content:
    pids = ", ".join(map(str, leftover.pids)) + "  (detached from its server)" * leftover.detached
    facts = (
        ("command", leftover.command),
        ("started", since_text(leftover)),
        ("pids" if len(leftover.pids) > 1 else "pid", pids),
    )
    lines = [plain(leftover.server, newlines=False).stylize("bold $accent")]
    lines += [
        Content.assemble((f"  {label:<{_LABEL_WIDTH}}", MUTED), plain(value, newlines=False))
        for label, value in facts
    ]
    return Content("\n").join(lines)
