"""The page of what could be installed, driven by keys."""

from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.app.dialogs.approver import QuestionDialog
from inspector.app.place import SearchPage
from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.marketplace import Suggestion
from inspector.core.package_run import PackageKind
from inspector.core.ranking import Score, SearchRequest
from inspector.features.marketplace.marketplace import marketplace_of, suggestion
from inspector.features.marketplace.page import (
    BLOCKED,
    COLUMNS,
    INSTALLED,
    MarketplaceScreen,
    VariablesDialog,
    columns,
    detail,
    row,
)
from inspector.features.marketplace.plugin import Plugin
from inspector.features.search.page import SearchScreen
from tests.support.app import app_rig, arrives, goes, said, seen, until
from tests.support.hostile import with_hostile_text
from tests.support.marketplace import CURRENCY, RATES, market, plugin, servers_and_money
from tests.support.memory_servers import MemoryEditor
from tests.support.workbench import configured, shop_and_weather
from tests.widgets.hostile import dangerous
from widgets import RecordList

CONFIGURED = configured(shop_and_weather())
PLUGINS = "#plugins"


def _keys(pilot: Pilot[None]) -> list[str]:
    return [row.key for row in pilot.app.screen.query_one(PLUGINS, RecordList).shown]


async def _shown(pilot: Pilot[None]) -> None:
    await goes(pilot, "marketplace")
    await until(pilot, lambda: isinstance(pilot.app.screen, MarketplaceScreen))


async def test_a_person_installs_after_a_yes_to_the_exact_command_and_removes_it_again() -> None:
    editor = MemoryEditor()
    ports = market(editor=editor)
    async with app_rig(servers=servers_and_money(), configuration=CONFIGURED, marketplace=ports) as (
        pilot,
        rig,
    ):
        await _shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
        text = seen(pilot)
        assert "run-currency currency.py" in text
        assert "test.json would change; a backup is kept next to it" in text
        await pilot.press("enter")
        await pilot.press("i", "escape")
        assert editor.written == 0
        assert isinstance(pilot.app.screen, MarketplaceScreen)
        await pilot.press("i", "left", "enter")
        await until(pilot, lambda: bool(rig.events("installed")))
        await until(pilot, lambda: "installed as currency" in said(pilot, "#detail"))
        assert "currency:convert_currency" in rig.bench.state.tools
        await pilot.press("delete")
        await until(pilot, lambda: "will be disconnected" in seen(pilot))
        await pilot.press("left", "enter")
        await until(pilot, lambda: bool(rig.events("removed")))
        assert editor.written == 2


async def test_a_restricted_user_is_refused_before_anything_is_asked_or_shown() -> None:
    policy = AccessPolicy(
        {"ada": User("ada", "acme")}, (Grant(Scope.USER, "ada", "acme", ("shop:*", "weather:*")),)
    )
    values = {"access.policy": "p", "access.user": "ada"}
    opening = app_rig(
        servers=servers_and_money(),
        configuration=configured(servers_and_money()),
        marketplace=market(problems=["/home/somebody/catalog.json: broken"]),
        policy=lambda: policy,
        values=values,
    )
    async with opening as (pilot, rig):
        await _shown(pilot)
        # The server that runs is the currency plugin's, but nothing of it may be seen.
        assert "3 plugins, 0 installed" in seen(pilot)
        assert "only the administrator can install and remove" in seen(pilot)
        assert "could not be read" not in seen(pilot)
        for keys in (("enter",), ("d",), ("down", "down", "i")):
            await pilot.press(*keys)
            await pilot.pause()
            assert isinstance(pilot.app.screen, MarketplaceScreen)
        told = [toast.message for toast in pilot.app._notifications]
        assert len([one for one in told if "only the administrator can" in one]) == 2
        assert "would change" not in seen(pilot)
        assert marketplace_of(rig.bench).problems == ()


async def test_a_plugin_that_needs_a_key_asks_for_it_first_and_never_shows_it() -> None:
    async with app_rig(configuration=CONFIGURED, marketplace=market()) as (pilot, _):
        await _shown(pilot)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, VariablesDialog))
        pilot.app.screen.query_one(Input).value = "sk-secret-value-123"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
        assert "QUOTE_TOKEN" in seen(pilot)
        assert "sk-secret-value-123" not in seen(pilot)


async def test_a_query_ranks_the_plugins_and_says_by_which_text() -> None:
    async with app_rig(configuration=CONFIGURED, marketplace=market()) as (pilot, _):
        await _shown(pilot)
        assert _keys(pilot) == ["currency", "plants", "keyed"]
        await pilot.press("f", *"euro", "enter")
        await until(pilot, lambda: _keys(pilot) == ["currency"])
        assert "matches its tool convert_currency" in said(pilot, "#detail")
        await pilot.press("escape")
        await until(pilot, lambda: len(_keys(pilot)) == 3)


async def test_find_shows_plugins_apart_from_tools_and_enter_opens_one() -> None:
    async with app_rig(configuration=CONFIGURED, marketplace=market()) as (pilot, _):
        await goes(pilot, "search")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen))
        await arrives(pilot, SearchPage(SearchRequest(RATES)))
        await until(pilot, lambda: "◇" in seen(pilot))
        found = pilot.app.screen.query_one("#found", RecordList)
        found.move_to("\0plugin currency")
        found.focus()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, MarketplaceScreen))
        assert pilot.app.screen.query_one("#query", Input).value == RATES


def test_what_cannot_be_installed_is_marked_and_says_why() -> None:
    blocked = plugin("far", "Far away.", kind=PackageKind.REMOTE, obstacle="it offers only the SSE transport")
    assert row(blocked, "", None, COLUMNS).cells[0] == BLOCKED
    assert "cannot be installed here: it offers only the SSE transport" in str(detail(blocked, "", None))
    assert row(CURRENCY, "money", None, COLUMNS).cells[0] == INSTALLED


def test_fits_price_and_rating_have_columns_only_where_a_plugin_of_the_list_has_one() -> None:
    untold = replace(CURRENCY, name="untold", price=None, rating=None)
    free = replace(untold, name="free", price=0.0)
    found = suggestion(untold, 0.5, "", Score("untold:about", 1.0))
    assert _table((untold, None)) == {"plugin": "untold", "category": "test", "tools": "1"}
    assert list(_table((untold, None), (CURRENCY, None))) == [
        "plugin",
        "category",
        "price",
        "rating",
        "tools",
    ]
    assert _table((untold, None), (free, None))["price"] == "?"
    assert _table((untold, found))["fits"] == "50 %"


def _table(*shown: tuple[Plugin, Suggestion | None]) -> dict[str, str]:
    """The first row by its headers, without its mark."""
    headers = [column.header for column in columns(shown)]
    cells = row(shown[0][0], "", shown[0][1], columns(shown)).cells
    return {header: str(cell) for header, cell in zip(headers, cells, strict=True) if header}


@with_hostile_text
def test_hostile_texts_of_a_catalog_do_not_reach_the_terminal(text: str) -> None:
    hostile = plugin(text or "x", text, obstacle=text, identifier=text, args=(text,))
    shown = str(detail(replace(hostile, version=text, publisher=text), text, None))
    assert not dangerous(shown.replace("\n", ""))
