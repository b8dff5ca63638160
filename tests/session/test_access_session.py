"""A session in which a policy says what may be seen."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import SessionStarted, ToolEvicted
from inspector.core.events.server import ServerFailed
from inspector.core.ports import Snapshot
from inspector.core.ranking import SearchRequest
from inspector.core.server import ServerInfo
from inspector.core.tool import Tool
from inspector.features.marketplace.marketplace import marketplace_of
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.store.store import MemoryStore
from tests.support.fakes import says
from tests.support.marketplace import market, servers_and_money
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.registry import embed_all, tool
from tests.support.workbench import Rig, configured, connected, happens, opened, shop_and_weather


def policy(experts: dict[str, tuple[str, ...]] | None = None, **tools: tuple[str, ...]) -> AccessPolicy:
    """A policy of one organisation, whose users have these patterns."""
    users = {name: User(name, "acme") for name in tools}
    grants = tuple(Grant(Scope.USER, name, "acme", patterns) for name, patterns in tools.items())
    return AccessPolicy(users, grants, experts or {})


BOTH = policy(ada=("shop:list*", "calc:*"), bob=("weather:*", "shop:*"))


def as_user(name: str, **more: Any) -> dict[str, Any]:
    """The values of a session that a user sees."""
    return {"access.policy": "policy.yaml", "access.user": name, **more}


def ids(rig: Rig) -> list[str]:
    return [tool.id for tool in rig.bench.catalog.tools]


async def test_free_text_of_a_server_is_for_who_may_see_all_that_it_could_have() -> None:
    servers = shop_and_weather()
    for server in servers.values():
        server.info = ServerInfo(summary="Refunds with refund_order.", instructions="Call refund_order.")
        server.stderr = "refund_order is registered"
    async with connected(servers=servers, policy=lambda: BOTH, values=as_user("ada")) as rig:
        assert rig.bench.setup.summaries.keys() == {"calc"}
        assert rig.bench.setup.instructions.keys() == {"calc"}
        assert rig.bench.stderr("shop") == ""
        assert rig.bench.stderr("calc") == "refund_order is registered"
        assert rig.bench.wire("shop") is None
        assert rig.bench.wire("calc") is not None
        assert rig.bench.offers("shop") is None
        assert rig.bench.offers("calc") is not None


async def test_a_failed_server_is_explained_to_who_may_see_all_of_it() -> None:
    servers = shop_and_weather()
    async with connected(servers=servers, policy=lambda: BOTH, values=as_user("ada")) as rig:
        servers["shop"].die("refund_order crashed")
        await _until(rig, "failed")
        (failed,) = rig.events(ServerFailed.kind)
        assert (failed.reason, failed.stderr_tail) == ("is not available", "")


async def test_without_a_user_nothing_is_visible_and_a_hint_says_so() -> None:
    async with connected(policy=lambda: BOTH, values={"access.policy": "policy.yaml"}) as rig:
        assert ids(rig) == []
        assert not rig.bench.state.servers
        (problem,) = rig.bench.state.problems
        assert "no tools are visible" in problem.text
        assert "--user" in problem.hint


async def test_an_unknown_user_or_expert_is_an_error() -> None:
    with pytest.raises(ConfigError, match="there is no user 'adda'") as raised:
        async with connected(policy=lambda: BOTH, values=as_user("adda")):
            pass
    # Whoever mistypes a name is nobody yet, and reads nobody's.
    assert "ada" not in raised.value.hint
    assert "toolsight config access" in raised.value.hint
    with pytest.raises(ConfigError, match="there is no access policy"):
        async with connected(values={"access.user": "ada"}):
            pass
    with pytest.raises(ConfigError, match="needs a user"):
        async with connected(policy=lambda: BOTH, values={"access.policy": "p", "access.expert": "e"}):
            pass


async def test_a_loaded_tool_goes_when_its_grant_goes() -> None:
    now = [BOTH]
    async with connected(policy=lambda: now[0], values=as_user("bob")) as rig:
        rig.bench.load("shop:refund_order")
        now[0] = policy(ada=("shop:*",), bob=("weather:*", "shop:list*"))
        await rig.bench.read_policy_again()
        (evicted,) = rig.events(ToolEvicted.kind)
        assert (evicted.tool, evicted.cause) == ("shop:refund_order", "access")
        assert evicted.reason == "it is not available to you any more"
        assert ids(rig) == ["shop:list_orders", "weather:get_forecast"]
        assert rig.loaded == []
        with pytest.raises(ToolsightError, match="there is no tool"):
            await rig.bench.call("shop:refund_order", {})


async def test_a_policy_that_cannot_be_read_again_stays() -> None:
    def broken() -> AccessPolicy:
        raise ConfigError("policy.yaml:3: shop:refund_order is wrong", hint="shop:refund_order")

    now = [lambda: BOTH]
    async with connected(policy=lambda: now[0](), values=as_user("ada")) as rig:
        now[0] = broken
        await rig.bench.read_policy_again()
        (failed,) = rig.events("error")
        assert "refund" not in f"{failed.message} {failed.hint}"
        assert ids(rig) == ["shop:list_orders", "calc:evaluate"]


async def test_seeing_as_another_begins_a_session_that_knows_nothing_of_the_one_before() -> None:
    steps = (says("Bob has a secret."), says("Hello Ada."))
    async with connected(*steps, policy=lambda: BOTH, values=as_user("bob")) as rig:
        await rig.bench.chat("my secret question")
        rig.bench.change_setting("chat.system_prompt", "a secret prompt")
        rig.bench.load("shop:refund_order")
        await rig.bench.see_as("ada")
        await rig.bench.wait_connected()
        assert rig.bench.session_id == "s-2"
        assert rig.bench.state.user == "ada"
        (shop,) = (event for event in rig.events("ready") if event.server == "shop")
        assert [one.tool is not None for one in shop.definitions] == [True]
        assert (shop.added, shop.removed) == ((), ())
        assert ids(rig) == ["shop:list_orders", "calc:evaluate"]
        assert rig.bench.state.conversation.items == ()
        assert "secret" not in rig.bench.settings.chat.system_prompt
        await rig.bench.chat("hello")
        request = rig.model.requests[-1]
        assert "secret" not in repr(request)
        assert "secret" not in repr(rig.bench.records())
        assert rig.servers["shop"].lists == 1


async def test_seeing_as_nobody_is_the_administrators_way_back() -> None:
    async with connected(policy=lambda: BOTH, values=as_user("ada")) as rig:
        await rig.bench.see_as("")
        await rig.bench.wait_connected()
        assert len(ids(rig)) == 4
        assert not rig.bench.state.is_restricted
        (started,) = rig.events(SessionStarted.kind)
        assert (started.user, started.restricted) == ("", False)


async def test_a_user_reads_the_sessions_recorded_of_that_user_alone() -> None:
    store = MemoryStore()
    async with connected(policy=lambda: BOTH, values=as_user("bob"), store=store) as rig:
        store.written_elsewhere.add("s")
        await rig.bench.see_as("ada")
        assert [one.id for one in rig.bench.recorded_sessions()] == ["s-2"]
        assert rig.bench.recorded("s") == []
        assert list(rig.bench.recorded_stream("s", ())) == []
        assert rig.bench.recorded_between("s", 0, 9) == []
        assert not rig.bench.is_recorded_elsewhere("s")
        await rig.bench.see_as("bob")
        assert {one.id for one in rig.bench.recorded_sessions()} == {"s", "s-3"}
        assert rig.bench.recorded("s")
        assert list(rig.bench.recorded_stream("s", ()))
        assert rig.bench.recorded_between("s", 0, 9)
        assert rig.bench.is_recorded_elsewhere("s")


async def test_who_sees_is_no_setting_of_a_running_session() -> None:
    async with connected(policy=lambda: BOTH, values=as_user("ada")) as rig:
        for path in ("access.user", "access.policy", "access.expert"):
            with pytest.raises(ConfigError, match="cannot change during"):
                rig.bench.change_setting(path, "bob")
            with pytest.raises(ConfigError, match="cannot change during"):
                rig.bench.reset_setting(path)


async def test_a_grant_that_matches_no_tool_is_an_error_of_its_holder() -> None:
    wrong = policy(ada=("shop:list*", "shop:refnd*"), bob=("weather:nothing",))
    async with connected(policy=lambda: wrong, values=as_user("ada")) as rig:
        (problem,) = rig.bench.state.problems
        assert (problem.entry, problem.severity) == ("shop:refnd*", "error")
        assert "refund" not in problem.full
        await rig.bench.see_as("")
        await rig.bench.wait_connected()
        assert {one.entry for one in rig.bench.state.problems} == {"shop:refnd*", "weather:nothing"}


async def test_what_changed_since_last_time_is_told_of_permitted_tools_alone() -> None:
    async with opened(policy=lambda: BOTH, values=as_user("ada")) as rig:
        shop = next(spec for spec in rig.bench.configuration.servers if spec.name == "shop")
        kept = rig.servers["shop"].tools[0]
        before = (kept, Tool("shop", "hidden_one", "Gone since."))
        rig.memory.remember_tools(shop.fingerprint(), Snapshot(before, 1.0))
        rig.bench.connect()
        await rig.bench.wait_connected()
        ready = next(event for event in rig.events("ready") if event.server == "shop")
        assert (ready.added, ready.removed, ready.since) == ((), (), 0.0)
        assert "hidden_one" not in repr(rig.bench.records())


async def _until(rig: Rig, kind: str) -> None:
    if not rig.events(kind):
        await happens(rig.bench, kind)


TIER = {"discovery.ranker": "three-tier", "discovery.registry": True, "discovery.iso_threshold": 0.2}
WIRE = SearchRequest("send money by wire")


def registry(path: Path, *tools: str) -> SqliteRegistry:
    """A registry of tools that send money by wire, each named `SERVER:TOOL`."""
    opened = SqliteRegistry(path / "registry.db")
    named = [one.split(":") for one in tools]
    opened.sync("file", [tool(server, name, "Send money by wire.") for server, name in named], at=1.0)
    embed_all(opened, MemoryEmbedder())
    return opened


def unconnected(rig: Rig) -> list[str]:
    return [one.tool_id for one in rig.bench.search(WIRE).unconnected]


async def test_the_registry_is_searched_with_the_sight_of_the_moment(tmp_path: Path) -> None:
    known, now = registry(tmp_path, "bank:send", "mail:wire"), [policy(ada=("mail:*", "bank:*", "calc:*"))]
    values = as_user("ada", **TIER)
    opening = connected(registry=known, embedder=MemoryEmbedder(), policy=lambda: now[0], values=values)
    async with opening as rig:
        assert set(unconnected(rig)) == {"bank:send", "mail:wire"}
        now[0] = policy(ada=("mail:*", "calc:*"))
        await rig.bench.read_policy_again()
        await rig.bench.retrieval.settled()
        assert unconnected(rig) == ["mail:wire"]


async def test_a_server_that_was_installed_is_not_told_as_unconnected(tmp_path: Path) -> None:
    opening = connected(
        servers=servers_and_money(),
        configuration=configured(shop_and_weather()),
        registry=registry(tmp_path, "currency:send", "bank:wire"),
        embedder=MemoryEmbedder(),
        marketplace=market(),
        values=TIER,
    )
    async with opening as rig:
        assert set(unconnected(rig)) == {"currency:send", "bank:wire"}
        await rig.bench.install(marketplace_of(rig.bench).plan("currency"))
        await rig.bench.retrieval.settled()
        assert unconnected(rig) == ["bank:wire"]


async def test_what_an_expert_always_has_replaces_the_setting_for_that_expert_alone() -> None:
    seen = replace(
        policy({"orders": ("shop:*",)}, ada=("shop:*", "calc:*")),
        always_include={"orders": ("shop:list_orders", "weather:*")},
    )
    values = as_user("ada", **{"discovery.auto": "always", "binding.always_include": ("shop:refund_order",)})
    async with connected(policy=lambda: seen, values=values) as rig:
        assert rig.bench.settings.binding.always_include == ("shop:refund_order",)
        await rig.bench.see_as("ada", "orders")
        await rig.bench.wait_connected()
        assert rig.bench.settings.binding.always_include == ("shop:list_orders",)
        assert rig.bench.state.pinned == ("shop:list_orders",)
