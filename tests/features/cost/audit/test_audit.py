"""The arithmetic of an audit, by hand and over any tools; asking servers; suggestions."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.core.access import ServerRule, Toolset
from inspector.core.error import AuthRequired, ConfigError, ConnectError, ServerExited
from inspector.core.number import percent
from inspector.core.ports import Snapshot
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.settings import Settings
from inspector.core.tool import Tool
from inspector.features.cost.audit import audit as rules
from inspector.features.cost.audit.audit import (
    DEFER,
    KEEP,
    SHORTEN,
    UNUSED,
    Pricing,
    configuration_audit,
    deferring,
)
from inspector.features.cost.audit.facts import note
from inspector.features.cost.audit.result import (
    NOT_APPROVED,
    ConfigurationAudit,
    Reading,
    Subject,
    Usage,
    ask_servers,
    stored,
    unreadable,
)
from inspector.schema.json_value import compact
from inspector.store.server_memory import MemoryServerMemory
from inspector.tokens.cost import Delivery
from tests.support.canned import PRICES
from tests.support.fakes import ManualClock, character_meter
from tests.support.memory_servers import MemoryConnector, MemoryServer

PRICED = Pricing(PRICES, PRICES.terms)
WORDY = {"type": "object", "properties": {"q": {"type": "string", "description": "x" * 50}}}


def tools(server: str, count: int, description: str = "Does it.") -> tuple[Tool, ...]:
    return tuple(Tool(server, f"tool_{number}", description) for number in range(count))


@pytest.fixture(autouse=True)
def _no_configuration_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "STARTS_AT_TOOLS", 0)


def subject(*found: Sequence[Tool], **more: Any) -> Subject:
    """Servers with these tools."""
    readings = {own[0].server: Reading(tuple(own)) for own in found}
    configuration = Configuration("x.json", tuple(ServerSpec(name, name) for name in readings))
    return Subject(
        **{
            "client": "Cursor",
            "scope": "user",
            "configuration": configuration,
            "readings": readings,
            "settings": Settings(),
            **more,
        }
    )


def audited(*found: Sequence[Tool], **more: Any) -> ConfigurationAudit:
    return configuration_audit(subject(*found, **more), character_meter(), PRICED)


def kinds(found: ConfigurationAudit) -> list[str]:
    return [suggestion.kind for suggestion in found.suggestions]


names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)
some_tools = st.lists(st.tuples(st.sampled_from("abc"), names, st.text(max_size=30)), max_size=12)


@given(some_tools)
def test_servers_add_up_to_their_configuration(drawn: list[tuple[str, str, str]]) -> None:
    own: dict[str, dict[str, Tool]] = {server: {} for server in "abc"}
    for server, name, text in drawn:
        own[server][name] = Tool(server, name, text)
    readings = {server: Reading(tuple(by_name.values())) for server, by_name in own.items()}
    found = configuration_audit(subject(readings=readings), character_meter(), PRICED)
    assert sum(server.tokens for server in found.servers) == found.tokens
    assert sum(server.share for server in found.servers) == pytest.approx(found.share)
    assert found.tokens == character_meter().static([t for r in readings.values() for t in r.tools or ()])
    assert found.saved == found.tokens - found.discovery
    for one in found.servers:
        assert one.tokens == sum(tool.cost.tokens for tool in one.tools)


def test_a_toolset_leaves_the_other_tools_out() -> None:
    one, other = tools("a", 2), tools("b", 2)
    few = Toolset("few", servers={"b": ServerRule(frozenset({"tool_0"}))})
    configuration = Configuration("x.json", (ServerSpec("a", "a"), ServerSpec("b", "b")), {"few": few})
    found = audited(one, other, configuration=configuration, toolset="few")
    assert [tool.id for tool in found.tools] == ["b:tool_0"]
    with pytest.raises(ConfigError):
        audited(one, other, configuration=configuration, toolset="none")


# Suggestions


def test_a_small_configuration_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "STARTS_AT_TOOLS", 20)
    found = audited(tools("a", 19))
    assert kinds(found)[0] == KEEP
    assert DEFER not in kinds(found)
    assert found.suggestions[0].tokens == found.tokens


def test_the_server_whose_waiting_saves_most_is_named_with_what_a_session_saves() -> None:
    asked = subject(tools("a", 10), tools("b", 400))
    found = configuration_audit(asked, character_meter(), PRICED)
    best = next(suggestion for suggestion in found.suggestions if suggestion.kind == DEFER)
    session = PRICED.session(deferring(asked, frozenset("b")), character_meter())
    static, other = (session.of(each).cached for each in (Delivery.STATIC, Delivery.APPEND))
    assert best.tokens == (static.discovery_tokens - other.discovery_tokens) // 30
    assert best.text.startswith("Defer b")
    assert f"{best.tokens:,}" in best.text
    assert session.saved is not None
    assert f"costs {percent(session.saved)} less, searches included" in best.text
    assert KEEP not in kinds(found)


def test_deferring_is_not_suggested_where_a_session_with_its_searches_costs_more() -> None:
    found = audited(tools("a", 20), tools("b", 25))
    assert found.session is not None
    assert found.saved > 0 > (found.session.saved or 0)
    assert DEFER not in kinds(found)
    assert "would not make a session cheaper" in found.suggestions[0].text


def test_the_dearest_tool_is_told_what_its_words_cost() -> None:
    dear = Tool("a", "dear", "Long.", WORDY)
    found = audited([dear, Tool("a", "cheap")])
    (best, *_) = [suggestion for suggestion in found.suggestions if suggestion.kind == SHORTEN]
    inside = len(compact(WORDY)) - len(compact({"type": "object", "properties": {"q": {"type": "string"}}}))
    assert best.tokens == inside + len("Long.")
    assert best.text.startswith("Shorten a:dear")
    assert f"its schema takes {len(compact(WORDY))} of " in best.text
    assert f"({inside} in descriptions)" in best.text


def test_tools_that_no_session_called_are_told_of_when_some_were_called() -> None:
    own = tools("a", 3)
    usage = Usage(2, {"a:tool_1": 4})
    found = [one for one in audited(own, usage=usage).suggestions if one.kind == UNUSED]
    assert [one.tokens for one in found] == [sum(map(character_meter().tool, (own[0], own[2])))]
    assert "2 of 3 tools were never called in 2 recorded sessions" in found[0].text
    for silent in (Usage(), Usage(2, {"other:tool": 1}), Usage(1, {tool.id: 1 for tool in own})):
        assert UNUSED not in kinds(audited(own, usage=silent))


# Asking servers


class Asked:
    """Readings of servers in memory, by the name of the spec."""

    def __init__(self, **servers: MemoryServer) -> None:
        self.memory = MemoryServerMemory()
        self.servers = servers
        self.progress: list[tuple[int, int]] = []

    async def ask(self, *specs: ServerSpec) -> dict[str, Reading]:
        readings = await ask_servers(
            specs,
            MemoryConnector(self.servers),
            self.memory,
            ManualClock(7.0),
            lambda done, total: self.progress.append((done, total)),
        )
        return {spec.name: readings[spec.fingerprint()] for spec in specs}


async def test_servers_are_asked_for_their_tools_and_remembered() -> None:
    own = tools("a", 2)
    info = ServerInfo(summary="Serves.", era=Era.MODERN, instructions="Ask first.")
    asked = Asked(a=MemoryServer(own, info=info))
    spec = ServerSpec("a", "a")
    assert await asked.ask(spec) == {"a": Reading(own, "Serves.", instructions="Ask first.")}
    assert asked.memory.snapshot(spec.fingerprint()) == Snapshot(own, 7.0, "Serves.")
    assert asked.memory.era(spec.fingerprint()) is Era.MODERN
    assert asked.servers["a"].links == []
    assert asked.progress == [(0, 1), (1, 1)]


async def test_a_server_that_several_clients_have_is_asked_once() -> None:
    asked = Asked(a=MemoryServer(tools("a", 1)))
    spec = ServerSpec("a", "run", defer_loading=True)
    await asked.ask(spec, replace(spec, defer_loading=False))
    assert asked.servers["a"].lists == 1


async def test_one_failing_server_does_not_stop_the_others() -> None:
    lacking = ServerExited("The process ended", hint="h", stderr_tail="hello\nerror: API_TOKEN is required\n")
    asked = Asked(
        good=MemoryServer(tools("good", 1)),
        locked=MemoryServer(fault=AuthRequired("x answered HTTP 401", hint="Log in.")),
        lacking=MemoryServer(fault=lacking),
        broken=MemoryServer(list_error=ConnectError("No list\nmore", hint="Look.")),
    )
    found = await asked.ask(*(ServerSpec(name, name) for name in asked.servers))
    assert found["good"].is_measured
    assert found["locked"] == Reading(reason="needs credentials: x answered HTTP 401", hint="Log in.")
    assert found["lacking"].reason == "needs API_TOKEN: error: API_TOKEN is required"
    assert found["broken"] == Reading(reason="No list", hint="Look.")


async def test_what_a_server_was_given_is_not_in_its_reason() -> None:
    fault = ServerExited("It ended", stderr_tail="API_TOKEN must not be s3cret-value-1234")
    asked = Asked(a=MemoryServer(fault=fault))
    spec = ServerSpec("a", "a", env={"API_TOKEN": "s3cret-value-1234"})
    assert "s3cret" not in (await asked.ask(spec))["a"].reason


def test_a_snapshot_stands_in_for_a_server_that_may_not_be_started() -> None:
    memory, spec = MemoryServerMemory(), ServerSpec("a", "a")
    assert stored(spec, memory).reason == NOT_APPROVED
    memory.remember_tools(spec.fingerprint(), Snapshot(tools("a", 1), 5.0, "Serves."))
    assert stored(spec, memory) == Reading(tools("a", 1), "Serves.", at=5.0)


def test_tools_that_a_client_leaves_out_cost_nothing() -> None:
    reading = Reading(tools("a", 3)).within(ServerRule(exclude=frozenset({"tool_0", "other"})))
    assert reading == Reading(tools("a", 3)[1:], left_out=1)
    gone = Reading(reason="gone")
    assert gone.within(ServerRule(frozenset())) is gone


def test_an_unusable_entry_says_what_it_needs() -> None:
    assert unreadable(ConfigError("one\ntwo", hint="Set it.")) == Reading(reason="one", hint="Set it.")
    spec = ServerSpec("a", lacks="K", advice="The variable K is not set. Set it.")
    told = Reading(reason="needs K", hint="The variable K is not set. Set it.")
    assert stored(spec, MemoryServerMemory()) == told


def test_instructions_are_counted_beside_the_tools_and_unknown_in_a_snapshot() -> None:
    own = tools("a", 2)
    told, silent, snapshot = (
        Reading(own, instructions="x" * 40),
        Reading(own, instructions=""),
        Reading(own, at=0.0),
    )
    servers = [
        configuration_audit(subject(readings={"a": one}), character_meter(), PRICED).servers[0]
        for one in (told, silent, snapshot)
    ]
    assert [server.instructions for server in servers] == [40, 0, None]
    assert len({server.tokens for server in servers}) == 1
    assert note(servers[0]) == "40 tokens of instructions"
    assert note(servers[1]) == ""
