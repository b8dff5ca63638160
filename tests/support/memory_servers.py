"""Servers in memory, and the connector that reaches them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any

from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.config.server_change import ConfigurationEditor, FileChange, ServerChange
from inspector.config.text_edit import with_item, without_member
from inspector.core.error import (
    CallTimeout,
    ConfigError,
    ConnectError,
    ConnectTimeout,
    ProtocolError,
    ServerExited,
    ToolsightError,
)
from inspector.core.message import OnTask, TaskState, ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import Era, ServerInfo, ServerSpec, SkippedTool
from inspector.core.tool import Tool
from inspector.mcp.frame import FrameLog
from inspector.mcp.port import Opening, SessionClient, ignored
from inspector.schema.json_value import JsonObject, compact

Answer = Callable[[str, JsonObject], Awaitable[ToolResult]]


async def echo(_tool: str, arguments: JsonObject) -> ToolResult:
    """Answer any call with its arguments."""
    return ToolResult(compact(dict(arguments)), structured=dict(arguments))


class MemoryServer:
    """A server for a MemoryConnector: what it lists and answers, and how it fails.

    `fault` is raised instead of connecting; a server that `hangs` never answers the handshake;
    `list_error` is raised instead of listing tools; `stderr` is what its process would have written.
    `requests` has those that are no call and no list; they time out once `silent` is set, if it is an event.
    `answers` has their results by method, or what makes them of the params; without any all are empty.
    `lists` counts the requests for the list, and each sets `listed`. Each call goes through the states of
    `tasks`. Nothing crosses a wire: `log` has what a test puts there.
    """

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        *,
        answer: Answer = echo,
        info: ServerInfo | None = None,
        skipped: Sequence[SkippedTool] = (),
        fault: ConnectError | None = None,
        hangs: bool = False,
        list_error: ToolsightError | None = None,
        stderr: str = "",
    ) -> None:
        self.tools = tuple(tools)
        self.answer = answer
        self.info = info or ServerInfo()
        self.skipped = tuple(skipped)
        self.fault = fault
        self.hangs = hangs
        self.list_error = list_error
        self.stderr = stderr
        self.eras: list[Era | None] = []
        self.calls: list[tuple[str, JsonObject]] = []
        self.requests: list[tuple[str, JsonObject]] = []
        self.silent: asyncio.Event | None = None
        self.answers: dict[str, Any] = {}
        self.lists = 0
        self.page = 1_000
        self.listed = asyncio.Event()
        self.links: list[MemoryLink] = []
        self.log = FrameLog()
        self.tasks: Sequence[TaskState] = ()

    def change(self, tools: Sequence[Tool]) -> None:
        """List other tools from now on, and notify clients."""
        self.tools = tuple(tools)
        self.notify()

    @property
    def client(self) -> SessionClient:
        """The client of the newest connection."""
        client = self.links[-1].client
        assert client is not None
        return client

    def notify(self) -> None:
        """Notify clients that the list changed."""
        for link in self.links:
            link.on_tools_changed()

    def die(self, message: str = "The process ended with exit code 1") -> None:
        """End every connection from the server's side."""
        for link in tuple(self.links):
            link.end(message)


class MemoryLink:
    """A ServerLink to a MemoryServer, which may ask its `client`."""

    def __init__(self, server: MemoryServer, opening: Opening) -> None:
        self.info = server.info
        self.client = opening.client
        self.on_tools_changed = opening.on_tools_changed
        self._server = server
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def end(self, message: str) -> None:
        """End the connection; only the first message is kept."""
        if not self._ended.done():
            self._ended.set_result(message)

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        """List the tools; each page but the last has `page` of them."""
        self._require_open()
        self._server.lists += 1
        self._server.listed.set()
        if self._server.list_error is not None:
            raise self._server.list_error
        for listed in range(self._server.page, len(self._server.tools), self._server.page):
            progress(listed)
        return ToolListing(self._server.tools, self._server.skipped)

    async def call(
        self, tool: str, arguments: JsonObject, *, timeout: float, on_task: OnTask = ignored
    ) -> ToolResult:
        self._require_open()
        for state in self._server.tasks:
            on_task(state)
        self._server.calls.append((tool, arguments))
        answer = asyncio.ensure_future(self._server.answer(tool, arguments))
        both: set[asyncio.Future[Any]] = {answer, self._ended}
        try:
            await asyncio.wait(both, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            self._require_open()
            if not answer.done():
                raise CallTimeout(f"{tool} did not return within {timeout:g} s")
            return answer.result()
        finally:
            answer.cancel()

    async def request(self, method: str, params: JsonObject, *, timeout: float) -> JsonObject:
        self._require_open()
        self._server.requests.append((method, params))
        if self._server.silent is not None:
            await self._server.silent.wait()
            raise CallTimeout(f"{method} was not answered within {timeout:g} s")
        await asyncio.sleep(0)
        answer = self._server.answers.get(method)
        if answer is None and self._server.answers:
            raise ProtocolError(f"{method}: Method not found (-32601)")
        try:
            async with asyncio.timeout(timeout):
                made = answer(params) if callable(answer) else answer or {}
                return await made if isawaitable(made) else made
        except TimeoutError:
            raise CallTimeout(f"{method} was not answered within {timeout:g} s") from None

    async def wait_closed(self) -> ServerExited:
        return self._exit(await asyncio.shield(self._ended))

    def stderr_tail(self) -> str:
        return self._server.stderr

    def _require_open(self) -> None:
        if self._ended.done():
            raise self._exit(self._ended.result())

    def _exit(self, message: str) -> ServerExited:
        return ServerExited(message, stderr_tail=self._server.stderr)


class MemoryConnector:
    """A Connector to the given servers, by name, and a Wire."""

    def __init__(self, servers: Mapping[str, MemoryServer]) -> None:
        self.servers = servers

    def frames(self, server: str) -> FrameLog:
        """See `Wire`."""
        return self.servers[server].log

    @asynccontextmanager
    async def connect(self, spec: ServerSpec, opening: Opening) -> AsyncGenerator[MemoryLink, None]:
        server = self.servers[spec.name]
        server.eras.append(opening.era)
        if server.hangs:
            await asyncio.sleep(spec.connect_timeout)
            raise ConnectTimeout("The handshake did not finish in time", stderr_tail=server.stderr)
        if server.fault is not None:
            raise server.fault
        link = MemoryLink(server, opening)
        server.links.append(link)
        try:
            yield link
        finally:
            server.links.remove(link)
            link.end("The connection was closed")


_SECTION = ("mcpServers",)
_TEXT = '{"mcpServers": {"shop": {"command": "shop"}}}'


class MemoryEditor(ConfigurationEditor):
    """Keeps the file as `text`; `fault` is raised instead of writing, and `written` counts the changes."""

    def __init__(self, text: str = _TEXT, *, fault: ConfigError | None = None) -> None:
        super().__init__({})
        self.text = text
        self.fault = fault
        self.written = 0

    def with_server(self, configuration: Configuration, name: str, entry: JsonObject) -> ServerChange:
        """The configuration with a server made of the entry."""
        text = with_item(self.text, (*_SECTION, name), dict(entry))
        spec = ServerSpec(
            name,
            command=str(entry.get("command", "")),
            args=tuple(entry.get("args", ())),
            env=dict(entry.get("env", {})),
            url=str(entry.get("url", "")),
            headers=dict(entry.get("headers", {})),
            defer_loading=True,
        )
        return self._becomes(configuration, name, (*configuration.servers, spec), text)

    def without_server(self, configuration: Configuration, name: str) -> ServerChange:
        """The configuration without the server. Raises ConfigError if the file has none of that name."""
        servers = tuple(spec for spec in configuration.servers if spec.name != name)
        try:
            text = without_member(self.text, _SECTION, name)
        except KeyError as error:
            raise ConfigError(f"the file has no server '{name}'") from error
        return self._becomes(configuration, name, servers, text)

    def _becomes(
        self, configuration: Configuration, name: str, servers: tuple[ServerSpec, ...], text: str
    ) -> ServerChange:
        change = FileChange(configuration.source, self.text.encode(), text.encode())
        return ServerChange(name, replace(configuration, servers=servers), change)

    def write(self, change: FileChange) -> str:
        """Write the text if it is as it was. Raises ConfigError."""
        if self.fault is not None:
            raise self.fault
        if self.text.encode() != change.before:
            raise ConfigError(f"{change.path} has changed in the meantime, so it was left alone")
        self.text, self.written = change.after.decode(), self.written + 1
        return f"{change.path}.bak"
