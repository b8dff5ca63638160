"""The page that asks what to open."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app.start import Opens, StartApp, Way
from tests.support.app import until
from tests.widgets.hostile import HOSTILE, dangerous
from tests.widgets.screen import lines
from widgets import RecordList

WAYS = (
    Way("recent", "python3 server.py", "", Opens(server=("python3", "server.py"))),
    Way("found", "Cursor  ~/.cursor/mcp.json", "notes, shop", Opens(config="/x/mcp.json")),
    Way("demo", "nine demo servers", "weather, …", Opens(demo=True)),
)


@asynccontextmanager
async def start(*ways: Way, refuses: str = "") -> AsyncIterator[tuple[Pilot[Opens], StartApp]]:
    def find() -> Sequence[Way]:
        return ways

    app = StartApp(find, lambda words: refuses and f"there is no command '{words[0]}'")
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: len(app.query_one(RecordList).records) == len(ways))  # type: ignore[arg-type]
        yield pilot, app


async def test_a_typed_server_is_opened_with_its_words() -> None:
    async with start(*WAYS) as (pilot, app):
        await pilot.press(*"npx -y".replace(" ", "_"), "enter")
        await pilot.pause()
        assert app.return_value == Opens(server=("npx_-y",))


async def test_arrows_and_enter_open_what_was_used_or_found() -> None:
    async with start(*WAYS) as (pilot, app):
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        assert app.return_value == WAYS[1].opens


async def test_what_cannot_be_opened_is_told_and_may_be_corrected() -> None:
    async with start(*WAYS, refuses="no") as (pilot, app):
        problem = app.query_one("#problem", Static)
        await pilot.press("enter")
        assert "Nothing to open" in str(problem.render())
        await pilot.press("quotation_mark", "x", "enter")
        assert "quote" in str(problem.render())
        await pilot.press("home", "delete", "enter")
        await until(pilot, lambda: "there is no command 'x'" in str(problem.render()))  # type: ignore[arg-type]
        assert app.is_running


async def test_hostile_names_are_shown_and_not_obeyed() -> None:
    ways = [Way(text, text, text, Opens(demo=True)) for text in HOSTILE]
    async with start(*ways) as (_, app):
        assert not dangerous("".join(lines(app)))
