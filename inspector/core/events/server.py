"""Events of a server: its connection, what it asks its client, and the answers."""

from typing import Literal

from inspector.core.definition import ToolDefinition
from inspector.core.events.base import Event, Group
from inspector.core.message import arguments_text
from inspector.core.number import count, milliseconds
from inspector.core.server import ChangedFile, ServerInfo, SkippedTool
from inspector.schema.json_value import JsonObject


class ServerConnecting(Event, frozen=True, kind="connecting", groups={Group.SERVERS}, tone="muted"):
    """A connection is opened; `declared` is what the server is told that its client can do.

    `changed_files` are the files it runs that are not as they were when a person approved them.
    """

    server: str
    target: str = ""
    declared: tuple[str, ...] = ()
    changed_files: tuple[ChangedFile, ...] = ()

    def summary(self) -> str:
        changed = f"  ⚠ {', '.join(file.brief for file in self.changed_files)}" if self.changed_files else ""
        return f"{self.server}  {self.target}{changed}"


class ServerListing(Event, frozen=True, kind="listing", groups={Group.SERVERS}, routine=True):
    """A server with many tools has listed so many of them."""

    server: str
    tools: int

    def summary(self) -> str:
        return f"{self.server}  {count(self.tools, 'tool')} so far"


class ServerReady(Event, frozen=True, kind="ready", groups={Group.SERVERS}):
    """A server connected. `tokens` counts its definitions.

    `milliseconds` runs from start to tool list, and is 0 if nobody measured it.

    `definitions` holds those that differ from what the server listed before in this session. `added` and
    `removed` are names of tools, beside what it listed last: at `since` if that was in an earlier session.
    `approved_version` is another version than its `info` has now, which it had when it was approved.
    """

    server: str
    tools: int
    tokens: int
    info: ServerInfo = ServerInfo()
    skipped: tuple[SkippedTool, ...] = ()
    milliseconds: float = 0.0
    definitions: tuple[ToolDefinition, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    since: float = 0.0
    approved_version: str = ""

    def summary(self) -> str:
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        took = f", {milliseconds(self.milliseconds)}" if self.milliseconds else ""
        size = f", {count(self.tokens, 'token')}" if self.tokens or not self.tools else ""
        news = f"; since last time {self._news}" if self._news else ""
        return f"{self.server}  {count(self.tools, 'tool')}{skipped}{size}{took}{news}"

    @property
    def _news(self) -> str:
        both = ((len(self.added), "new"), (len(self.removed), "gone"))
        return ", ".join(f"{number:,} {what}" for number, what in both if number)


class ServerFailed(Event, frozen=True, kind="failed", groups={Group.SERVERS, Group.ERRORS}, tone="error"):
    """A server that could not be used. With `needs_login`, it waits for a person to log in."""

    server: str
    reason: str
    hint: str = ""
    stderr_tail: str = ""
    needs_login: bool = False

    def summary(self) -> str:
        return f"{self.server}  {self.reason}"


class MessagePassed(Event, frozen=True, kind="message", groups={Group.SERVERS}, tone="muted", routine=True):
    """A JSON-RPC message crossed a tap, to the server if it was `sent`.

    `method` is that of the request for a reply; "" if unknown, or if it is no message at all. `size` is in
    bytes; `text` has the beginning of a long one. `milliseconds` is how long a reply took, None for all else.
    """

    server: str
    sent: bool
    method: str
    id: str
    size: int
    text: str
    milliseconds: float | None = None

    def summary(self) -> str:
        took = f"  {milliseconds(self.milliseconds)}" if self.milliseconds is not None else ""
        return f"{self.server}  {'→' if self.sent else '←'} {self.method or 'not a message'}{took}"


class ServerStopped(Event, frozen=True, kind="stopped", groups={Group.SERVERS}):
    server: str

    def summary(self) -> str:
        return self.server


class ToolsChanged(Event, frozen=True, kind="tools", groups={Group.SERVERS}):
    """A connected server changed its tool list (`list_changed`); `tools` and `tokens` count the new one.

    `definitions` holds those that differ from what the server listed before in this session.
    """

    server: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    tools: int = 0
    tokens: int = 0
    skipped: tuple[SkippedTool, ...] = ()
    definitions: tuple[ToolDefinition, ...] = ()

    def summary(self) -> str:
        signs = (("+", self.added), ("-", self.removed), ("~", self.changed))
        names = [f"{sign}{name}" for sign, names in signs for name in names]
        skipped = [f"{len(self.skipped)} skipped"] if self.skipped and not names else []
        return "  ".join([self.server, *names, *skipped])


class SessionRenewed(Event, frozen=True, kind="renewed", groups={Group.SERVERS}, tone="warning"):
    """A server over HTTP forgot its session (HTTP 404); the request was sent again in a new one."""

    server: str

    def summary(self) -> str:
        return (
            f"{self.server}  forgot its session (HTTP 404); a new one was begun, and the request sent again"
        )


class TrustChanged(Event, frozen=True, kind="trust", groups={Group.SERVERS, Group.CALLS}):
    """From now on a server's claims about what its tools do are believed, or no longer."""

    server: str
    trusted: bool

    def summary(self) -> str:
        return f"{self.server}  {'trusted' if self.trusted else 'no longer trusted'}"


class LogLevelSet(Event, frozen=True, kind="log_level", groups={Group.SERVERS}, tone="muted"):
    """A server was asked to send log messages of this level and of more severe ones."""

    server: str
    level: str

    def summary(self) -> str:
        return f"{self.server}  sends log messages from {self.level} on"


ServerQuestion = Literal["roots", "form", "link", "sampling"]
_ASKS = {
    "roots": "asks for the folder",
    "form": "asks you to fill in a form",
    "link": "asks you to visit an address",
    "sampling": "asks the model for an answer",
}

_ASKED = {
    "roots": "the folder",
    "form": "a form",
    "link": "an address to visit",
    "sampling": "an answer from the model",
}


class ServerAsked(Event, frozen=True, kind="asked", groups={Group.SERVERS}):
    """A server asks its client for something. `fields` names what a form asks for.

    `url` is the address to visit without the values of its parameters, which may be valid once.
    """

    server: str
    what: ServerQuestion
    message: str = ""
    url: str = ""
    fields: tuple[str, ...] = ()

    @property
    def is_routine(self) -> bool:
        return self.what == "roots"

    @property
    def sentence(self) -> str:
        """What the server wants."""
        return f"{self.server} {_ASKS[self.what]}"

    def summary(self) -> str:
        detail = " ".join(self.message.split()) or self.url
        return f"{self.server}  {_ASKS[self.what]}" + (f": {detail}" if detail else "")


class ServerAnswered(Event, frozen=True, kind="answered", groups={Group.SERVERS}):
    """What a server was answered. `content` are the values of a form, without those that may be secret.

    Of an answer in place of a model it has the text, who gave it, and the tokens that were read and written.
    """

    server: str
    what: ServerQuestion
    answer: str
    why: str = ""
    content: JsonObject | None = None

    @property
    def is_routine(self) -> bool:
        return self.what == "roots" and not self.why

    @property
    def outcome(self) -> str:
        """What was asked and the answer."""
        return f"{_ASKED[self.what]}: {self.answer}"

    def summary(self) -> str:
        said = f"  {arguments_text(self.content)}" if self.content else ""
        return f"{self.server}  {self.outcome}" + (f", {self.why}" if self.why else "") + said


class ServerAskedOften(Event, frozen=True, kind="flood", groups={Group.SERVERS}, tone="warning"):
    """A server asks for something so often that only the number of times is recorded from now on."""

    server: str
    what: ServerQuestion
    times: int

    def summary(self) -> str:
        return f"{self.server}  {_ASKS[self.what]}, {count(self.times, 'time')} so far: counted, not recorded"


class ElicitationCompleted(Event, frozen=True, kind="completed", groups={Group.SERVERS}, tone="success"):
    """A server says that what it wanted at an address is done; `id` is the one of its question."""

    server: str
    id: str = ""

    def summary(self) -> str:
        return f"{self.server}  reports that the task at its address is done"
