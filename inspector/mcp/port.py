"""What a session uses of servers, as interfaces: connections, what crosses them, and whom a server asks."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from inspector.core.error import ServerExited
from inspector.core.events import Decision as Decision
from inspector.core.message import ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.mcp.elicitation import Action, ElicitationAnswer, ElicitationRequest
from inspector.mcp.frame import FrameLog
from inspector.schema.json_value import JsonObject


def ignored(count: int) -> None:
    """Takes progress that nobody is interested in."""


class ClientSide(Protocol):
    """Toolsight as the client of one server: what it declares, and how it answers what the server asks.

    A connector calls it in the event loop that opened the connection. Its methods raise ClientRefusal for
    what the server does not get.
    """

    @property
    def capabilities(self) -> ClientCapabilities:
        """What is declared; it does not change while the connection is open."""

    def roots(self) -> tuple[str, ...]:
        """The absolute paths of the folders that the server may know."""

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Ask the person, and wait as long as the answer takes; cancelled if the server withdraws it."""

    def sample(self, message: str) -> None:
        """Refuse an answer of the model; `message` is what the server would have it read."""

    def completed(self, elicitation: str) -> None:
        """Note that what a server wanted at an address is done; ignored if nobody agreed to the visit."""

    def withdraw(self) -> None:
        """Cancel the questions that nobody has answered: whom they were asked is gone."""


class ServerLink(Protocol):
    """An open connection to one server. Any task may use it; only its owner task closes it."""

    @property
    def info(self) -> ServerInfo: ...

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        """List all pages; `progress` gets the number of tools after each that another one follows.

        A page that cannot be listed is skipped, with those after it. Raises ProtocolError if it is the first
        one, ServerExited if the server is gone.
        """

    async def call(self, tool: str, arguments: JsonObject, *, timeout: float) -> ToolResult:
        """Call a tool by its plain name. `timeout` is in seconds. A tool error is a value, not an exception.

        Raises CallTimeout, ServerExited or ProtocolError.
        """

    async def wait_closed(self) -> ServerExited:
        """Wait until the connection is lost and return why."""

    def stderr_tail(self) -> str:
        """The last lines that the server's process wrote to stderr; empty for HTTP."""


class Connector(Protocol):
    """Opens connections. Entering the context raises ConnectError (with the stderr tail) on failure.

    After the spec's `connect_timeout` that is ConnectTimeout; a canceled entry leaves nothing running.
    """

    def connect(
        self,
        spec: ServerSpec,
        *,
        era: Era | None,
        on_tools_changed: Callable[[], None],
        client: ClientSide | None = None,
    ) -> AbstractAsyncContextManager[ServerLink]:
        """Connect. `era` is the one that worked last time, if any; `on_tools_changed` only sets a flag.

        Without a `client` nothing is declared, and whatever the server asks for is refused.
        """


class Wire(Protocol):
    """What is exchanged with the servers, as it crosses the wire."""

    def frames(self, server: str) -> FrameLog:
        """The log of a server by its name, over all its connections; it is empty before the first."""


class Elicitor(Protocol):
    """Asks the person what a server wants to know, and waits as long as the answer takes.

    A question that is cancelled is taken away.
    """

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer: ...


class Nobody:
    """An `Elicitor` where there is nobody to ask."""

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:  # noqa: ARG002
        """Decline."""
        return ElicitationAnswer(Action.DECLINE, why="there is nobody to ask")
