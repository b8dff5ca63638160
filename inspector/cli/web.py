"""Serves the app to one browser on this machine: `toolsight --web`.

Behind the browser's terminal (xterm.js, as `textual-serve` brings it) stands the program in a pseudo-
terminal: it is the same app, with its start page and its questions. It ends with its connection.
"""

import asyncio
import fcntl
import json
import os
import pty
import secrets
import signal
import socket
import struct
import sys
import termios
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from aiohttp import WSMsgType, web

from inspector.cli.table import say
from inspector.core.error import ConfigError

HOST = "127.0.0.1"
# A browser says how large its terminal is; what is read of the program and sent at once, in bytes.
_LARGEST, _READ = 1_000, 65_536
# Seconds that the program has to end when its terminal is gone.
_ENDING = 3.0
# Keys go to the terminal as soon as something is shown, without a click.
_SCRIPT = """
addEventListener("load", () => {
  const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
  new MutationObserver(focus).observe(document.body, { attributeFilter: ["class"] });
});
"""
_HASH = b64encode(sha256(_SCRIPT.encode()).digest()).decode()
# Nothing but our own files: no other host is asked for anything, and no other page may frame this one.
_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; script-src 'self' 'sha256-{_HASH}'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Toolsight</title>
<link rel="stylesheet" href="static/css/xterm.css">
<link rel="icon" href="data:,">
<script src="static/js/textual.js"></script>
<script>{_SCRIPT}</script>
<style>
html, body {{ height: 100%; margin: 0; background: #16161e; color: #c8d3f5; overflow: hidden; }}
body {{ font: 16px monospace; }}
.textual-terminal {{ height: 100%; }}
#ended {{ display: none; padding: 2em; }}
body.-closed #ended {{ display: block; }}
body.-closed .textual-terminal {{ display: none; }}
</style>
</head>
<body>
<div class="textual-terminal" data-session-websocket-url="SOCKET" data-font-size="15"></div>
<p id="ended">Toolsight has ended, or was opened in another window. Reload the page to start it again.</p>
</body>
</html>
"""


def serve(arguments: Sequence[str]) -> None:
    """Serve the program with these arguments until ctrl+c. Raises ConfigError without the extra `web`."""
    files = browser_files()
    with socket.socket() as listening:
        listening.bind((HOST, 0))
        site = Site([sys.executable, "-m", "inspector", *arguments], files, listening.getsockname()[1])
        say(f"Toolsight is at {site.address}")
        say("One browser at a time can use it. ctrl+c ends it.")
        with suppress(KeyboardInterrupt):
            web.run_app(site.app(), sock=listening, print=None, shutdown_timeout=_ENDING, access_log=None)


def browser_files() -> Path:
    """The folder of the terminal's script and style. Raises ConfigError if they are not installed."""
    found = find_spec("textual_serve")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    if not folders:
        hint = "Install `pip install 'toolsight[web]'`, or `pipx inject toolsight textual-serve`."
        raise ConfigError("a browser needs the extra `web`", hint=hint)
    return Path(folders[0]) / "static"


class Site:
    """A page under a path that nobody can guess, and the program of whoever opened it last."""

    def __init__(self, command: Sequence[str], files: Path, port: int) -> None:
        self._command = command
        self._files = files
        self._hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self._path = f"/{secrets.token_urlsafe(24)}/"
        self.address = f"http://{HOST}:{port}{self._path}"
        self._open: web.WebSocketResponse | None = None
        self._turn = asyncio.Lock()

    def app(self) -> web.Application:
        """The page, its files and its socket; requests of other hosts and pages are refused."""
        app = web.Application(middlewares=[self._guard])
        app.add_routes(
            [
                web.get(self._path, self._page),
                web.get(f"{self._path}socket", self._socket),
                web.static(f"{self._path}static", self._files),
            ]
        )
        app.on_shutdown.append(self._close)
        return app

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse names that lead here from elsewhere (DNS rebinding), and requests of other pages."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        is_own = origin == f"http://{host}" or (origin is None and not request.path.endswith("/socket"))
        if host not in self._hosts or not is_own:
            raise web.HTTPForbidden(text="Only this machine's own browser page is answered.")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    async def _page(self, request: web.Request) -> web.Response:
        socket_url = f"ws://{request.headers['Host']}{self._path}socket"
        return web.Response(text=_PAGE.replace("SOCKET", socket_url), content_type="text/html")

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        """Run the program for this connection; one that is open ends first."""
        connection = web.WebSocketResponse(heartbeat=15)
        await connection.prepare(request)
        await self._close()
        async with self._turn:
            self._open = connection
            try:
                await Terminal(connection).run(self._command, _size(request.query))
            finally:
                await connection.close()
        return connection

    async def _close(self, _app: object = None) -> None:
        if self._open is not None:
            await self._open.close()


class Terminal:
    """A pseudo-terminal between a program and a browser."""

    def __init__(self, connection: web.WebSocketResponse) -> None:
        self._connection = connection

    async def run(self, command: Sequence[str], size: tuple[int, int]) -> None:
        """Run a program with so many columns and rows, until it or the connection ends."""
        leader, follower = pty.openpty()
        _resize(leader, size)
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environment,
            start_new_session=True,
        )
        os.close(follower)
        loop, shown = asyncio.get_running_loop(), asyncio.StreamReader(limit=_READ)
        keys, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(os.dup(leader), "wb", 0))
        screen, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(shown), os.fdopen(leader, "rb", 0)
        )
        showing = asyncio.create_task(self._show(shown))
        try:
            async for message in self._connection:
                if message.type is WSMsgType.TEXT and (new := await self._take(message.data, keys)):
                    _resize(leader, new)
                    process.send_signal(signal.SIGWINCH)
        finally:
            showing.cancel()
            keys.abort()
            screen.close()
            await _end(process)

    async def _show(self, shown: asyncio.StreamReader) -> None:
        """Send what the program writes; the end of its terminal is that of the connection."""
        with suppress(OSError):
            while data := await shown.read(_READ):
                await self._connection.send_bytes(data)
        await self._connection.close()

    async def _take(self, text: str, keys: asyncio.WriteTransport) -> tuple[int, int] | None:
        """Pass on what is typed; return the new size, if it is one."""
        with suppress(ValueError):
            match json.loads(text):
                case ["stdin", str(typed)]:
                    keys.write(typed.encode(errors="replace"))
                case ["resize", {"width": int(width), "height": int(height)}]:
                    return _bounded(width), _bounded(height)
                case ["ping", sent]:
                    await self._connection.send_str(json.dumps(["pong", sent]))
        return None


def _size(query: Mapping[str, str]) -> tuple[int, int]:
    """The columns and rows that a browser has."""
    width, height = query.get("width", ""), query.get("height", "")
    return _bounded(int(width) if width.isdecimal() else 80), _bounded(
        int(height) if height.isdecimal() else 24
    )


def _bounded(cells: int) -> int:
    return min(max(cells, 1), _LARGEST)


def _resize(terminal: int, size: tuple[int, int]) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Wait for the program, which leaves when its terminal is gone."""
    for end in (process.terminate, process.kill):
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _ENDING)
            return
        end()
    await process.wait()
