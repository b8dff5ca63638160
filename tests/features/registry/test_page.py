"""The registry page: its list and filter, versions, the search by meaning, what fills it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace
from textual.pilot import Pilot

from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.definition import definition_hash
from inspector.core.tool import Tool
from inspector.features.registry import registered_text as content
from inspector.features.registry.acceptance import RegisteredTool, SyncReport
from inspector.features.registry.feature import REGISTRY
from inspector.features.registry.library import Overview, RegistryLibrary, Synchronised
from inspector.features.registry.page import RegistryScreen
from tests.support.app import app_rig, goes, said, seen, toasts, until
from tests.support.canned import REFUNDS, canned_library
from tests.support.hostile import with_hostile_text
from tests.support.office import office
from tests.support.workbench import Rig
from widgets import RecordList


@asynccontextmanager
async def page(
    library: RegistryLibrary | None, policy: Callable[[], AccessPolicy] | None = None
) -> AsyncGenerator[tuple[Pilot[None], Rig]]:
    """The page; with a policy as ada sees it."""

    def beside(rig: Rig) -> dict[Any, object]:
        if library is None or policy is None:
            return {REGISTRY: library}
        return {REGISTRY: RegistryLibrary(library.opened, library.embedder, lambda: rig.bench.sight)}

    values = {"access.policy": "p", "access.user": "ada"} if policy is not None else {}
    opening = app_rig(servers=office(), policy=policy, values=values, size=(120, 36), beside=beside)
    async with opening as (pilot, rig):
        await goes(pilot, "registry")
        yield pilot, rig


def listed(pilot: Pilot[None]) -> list[str]:
    return [record.key for record in pilot.app.screen.query_one("#registry-tools", RecordList).records]


async def test_tools_are_listed_with_what_each_version_changed_and_filtered_by_id() -> None:
    async with page(canned_library()) as (pilot, _):
        await until(pilot, lambda: "version 3" in seen(pilot))
        await until(pilot, lambda: "15 tools from 6 origins" in seen(pilot))
        told = said(pilot, "#detail")
        assert "+ Mails the customer a note." in told
        assert told.index("version 3") < told.index("version 2") < told.index("first version seen")
        assert "not in this session" in told
        await pilot.press("l")
        await until(pilot, lambda: content.NOT_CONNECTED in toasts(pilot))
        await pilot.press("end", "enter")
        assert pilot.app.screen.query_one("#registry-right").has_focus
        await pilot.press("slash", *"PARCEL")
        await until(pilot, lambda: listed(pilot) == ["shop:track_parcel", "warehouse:find_parcel"])
        await until(pilot, lambda: "2 tools with “PARCEL”" in seen(pilot))
        await pilot.press(*"zz")
        await until(pilot, lambda: "No id contains this text" in seen(pilot))


def _granted(*patterns: str) -> AccessPolicy:
    return AccessPolicy({"ada": User("ada", "acme")}, (Grant(Scope.USER, "ada", "acme", patterns),))


async def test_a_user_sees_what_is_permitted_until_its_grant_goes_and_fills_nothing() -> None:
    now = [_granted("warehouse:*", "shop:track*")]
    shown = ["shop:track_parcel", "warehouse:count_stock", "warehouse:find_parcel"]
    async with page(canned_library(), policy=lambda: now[0]) as (pilot, rig):
        await until(pilot, lambda: listed(pilot) == shown)
        await until(pilot, lambda: "3 tools from 2 origins" in seen(pilot))
        await pilot.press("i", "m")
        await until(pilot, lambda: toasts(pilot).count("only the administrator") == 2)
        await pilot.press("f", *"stock", "enter")
        await until(pilot, lambda: "nearest tools" in seen(pilot))
        assert "invoice" not in seen(pilot)
        now[0] = _granted("shop:track*")
        await rig.bench.read_policy_again()
        await until(pilot, lambda: listed(pilot) == shown[:1])
        await until(pilot, lambda: "1 tool from 1 origin" in seen(pilot))
        assert "count_stock" not in seen(pilot)


async def test_a_search_orders_tools_by_their_cosine_and_esc_lists_all_again() -> None:
    async with page(canned_library()) as (pilot, _):
        await until(pilot, lambda: len(listed(pilot)) == 15)
        await pilot.press("f", *"count stock", "enter")
        await until(pilot, lambda: "nearest tools to “count stock”" in seen(pilot))
        assert listed(pilot)[0] == "warehouse:count_stock"
        await until(pilot, lambda: "Count the pieces" in said(pilot, "#detail"))
        await pilot.press("escape")
        await until(pilot, lambda: listed(pilot)[0] == "billing:refund_invoice")
        assert isinstance(pilot.app.screen, RegistryScreen)


def test_what_is_gone_or_left_out_is_told_with_its_reason() -> None:
    done = (Synchronised("a", SyncReport(1, 2, 3, 4)), Synchronised("b", why="it is not connected"))
    told = "1 server: 1 new, 2 changed, 3 unchanged, 4 removed\nskipped b: it is not connected"
    assert content.synchronised(done) == told
    gone = [RegisteredTool(REFUNDS[0], "o", 1, "h", 1.0, is_there=False)]
    assert "removed from its origin" in content.detail(gone, connected=True).plain


def test_the_facts_name_the_biggest_origins_and_what_is_not_embedded() -> None:
    origins = {"a": 1, "b": 30, "c": 2, "d": 2, "e": 2000}
    told = content.facts(Overview(origins, "m", 1000)).plain
    assert told.startswith("2,035 tools from 5 origins: e 2,000, b 30, c 2, d 2, and 1 more")
    assert told.endswith("1,000 embedded (49 %), m embeds the rest")
    assert content.facts(Overview(origins)).plain.endswith("no embeddings")
    assert "m embeds" not in content.facts(Overview(origins, "m", 1000), whole=False).plain
    # Who may see nothing is not told whether there is something.
    assert str(content.facts(Overview(), whole=False)) == content.empty(whole=False)


@with_hostile_text
def test_hostile_text_is_shown_harmless(text: str) -> None:
    one = Tool(text[:100], text[:100], text)
    versions = [
        RegisteredTool(one, text, 2, definition_hash(one), 1e308),
        RegisteredTool(replace(one, description="x"), text, 1, "h", -1e308, is_there=False),
    ]
    drawn = [
        content.detail(versions, connected=False).plain,
        content.facts(Overview({text: 1}, "m", 0)).plain,
        content.synchronised([Synchronised(text, why=text)]),
        content.title(1, 2, text),
        content.found_title(1, text),
    ]
    assert not any(character in "".join(drawn) for character in "\x1b\x00\x9b\u202e\x07\r")
