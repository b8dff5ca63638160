"""The place Tools, opened at a tool or a server, and driven by keys."""

from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from inspector.app.place import Destination, ServerPage, ToolPage
from inspector.core.server import ServerInfo
from inspector.core.tool import Tool
from inspector.features.tools.page import ToolsScreen
from inspector.features.tools.panel import ServerPanel
from inspector.features.tools.tool_panel import ToolPanel
from inspector.mcp.frame import Frame, FrameKind
from inspector.schema.json_value import JsonObject
from tests.support.app import app_rig, goes, seen, until
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import Rig
from widgets import RecordList, ViewStrip

FORECAST = "weather:get_forecast"
SIDE_BY_SIDE, IN_TURNS = (120, 36), (80, 24)
GUIDE, LOGO, BOOK = "library://guide.md", "library://logo.png", "library://books/{isbn}"
BYTES = b"\x89PNG\r\n\x1a\n"
CAN = ("tools", "resources", "prompts", "completions")


def offering(**answers: Any) -> dict[str, MemoryServer]:
    """A server with two resources, a template and two prompts, some of whose answers are others."""
    server = MemoryServer([Tool("library", "lend", "Lend.")], info=ServerInfo("library", capabilities=CAN))
    texts = {GUIDE: {"text": "Open all day.", "mimeType": "text/markdown"}}
    texts[LOGO] = {"blob": b64encode(BYTES).decode(), "mimeType": "image/png"}

    def read(params: JsonObject) -> JsonObject:
        found = texts.get(params["uri"], {"text": f"About {params['uri']}"})
        return {"contents": [{"uri": params["uri"], **found}]}

    def complete(params: JsonObject) -> JsonObject:
        typed, books = params["argument"]["value"], ("978-1", "978-2", "123")
        return {"completion": {"values": [book for book in books if book.startswith(typed)]}}

    def prompt(params: JsonObject) -> JsonObject:
        said = f"Review {params['arguments'].get('book', 'nothing')}."
        blocks: list[Any] = [
            {"type": "text", "text": said},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        ]
        return {"messages": [{"role": "user", "content": one} for one in blocks]}

    server.answers = {
        "resources/list": {
            "resources": [
                {"uri": GUIDE, "name": "guide", "description": "When and where.", "size": 13},
                {"uri": LOGO, "name": "logo", "mimeType": "image/png"},
            ]
        },
        "resources/templates/list": {"resourceTemplates": [{"uriTemplate": BOOK, "name": "book"}]},
        "resources/read": read,
        "prompts/list": {
            "prompts": [
                {"name": "review", "arguments": [{"name": "book", "required": True}, {"name": "tone"}]},
                {"name": "greet"},
            ]
        },
        "prompts/get": prompt,
        "completion/complete": complete,
        **answers,
    }
    return {"library": server}


@asynccontextmanager
async def tools_page(
    at: str = "",
    view: str = "",
    *,
    servers: Mapping[str, MemoryServer] | None = None,
    size: tuple[int, int] = SIDE_BY_SIDE,
    beside: Mapping[str, Any] | None = None,
    **given: Any,
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    """The page at a tool (an id with a colon) or a server, in a view; without either, as it opens."""
    async with app_rig(servers=servers, size=size, beside=lambda _: beside or {}, **given) as (pilot, rig):
        await opened(pilot, at, view)
        yield pilot, rig


async def opened(pilot: Pilot[None], at: str = "", view: str = "") -> None:
    """Open the page in a running app."""
    if not at:
        await goes(pilot, "servers")
        await until(pilot, lambda: rows(pilot).current is not None)
        return
    destination: Destination = ToolPage(at) if ":" in at else ServerPage(at)
    if isinstance(pilot.app.screen, ToolsScreen):
        pilot.app.screen.arrive(destination)
    else:
        pilot.app.open(destination)  # type: ignore[attr-defined]
    await until(pilot, lambda: isinstance(pilot.app.screen, ToolsScreen))
    await until(pilot, lambda: shown(pilot) == at and not rows(pilot).rows.has_focus)
    if view:
        await choose(pilot, view)


async def choose(pilot: Pilot[None], view: str) -> None:
    """Step to a view, and put the focus into it."""
    strip(pilot).focus()
    for _ in strip(pilot).views:
        if strip(pilot).current == view:
            break
        await pilot.press("right")
    assert strip(pilot).current == view
    await pilot.press("down")


def rows(pilot: Pilot[None]) -> RecordList:
    """The list of servers and tools."""
    return pilot.app.screen.query_one("#catalog", RecordList)


def names(pilot: Pilot[None]) -> list[str]:
    """The names of the rows that are shown, as they are copied: of servers and ids of tools."""
    return [row.copy for row in rows(pilot).shown]


def shown(pilot: Pilot[None]) -> str:
    """The tool or the server that the detail is about."""
    screen = pilot.app.screen
    assert isinstance(screen, ToolsScreen)
    panel = next((panel for panel in screen.query("ToolPanel, ServerPanel") if panel.display), None)
    if isinstance(panel, ServerPanel):
        return panel.server.name if panel.server is not None else ""
    return screen.tool_id if isinstance(panel, ToolPanel) else ""


def strip(pilot: Pilot[None]) -> ViewStrip:
    """The names of the views that are shown."""
    return next(strip for strip in pilot.app.screen.query(ViewStrip) if strip.parent and strip.parent.display)


async def says(pilot: Pilot[None], text: str) -> None:
    """Wait until a text is on the screen."""
    await until(pilot, lambda: text in seen(pilot))


def crossed(
    server: MemoryServer, text: str, method: str = "tools/list", kind: FrameKind = FrameKind.REQUEST
) -> None:
    """Let a frame cross the wire of a server."""
    sent = kind is FrameKind.REQUEST
    took = None if sent else 3.0
    frame = Frame(server.log.total + 1, 1_772_438_400.5, sent, kind, method, "7", len(text), text, took)
    server.log.append(frame)
