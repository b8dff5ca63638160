"""MCP over stdio and streamable HTTP, as a `Connector`; servers have an event loop in a thread of their own.

Importing this module is cheap. Importing the SDK takes about a second, and happens in the servers' thread
when the first connection is opened.
"""

import asyncio
import os
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from copy import copy
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Self, TypeVar, TypeVarTuple

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import AuthRequired, ConnectError, Fetched, ServerExited, command
from inspector.core.message import OnTask, ToolResult
from inspector.core.ports import SystemClock, ToolListing
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.mcp.frame import FrameLog, StderrLog, quiet_sdk
from inspector.mcp.port import Opening, ServerLink, ignored
from inspector.mcp.reaper import Reaper
from inspector.mcp.sign_in.person import LOOKING, SignInWay, Visitor
from inspector.schema.json_value import JsonObject

if TYPE_CHECKING:
    from inspector.mcp.client.link import McpLink


T = TypeVar("T")
_Ts = TypeVarTuple("_Ts")

if sys.platform == "linux" and sys.version_info < (3, 12):

    class _ChildWatcher(asyncio.ThreadedChildWatcher):
        """Has a thread wait for a process only once that has ended; later Pythons need none by themselves."""

        def add_child_handler(
            self, pid: int, callback: Callable[[int, int, *_Ts], object], *args: *_Ts
        ) -> None:
            reap, loop = super().add_child_handler, asyncio.get_running_loop()
            try:
                end = os.pidfd_open(pid)
            except OSError:  # Some containers forbid it.
                reap(pid, callback, *args)
                return

            def ended() -> None:
                loop.remove_reader(end)
                os.close(end)
                reap(pid, callback, *args)

            loop.add_reader(end, ended)

    asyncio.set_child_watcher(_ChildWatcher())

# Seconds that a person has for signing in.
_PATIENCE = 600.0


class ServerThread:
    """Runs coroutines for other event loops; the thread is there as long as `with` blocks use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        with self._lock:
            self._users += 1
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=_run, args=(self._loop,), name="servers", daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the thread. If the caller is cancelled, so is the work, and its end is awaited."""
        there, here = self._loop, asyncio.get_running_loop()
        assert there is not None
        ended: asyncio.Future[T] = here.create_future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(there.create_task(work))
            tasks[0].add_done_callback(tell)

        def tell(task: asyncio.Task[T]) -> None:
            # The caller's loop may be closed by now.
            with suppress(RuntimeError):
                here.call_soon_threadsafe(_settle, ended, task)

        there.call_soon_threadsafe(begin)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            there.call_soon_threadsafe(lambda: tasks[0].cancel())
            await asyncio.wait({ended})
            raise


class NoThread(ServerThread):
    """Runs them in the caller's event loop, for a program that has no keys and no screen to delay."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        return await work


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        # What still ends a process, though its caller would not wait, is let end.
        while others := asyncio.all_tasks(loop):
            loop.run_until_complete(asyncio.wait(others))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


def _settle(future: "asyncio.Future[T]", task: "asyncio.Task[T]") -> None:
    if future.done():
        return
    if task.cancelled():
        future.cancel()
    elif (error := task.exception()) is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())


class McpConnector:
    """Opens connections with the MCP SDK, and keeps what is exchanged over them."""

    def __init__(
        self,
        log_dir: Path,
        environment: Mapping[str, str] | None = None,
        reaper: Reaper | None = None,
        way: SignInWay | None = None,
        *,
        tries_older: bool = False,
        starts: Era | None = None,
        thread: ServerThread | None = None,
    ) -> None:
        """`log_dir` is for the servers' stderr and the SDK's log; `environment` defaults to `os.environ`.

        Without a `reaper` nobody ends the servers of a killed process; `way` is how HTTP servers are signed
        in to. Who `tries_older` learns which of them older clients cannot reach, by a handshake beside the
        session: an inspector's question, which no client has to ask. Servers that speak several eras speak
        the one that it `starts` with.
        """
        self._way = way
        self._tries_older, self._starts = tries_older, starts
        self._log_dir = log_dir
        self._clock = SystemClock()
        self._reaper = reaper
        self._frames: defaultdict[str, FrameLog] = defaultdict(FrameLog)
        self._environment = os.environ if environment is None else environment
        self._prepared = False
        self._thread = thread or ServerThread()

    def frames(self, server: str) -> FrameLog:
        """See `Wire`."""
        return self._frames[server]

    @asynccontextmanager
    async def connect(self, spec: ServerSpec, opening: Opening) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`. Raises ConnectTimeout after `spec.connect_timeout` seconds."""
        if not self._prepared:
            self._prepared = True
            quiet_sdk(self._log_dir)
        here, stderr = asyncio.get_running_loop(), StderrLog(self._log_dir, spec.name)
        frames = self._frames[spec.name]
        is_due = False

        def changed() -> None:
            # A server may say so any number of times before it is looked at.
            nonlocal is_due
            if not is_due:
                is_due = True
                here.call_soon_threadsafe(tell)

        def tell() -> None:
            nonlocal is_due
            is_due = False
            opening.on_tools_changed()

        opened: list[McpLink] = []

        async def open_there() -> None:
            from inspector.mcp.client.link import open_link
            from inspector.mcp.client.reader import Recorder
            from inspector.mcp.client.server_request import ServerRequests

            link = await open_link(
                spec,
                opening.era,
                environment=self._environment,
                reaper=self._reaper,
                stderr=stderr,
                new_recorder=lambda: Recorder(frames, self._clock),
                on_tools_changed=changed,
                requests=ServerRequests(spec.name, opening.client, here),
                way=self._way,
                tries_older=self._tries_older,
                starts=self._starts,
            )
            # Kept where it is opened: a caller that is cancelled in this moment is not told of it.
            opened.append(link)

        with self._thread as thread:
            try:
                await thread.run(open_there())
                yield _Link(opened[0], thread)
            finally:
                try:
                    for link in opened:
                        await thread.run(link.close())
                finally:
                    stderr.close()

    async def sign_in(self, spec: ServerSpec, visitor: Visitor) -> tuple[int, str]:
        """Sign in to a server anew. Returns how many tools it lists then, and where the sign-in is kept.

        That is "" for a server that wanted none. Raises ConnectError.
        """
        if self._way is None or self._way.is_stored_only:
            raise AuthRequired(
                "only stored sign-ins are used here (--stored-auth-only)",
                hint=f"Sign in where a person can: {command('servers', '--sign-in', spec.name)}.",
            )
        if spec.lacks:
            raise ConnectError(f"needs {spec.lacks}", hint=spec.advice)
        signing = copy(self)
        signing._way = replace(self._way, visitor=_Here(visitor, asyncio.get_running_loop()))
        patient = replace(spec, connect_timeout=_PATIENCE)
        async with signing.connect(patient, Opening()) as link:
            tools = len((await link.list_tools()).tools)
        is_kept = await asyncio.to_thread(self._way.kept.get, spec.url) is not None
        return tools, self._way.kept.place if is_kept else ""

    async def documents(self, spec: ServerSpec) -> tuple[Fetched, ...]:
        """What a client fetches before anybody signs in to a server; nothing is registered."""
        looking, way = copy(self), self._way
        looking._way = replace(way, visitor=_Nobody()) if way is not None else None
        client = replace(spec.oauth, client_id=spec.oauth.client_id or LOOKING)
        try:
            async with looking.connect(replace(spec, oauth=client), Opening()):
                return ()
        except AuthRequired as error:
            return error.documents

    async def sign_out(self, spec: ServerSpec) -> bool:
        """Forget the sign-in to a server; False if there was none. Raises StoreError."""
        return self._way is not None and await asyncio.to_thread(self._way.kept.remove, spec.url)


class _Nobody:
    """A visitor who only wanted to know where a sign-in leads."""

    async def visit(self, server: str, address: str) -> str:
        raise AuthRequired(f"nobody signs in to {server} at {address}")


class _Here(Struct, frozen=True):
    """A visitor that the servers' thread asks, and who answers in another event loop."""

    visitor: Visitor
    loop: asyncio.AbstractEventLoop

    async def visit(self, server: str, address: str) -> str:
        visit = self.visitor.visit(server, address)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(visit, self.loop))


def _told_here(report: Callable[[T], None]) -> Callable[[T], None]:
    """The same, called in this event loop whatever thread calls it."""
    here = asyncio.get_running_loop()

    def told(news: T) -> None:
        here.call_soon_threadsafe(report, news)

    return told


class _Link:
    """A link of the servers' thread, for use in any other."""

    def __init__(self, link: "McpLink", thread: ServerThread) -> None:
        self._link = link
        self._thread = thread

    @property
    def info(self) -> ServerInfo:
        return self._link.info

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        return await self._thread.run(self._link.list_tools(_told_here(progress)))

    async def call(
        self, tool: str, arguments: JsonObject, *, timeout: float, on_task: OnTask = ignored
    ) -> ToolResult:
        told = _told_here(on_task)
        return await self._thread.run(self._link.call(tool, arguments, timeout=timeout, on_task=told))

    async def request(self, method: str, params: JsonObject, *, timeout: float) -> JsonObject:
        return await self._thread.run(self._link.request(method, params, timeout=timeout))

    async def wait_closed(self) -> ServerExited:
        return await self._thread.run(self._link.wait_closed())

    def stderr_tail(self) -> str:
        return self._link.stderr_tail()
