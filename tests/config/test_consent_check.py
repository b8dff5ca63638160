"""What a person approved is compared with what would run, item by item and file by file."""

import zlib
from dataclasses import replace

import pytest

from inspector.config.configuration import Configuration, Named
from inspector.config.consent import approve, check_consent
from inspector.core.server import ChangedFile, RunFile, ServerInfo, ServerSpec
from inspector.store.memory import MemoryServerMemory
from tests.support.marketplace import market, servers_and_money
from tests.support.memory_editor import MemoryEditor
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import configured, opened, shop_and_weather


def script(*lines: str, asks: bool = False) -> RunFile:
    return RunFile("/srv/a.py", repr(lines), tuple(zlib.crc32(line.encode()) for line in lines), asks)


def running(file: RunFile, *others: ServerSpec) -> Configuration:
    return Configuration("mcp.json", (ServerSpec("shop", "python", ("a.py",), files=(file,)), *others))


@pytest.fixture
def memory() -> MemoryServerMemory:
    return MemoryServerMemory()


def test_a_part_of_what_was_approved_is_approved_and_more_is_not(memory: MemoryServerMemory) -> None:
    whole = running(script("one"), ServerSpec("mail", "mail"))
    approve(whole, memory)
    for part in (whole, replace(whole, servers=whole.servers[1:]), replace(whole, servers=())):
        assert check_consent(part, memory).is_approved
    assert not check_consent(running(script("one"), ServerSpec("mail", "other")), memory).is_approved


def test_a_changed_script_is_reported_and_asks_only_where_it_may(memory: MemoryServerMemory) -> None:
    approve(running(script("one", "two")), memory)
    told = check_consent(running(script("one", "other", "more")), memory)
    assert told.is_approved
    assert told.changed == {"shop": (ChangedFile("/srv/a.py", 2),)}
    asked = check_consent(running(script("one", "other", "more", asks=True)), memory)
    assert not asked.is_approved
    facts = [fact.text for fact in asked.question[0].facts() if fact.label == "changed" and fact.warns]
    assert facts == ["/srv/a.py: 2 lines changed since you approved it"]
    approve(running(script("one", "other", "more", asks=True)), memory)
    assert check_consent(running(script("one", "other", "more", asks=True)), memory).is_approved


@pytest.mark.parametrize("is_trusted", [False, True])
@pytest.mark.parametrize(
    "named",
    [
        Named("discovery.embedding_model", "somebody/model"),
        Named("access.policy", "/srv/policy.yaml"),
        Named("marketplace.catalogs", "/srv/catalog.json"),
        Named("access.predicates", "/srv/own.py", "d1"),
    ],
)
def test_what_settings_name_is_asked_for_even_where_servers_are_trusted(
    memory: MemoryServerMemory, named: Named, is_trusted: bool
) -> None:
    plain = replace(running(script("one")), trusted=is_trusted)
    approve(plain, memory)
    assert check_consent(plain, memory).is_approved
    naming = replace(plain, named=(named,))
    check = check_consent(naming, memory)
    assert not check.is_approved
    assert any(named.text in fact.text for fact in check.question[-1].facts())
    assert [server.name for server in check.question] == ["shop", "settings"][is_trusted:]
    approve(naming, memory)
    assert check_consent(naming, memory).is_approved
    assert not check_consent(replace(plain, named=(replace(named, text="other"),)), memory).is_approved


async def test_servers_are_listed_with_what_changed_since_they_were_approved() -> None:
    after = running(script("one", "other"))
    shop = MemoryServer(info=ServerInfo("shop", "1.0"))
    async with opened(servers={"shop": shop}, configuration=after, approved=False) as rig:
        approve(running(script("one", "two")), rig.memory)
        rig.bench.connect()
        await rig.bench.wait_connected()
        assert rig.bench.state.servers["shop"].news == ("/srv/a.py: 1 line changed since you approved it",)
        assert "1 line changed: a.py" in rig.events("connecting")[0].summary()
        shop.info = ServerInfo("shop", "1.1")
        await rig.bench.reconnect("shop")
        assert list(rig.bench.state.servers["shop"].news)[1:] == ["version 1.1, was 1.0 when you approved it"]


async def test_a_server_that_is_as_it_was_approved_has_no_news() -> None:
    same = running(script("one"))
    async with opened(
        servers={"shop": MemoryServer(info=ServerInfo("shop", "1.0"))}, configuration=same
    ) as rig:
        rig.bench.connect()
        await rig.bench.wait_connected()
        await rig.bench.reconnect("shop")
        assert rig.bench.state.servers["shop"].news == ()


@pytest.mark.parametrize("is_empty", [False, True])
async def test_installing_into_a_configuration_that_nobody_approved_stores_no_consent(is_empty: bool) -> None:
    known = configured(shop_and_weather())
    configuration = replace(known, servers=(), toolsets={}) if is_empty else known
    ports = market(editor=MemoryEditor())
    async with opened(
        servers=servers_and_money(), configuration=configuration, approved=False, marketplace=ports
    ) as rig:
        await rig.bench.install(rig.bench.marketplace.plan("currency"))
        assert [spec.name for spec in rig.bench.configuration.servers][-1] == "currency"
        assert rig.memory.approvals == {}
        await rig.bench.remove_server(rig.bench.marketplace.removal("currency"))
        assert rig.memory.approvals == {}
