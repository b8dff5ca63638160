"""The command palette: every page, command, tool, server, recorded session and setting, by name.

The first frame waits for this module, so it imports what it lists when it is opened.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.types import IgnoreReturnCallbackType

from inspector.app.command import COMMANDS, shown_keys
from inspector.app.place import PLACES
from inspector.core.error import ToolsightError

if TYPE_CHECKING:
    from inspector.app.context import Context

# A catalog may have thousands of tools; the best of these many are looked at.
_MOST = 20
# What only its help mentions comes after what is called so.
_BY_HELP = 0.1
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to go to or to do. `title` and `help` are safe to show."""

    title: str
    help: str
    run: IgnoreReturnCallbackType


class CommandSource(Provider):
    """Commands and pages at once; what a session holds is found by typing its name."""

    async def startup(self) -> None:
        """Read the recorded sessions while the palette opens."""
        self._sessions = await asyncio.to_thread(_sessions, cast("Context", self.app))

    async def discover(self) -> Hits:
        for entry in self._commands():
            yield DiscoveryHit(Content(entry.title), entry.run, entry.title, escaped(entry.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._commands():
            says_so = query.strip().casefold() in entry.help.casefold()
            score = matcher.match(entry.title) or (_BY_HELP if says_so else 0.0)
            if score > 0:
                yield _hit(score, entry)
        held = ((matcher.match(entry.title), entry) for entry in self._held())
        best = sorted((pair for pair in held if pair[0] > 0), key=lambda pair: -pair[0])
        for score, entry in best[:_MOST]:
            yield _hit(score, entry)

    def _commands(self) -> Iterator[Entry]:
        for command in COMMANDS:
            title = f"{command.title}   {shown_keys(command)}".rstrip()
            yield Entry(title, command.help, partial(self.app.run_action, command.action))
        for place in PLACES:
            for page in place.pages if len(place.pages) > 1 else ():
                action = partial(self.app.run_action, f"page('{page.name}')")
                yield Entry(f"{place.title}: {page.title}", page.help, action)

    def _held(self) -> Iterator[Entry]:
        """What the session holds: servers, tools, settings, and the recorded sessions."""
        from inspector.app.place import ServerPage, ToolPage
        from inspector.config.setting import knobs

        context = cast("Context", self.app)
        if not context.where.page:
            return
        session = context.session
        for server in session.state.servers.values():
            title = f"server {_safe(server.name)}"
            yield Entry(title, server.phase.value, partial(context.open, ServerPage(server.name)))
        for tool_id, tool in session.state.tools.items():
            yield Entry(
                f"tool {_safe(tool_id)}", tool.binding.value, partial(context.open, ToolPage(tool_id))
            )
        for knob in knobs():
            action = partial(self.app.run_action, f"settings('{knob.path}')")
            yield Entry(f"setting {knob.path}", knob.about, action)
        yield from self._sessions


def _hit(score: float, entry: Entry) -> Hit:
    return Hit(score, Content(entry.title), entry.run, entry.title, escaped(entry.help))


def escaped(text: str) -> str:
    """Return a text that Textual's palette, which reads it as markup, shows as it is."""
    return text.replace("[", "\\[")


def _sessions(context: "Context") -> tuple[Entry, ...]:
    """The recorded sessions; none if they cannot be read, which their page says."""
    from inspector.app.place import TracePage
    from inspector.core.number import count

    if not context.where.page:
        return ()
    try:
        found = context.replay.sessions()
    except ToolsightError:
        return ()
    return tuple(
        Entry(
            f"session {_safe(summary.id)}",
            f"{_safe(summary.config)}   {count(summary.events, 'event')}",
            partial(context.open, TracePage(summary.id)),
        )
        for summary in found
    )


def _safe(text: str) -> str:
    from widgets import visible

    return visible(text, limit=_LONGEST, newlines=False)
