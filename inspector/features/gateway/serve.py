"""Runs the gateway over stdio or HTTP: the session begins with the first request of a client."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

from mcp import MCPError
from mcp.server import NotificationOptions, Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import ListenHandler
from mcp.types import INTERNAL_ERROR, MISSING_REQUIRED_CLIENT_CAPABILITY, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec.structs import replace

from inspector import __version__
from inspector.cli.asgi import LOCAL_HOST, asgi_server, on_free_port
from inspector.cli.composition import make_workbench, mcp_connector, open_memory
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import TerminalApprover, require_consent
from inspector.cli.launch import say_failures
from inspector.cli.options import Options
from inspector.cli.table import say
from inspector.clients.client import client_name
from inspector.config.configuration import setting_values
from inspector.core.error import CapabilityMissing, ConfigError, ToolsightError
from inspector.core.events import Origin
from inspector.core.ports import Approver
from inspector.core.server import Era
from inspector.features.gateway.asking import EVERYTHING, TASKS, ClientRelay, Context, declared
from inspector.features.gateway.gateway import TASK_METHODS, Gateway
from inspector.features.gateway.news import News
from inspector.loop.approval import AllowedBefore
from inspector.loop.breaker import MemoryBreakers
from inspector.mcp.client.connector import NoThread
from inspector.mcp.port import Nobody
from inspector.session.workbench import Workbench
from inspector.tokens.synthetic import CODE

_INSTRUCTIONS = (
    "More tools than are listed: search_tools finds them by what they do. Search before you say that "
    "something cannot be done."
)
_METHODS = (
    *("tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"),
    *("resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get"),
    *("completion/complete", "logging/setLevel"),
)
_OLDER = frozenset({"resources/subscribe", "resources/unsubscribe", "logging/setLevel"})
_NEWER = (frozenset(_METHODS) | TASK_METHODS) - _OLDER
_UNKNOWN = "client"


class Front:
    """The side of the gateway that clients see, before and while there is a session behind it."""

    def __init__(self) -> None:
        self.relay = ClientRelay()
        self.news = News(self.relay)
        self._first: asyncio.Future[Context] = asyncio.get_running_loop().create_future()
        self.gateway: asyncio.Future[Gateway] = asyncio.get_running_loop().create_future()
        self.server: Server[dict[str, object]] = Server(
            "toolsight",
            version=__version__,
            title="Toolsight",
            instructions=_INSTRUCTIONS,
            on_subscriptions_listen=ListenHandler(self.news.bus),
        )
        for method in _METHODS:
            self.server.add_request_handler(method, RequestParams, _declared)
        self.server.extensions = {TASKS: {}}
        # In place of the SDK's own, which traces each request for nobody.
        self.server.middleware[:] = [self._answer]

    async def _answer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method not in (_NEWER if _is_modern(ctx) else _METHODS):
            return await call_next(ctx)
        if not self._first.done():
            self._first.set_result(ctx)
        try:
            return dict(await (await asyncio.shield(self.gateway)).answer(ctx))
        except CapabilityMissing as error:
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, error.message, error.data) from error
        except ToolsightError as error:
            raise MCPError(INTERNAL_ERROR, f"{error.message}. {error.hint}".strip()) from error

    async def first(self) -> Context:
        """The first request that needs a session, with what its client says of itself."""
        return await self._first


async def _declared(_context: Context, _params: RequestParams) -> HandlerResult:
    """What stands for a method among those that the SDK declares; the middleware answers in its place."""
    return {}


async def over_stdio(front: Front) -> None:
    """Serve one client until it closes its end."""
    if sys.stdin.isatty():
        say("An MCP client starts this; `toolsight gateway add` puts it into one's configuration.", err=True)
    options = front.server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (reads, writes):
        await front.server.run(reads, writes, options)


async def over_http(front: Front, port: int) -> None:
    """Serve clients on this machine at `/mcp` until the program ends; they share one session."""
    app = front.server.streamable_http_app(host=LOCAL_HOST)
    say(f"serving at http://{LOCAL_HOST}:{port}/mcp", err=True)
    await asgi_server(app, port=port, has_lifespan=True).serve()


async def serve(
    options: Options,
    front: Front,
    serving: Awaitable[object],
    *,
    is_shared: bool = False,
    approver: Approver | None = None,
) -> None:
    """Serve clients, and run a session for them from the first request until the serving ends.

    If it `is_shared`, servers are told that clients can be asked anything, as one of them may. Without an
    `approver` the client asks before calls; a session with one is not recorded.
    Raises ToolsightError; what fails as the session begins is also told to the client that waits for it.
    """
    served = asyncio.ensure_future(serving)
    first = asyncio.ensure_future(front.first())
    try:
        opened, memory = read_configuration(options), open_memory(options)
        require_consent(opened.unrestricted, memory, approve=options.approve)
        await asyncio.wait({served, first}, return_when=asyncio.FIRST_COMPLETED)
        if first.done():
            chosen = replace(options, implied={**_implied(first.result(), is_shared), **options.implied})
            front.relay.first = first.result()
            bench = make_workbench(
                opened.unrestricted,
                chosen,
                approver or TerminalApprover(yes=True),
                memory,
                elicitor=Nobody("the gateway's client cannot be asked"),
                record=approver is None,
                breakers=None if approver is None else MemoryBreakers(),
                heard=front.news.heard,
                relay=front.relay,
                # What a client can be asked, and the tasks it gets, come only in its own protocol.
                servers=mcp_connector(
                    chosen,
                    starts=Era.MODERN if _is_modern(first.result()) else Era.LEGACY,
                    thread=NoThread() if approver is None else None,
                ),
            )
            _require_calls(bench)
            async with bench:
                bench.connect(_origin(first.result()))
                gc.freeze()  # As in the app: no look for garbage goes through what has been imported.
                front.gateway.set_result(Gateway(bench, front.relay, front.news))
                await served
                await front.relay.end()
                say_failures(bench.state.servers.values())
        await served
    except ToolsightError as error:
        if not front.gateway.done():
            front.gateway.set_exception(error)
            # Nobody may wait for it yet.
            front.gateway.exception()
            await asyncio.sleep(0)
        raise
    finally:
        served.cancel()
        first.cancel()
        await asyncio.wait({served, first})


@asynccontextmanager
async def open_gateway(options: Options) -> AsyncIterator[tuple[str, asyncio.Future[Gateway]]]:
    """Serve a client of this process at an address; raises ToolsightError at the end if the session failed.

    Calls that may change something are refused without --yes, but for the demo's.
    """
    front, over = Front(), asyncio.Event()
    approver = TerminalApprover(yes=True) if options.yes or options.demo else AllowedBefore(frozenset())
    app = front.server.streamable_http_app(host=LOCAL_HOST)
    async with on_free_port(app, has_lifespan=True) as port:
        served = asyncio.create_task(serve(options, front, over.wait(), is_shared=True, approver=approver))
        try:
            yield f"http://{LOCAL_HOST}:{port}/mcp", front.gateway
        finally:
            over.set()
            await served


def _require_calls(bench: Workbench) -> None:
    if bench.settings.binding.delivery == CODE:
        raise ConfigError(
            "binding.delivery is code, but a gateway's client calls tools and sends no scripts",
            hint="Set binding.delivery to call_tool, or leave it out.",
        )


def _implied(context: Context, is_shared: bool) -> dict[str, Any]:
    """The settings that a client brings; a list that never changes serves any, and keeps a prompt cache."""
    can = EVERYTHING if is_shared else declared(context.session.client_capabilities)
    return {"binding.delivery": "call_tool", **setting_values(can)}


def _is_modern(context: Context) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _origin(context: Context) -> Origin:
    """The client, as it names itself."""
    params = context.session.client_params
    info = params.client_info if params is not None else None
    name = client_name(info.name) if info is not None else _UNKNOWN
    return Origin(name, info.version if info is not None else "", file="gateway")
