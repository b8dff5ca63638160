"""Asks whether to end what an earlier run left running, before its servers are started anew."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.core.leftover import Leftover, ended_text, since_text
from inspector.core.number import count
from inspector.core.ports import Leftovers
from widgets import Choice, GuardedConfirm, plain

if TYPE_CHECKING:
    from textual.app import App

_LABEL_WIDTH = 9
_END, _KEEP = "end", "keep"
_CHOICES = (
    Choice("", "end them", _END),
    Choice("", "leave them running", _KEEP),
    Choice("", "not now", "no"),
)


async def ask_about_leftovers(app: "App[None]", leftovers: Leftovers) -> None:
    """Tell what an earlier run left, if anything, and do what a person says."""
    found = await asyncio.to_thread(leftovers.find)
    if not found:
        return
    dialog = GuardedConfirm("Left running by an earlier session", leftover_body(found), _CHOICES)
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
