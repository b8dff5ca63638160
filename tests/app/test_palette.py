"""The command palette: every command, found by name and by what it does."""

from textual.command import DiscoveryHit, Hit
from textual.content import Content
from textual.pilot import Pilot

from fixtures.hostile import HOSTILE
from inspector.app.command import COMMANDS, shown_keys
from inspector.app.palette import CommandSource
from inspector.app.place import PLACES
from inspector.core.tool import Tool
from tests.support.app import app_rig
from tests.support.memory_servers import MemoryServer
from tests.widgets.hostile import dangerous


async def _source(pilot: Pilot[None]) -> CommandSource:
    source = CommandSource(pilot.app.screen)
    await source.startup()
    return source


async def _found(pilot: Pilot[None], query: str) -> list[Hit]:
    return [hit async for hit in (await _source(pilot)).search(query) if isinstance(hit, Hit)]


async def test_tools_servers_sessions_and_settings_are_found_by_name() -> None:
    async with app_rig(settled=True) as (pilot, rig):
        wanted = {
            "tool shop:refund_order": "refund_order",
            "server weather": "weather",
            f"session {rig.bench.session_id}": "session s",
            "setting binding.capacity": "capacity",
        }
        for title, query in wanted.items():
            assert title in [str(hit.prompt) for hit in await _found(pilot, query)]


async def test_names_of_servers_and_tools_are_never_markup() -> None:
    tools = {tool.id: tool for tool in (Tool("shop", text[:100], "x") for text in HOSTILE.values())}
    async with app_rig(servers={"shop": MemoryServer([*tools.values()])}) as (pilot, _):
        hits = await _found(pilot, "tool")
        assert not dangerous("".join(str(hit.prompt) for hit in hits))
        assert all(Content.from_markup(hit.prompt) is hit.prompt for hit in hits)  # type: ignore[arg-type]


async def test_every_command_stands_there_before_anything_is_typed() -> None:
    async with app_rig() as (pilot, _):
        hits = [hit async for hit in (await _source(pilot)).discover()]
        assert all(isinstance(hit, DiscoveryHit) for hit in hits)
        assert [hit.help for hit in hits][: len(COMMANDS)] == [command.help for command in COMMANDS]
        for hit, command in zip(hits, COMMANDS, strict=False):
            assert shown_keys(command) in str(hit.prompt)
        titles = [str(hit.prompt) for hit in hits]
        several = [place for place in PLACES if len(place.pages) > 1]
        assert all(f"{place.title}: {page.title}" in titles for place in several for page in place.pages)
