"""Hostile text from servers and models on every page: no crash, and nothing that a terminal obeys."""

import pytest

from fixtures.hostile import HOSTILE, hostile_tools
from inspector.core.error import ConnectError
from inspector.core.message import ToolResult
from inspector.core.server import ServerInfo, SkippedTool
from inspector.core.tool import Annotations, Tool
from inspector.schema.json_value import JsonObject
from tests.support.app import app_rig, goes, seen, until
from tests.support.fakes import calls, says, searches
from tests.support.hostile import KINDS
from tests.support.memory_servers import MemoryServer
from tests.support.tools_page import opened, strip
from tests.support.workbench import shop_and_weather
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines

EVIL = "\x1b[2J\x9b31m\u202e[@click=app.quit()]x[/] a[/]b \x00"
# A megabyte in each of a dozen places is slow to count, and shows nothing that 20 kB do not.
SHORTENED = {name: text[:20_000] for name, text in HOSTILE.items()}


async def answer(_tool: str, _arguments: JsonObject) -> ToolResult:
    return ToolResult("\n".join(SHORTENED.values()), structured=dict(SHORTENED))


def hostile_servers() -> dict[str, MemoryServer]:
    tools = [
        Tool(
            "hostile",
            tool["name"],
            str(tool["description"])[:20_000],
            tool["inputSchema"] if len(str(tool["inputSchema"])) < 50_000 else {"type": "object"},
            Annotations(read_only=True),
        )
        for tool in hostile_tools()
    ]
    info = ServerInfo(name=EVIL, version=EVIL, protocol="2025-11-25", summary=EVIL)
    fault = ConnectError(EVIL, hint=EVIL, stderr_tail="\n".join(SHORTENED.values()))
    return {
        "hostile": MemoryServer(tools, answer=answer, info=info, skipped=[SkippedTool(EVIL, EVIL)]),
        "broken": MemoryServer([], fault=fault),
        "calc": shop_and_weather()["calc"],
    }


@pytest.mark.slow
async def test_no_page_lets_hostile_text_through() -> None:
    name = hostile_tools()[0]["name"]
    steps = (
        searches(query=EVIL, tool_names=[name]),
        calls((f"hostile:{name}", {EVIL: EVIL})),
        calls((EVIL, {"x": EVIL})),
        says("\n".join(SHORTENED.values())),
    )
    async with app_rig(*steps, servers=hostile_servers(), size=(80, 24), at_home=True) as (pilot, rig):
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: bool(rig.store.read("s", kinds=("end",))))
        for keys in ((), ("f2", "end"), ("f3",), ("f5",), ("f6", "end", "up", "up"), ("f7",)):
            await pilot.press(*keys)
            await pilot.pause()
            shown = lines(pilot.app)
            assert any(line.strip() for line in shown)
            assert not dangerous("".join(shown)), keys


@pytest.mark.parametrize(
    ("page", "begins", "keys"),
    [
        ("findings", "(space shows them)", ("space", *(("down", "enter", "escape") * 2 * len(KINDS)))),
        ("budget", "2 servers", ("o", "down", "P", "d", "end")),
        ("tool", "deferred", ("right",) * 6),
    ],
)
async def test_no_text_of_a_tool_does_harm(page: str, begins: str, keys: tuple[str, ...]) -> None:
    def schema(text: str) -> JsonObject:
        choice = {"type": "string", "enum": [text, "plain"], "default": text, "description": text}
        return {"type": "object", "properties": {text: {"type": "string"}, "choice": choice}}

    servers = {
        name: MemoryServer([Tool(name, text, text, schema(text), title=text) for text in KINDS.values()])
        for name in ("a", "b")
    }
    async with app_rig(servers=servers, size=(80, 24)) as (pilot, _):
        if page == "tool":
            await opened(pilot, f"a:{KINDS['terminal']}")
            strip(pilot).focus()
        else:
            await goes(pilot, page)
        await until(pilot, lambda: begins in seen(pilot))
        for key in keys:
            assert not dangerous("".join(lines(pilot.app))), key
            await pilot.press(key)
            await pilot.pause()
        assert not dangerous("".join(lines(pilot.app)))
