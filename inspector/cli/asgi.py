"""A web application on this machine, served for as long as its command runs."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from uvicorn import Server

LOCAL_HOST: Final = "127.0.0.1"
MOST_CONNECTIONS: Final = 100


def asgi_server(app: Any, *, port: int = 0, has_lifespan: bool = False) -> "Server":
    """A server of an ASGI app that says nothing by itself; `serve` runs it, also on a socket that is open."""
    from uvicorn import Config, Server

    class Quiet(Server):
        """Leaves signals to the command that it is part of."""

        def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
            return nullcontext()

    config = Config(app, LOCAL_HOST, port, ws="none", log_config=None, access_log=False)
    config.lifespan = "on" if has_lifespan else "off"
    config.limit_concurrency, config.timeout_graceful_shutdown = MOST_CONNECTIONS, 1
    return Quiet(config)


@asynccontextmanager
async def on_free_port(app: Any, *, has_lifespan: bool = False) -> AsyncIterator[int]:
    """Serve an ASGI app on a free port of the loopback interface until the context ends; gives the port."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind((LOCAL_HOST, 0))
        server = asgi_server(app, has_lifespan=has_lifespan)
        serving = asyncio.create_task(server.serve([listener]))
        try:
            while not server.started:
                await asyncio.sleep(0.01)
                if serving.done():
                    serving.result()
            yield listener.getsockname()[1]
        finally:
            # What has a lifespan ends it itself; nothing else of a stand-in is waited for.
            server.should_exit, server.force_exit = True, not has_lifespan
            await serving
