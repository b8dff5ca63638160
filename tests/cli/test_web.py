"""The app in a browser: who is answered, and what passes between the page and the program."""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web

from inspector.cli import web as served
from inspector.cli.web import HOST, Site
from inspector.core.error import ConfigError

# Says how large its terminal is, repeats what is typed, and ends with an empty line.
_ECHO = """
import os
size = os.get_terminal_size()
print(f"<{size.columns}x{size.lines}>", flush=True)
while line := input():
    print(f"<{line.upper()}>", flush=True)
"""


@asynccontextmanager
async def site(folder: Path) -> AsyncIterator[tuple[ClientSession, str, str]]:
    """A browser's session, the address of the page, and the origin of its requests."""
    (folder / "terminal.js").write_text("1", encoding="utf-8")
    with socket.socket() as listening:
        listening.bind((HOST, 0))
        port = listening.getsockname()[1]
        found = Site([sys.executable, "-c", _ECHO], folder, port)
        runner = web.AppRunner(found.app())
        await runner.setup()
        await web.SockSite(runner, listening).start()
        try:
            async with ClientSession() as browser:
                yield browser, found.address, f"http://{HOST}:{port}"
        finally:
            await runner.cleanup()


@asynccontextmanager
async def opened(folder: Path, query: str = "") -> AsyncIterator[ClientWebSocketResponse]:
    """The connection of a page that was opened."""
    async with (
        site(folder) as (browser, address, origin),
        browser.ws_connect(f"{address}socket{query}", origin=origin) as connection,
    ):
        yield connection


async def shown(connection: ClientWebSocketResponse, wanted: str) -> str:
    """What the program has written when it has written what is wanted, or has ended."""
    text = ""
    while wanted not in text:
        message = await connection.receive()
        if message.type is not WSMsgType.BINARY:
            break
        text += message.data.decode()
    return text


async def test_only_the_page_itself_is_answered(tmp_path: Path) -> None:
    async with site(tmp_path) as (browser, address, origin):

        async def status(url: str, **headers: str) -> int:
            async with browser.get(url, headers=headers) as answer:
                return answer.status

        assert await status(address) == 200
        assert await status(f"{address}static/terminal.js") == 200
        assert await status(address, Origin=origin) == 200
        assert await status(f"{origin}/") == 404
        assert await status(f"{origin}/socket", Origin=origin) == 404
        assert await status(address, Host="example.com") == 403
        assert await status(address, Origin="http://example.com") == 403
        assert await status(f"{address}socket") == 403
        assert await status(f"{address}socket", Origin="null") == 403


async def test_the_page_asks_no_other_host_and_nobody_frames_it(tmp_path: Path) -> None:
    async with site(tmp_path) as (browser, address, _origin), browser.get(address) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "https:" not in await answer.text()


async def test_what_is_typed_reaches_the_program_and_what_it_writes_the_browser(tmp_path: Path) -> None:
    async with opened(tmp_path, "?width=100&height=31") as connection:
        assert "<100x31>" in await shown(connection, "<100x31>")
        await connection.send_json(["stdin", "grüße\r"])
        assert "<GRÜSSE>" in await shown(connection, "<GRÜSSE>")


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "[",
        "{}",
        '["stdin", 1]',
        '["resize", {"width": "1"}]',
        '["resize", {"width": -5, "height": 99999}]',
    ],
)
async def test_what_is_no_message_of_the_page_changes_nothing(tmp_path: Path, odd: str) -> None:
    async with opened(tmp_path, "?width=x&height=-1") as connection:
        assert "<80x24>" in await shown(connection, "<80x24>")
        await connection.send_str(odd)
        await connection.send_json(["stdin", "still here\r"])
        assert "<STILL HERE>" in await shown(connection, "<STILL HERE>")


async def test_the_end_of_the_program_is_that_of_the_connection(tmp_path: Path) -> None:
    async with opened(tmp_path) as connection:
        await shown(connection, "<80x24>")
        await connection.send_json(["stdin", "\r"])
        await shown(connection, "never written")
        assert connection.closed


async def test_who_opens_the_page_again_ends_what_was_open(tmp_path: Path) -> None:
    async with (
        site(tmp_path) as (browser, address, origin),
        browser.ws_connect(f"{address}socket", origin=origin) as first,
    ):
        await shown(first, "<80x24>")
        async with browser.ws_connect(f"{address}socket", origin=origin) as second:
            await shown(first, "never written")
            assert first.closed
            assert "<80x24>" in await shown(second, "<80x24>")


def test_without_the_extra_a_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError) as caught:
        served.browser_files()
    assert "toolsight[web]" in caught.value.hint
