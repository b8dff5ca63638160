"""The command palette: every command, found by name and by what it does."""

from textual.command import DiscoveryHit, Hit

from inspector.app.command import COMMANDS, shown_keys
from inspector.app.palette import CommandSource
from tests.support.app import app_rig


async def test_every_command_stands_there_before_anything_is_typed() -> None:
    async with app_rig() as (pilot, _):
        hits = [hit async for hit in CommandSource(pilot.app.screen).discover()]
        assert all(isinstance(hit, DiscoveryHit) for hit in hits)
        assert [hit.help for hit in hits] == [command.help for command in COMMANDS]
        for hit, command in zip(hits, COMMANDS, strict=True):
            assert shown_keys(command) in str(hit.prompt)


async def test_every_command_is_found_by_its_title() -> None:
    async with app_rig(settled=False) as (pilot, _):
        for command in COMMANDS:
            hits = [hit async for hit in CommandSource(pilot.app.screen).search(command.title)]
            assert all(isinstance(hit, Hit) for hit in hits)
            assert any(str(hit.prompt).startswith(command.title) for hit in hits), command.id


async def test_nothing_typed_breaks_the_search() -> None:
    async with app_rig(settled=False) as (pilot, _):
        for query in ("[/]", "[@click=app.quit()]", "\x1b[2J", "(", "zzzz" * 500):
            assert [hit async for hit in CommandSource(pilot.app.screen).search(query)] == [], query
