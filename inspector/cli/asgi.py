"""A web application on this machine, served for as long as its command runs."""

from contextlib import AbstractContextManager, nullcontext
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
