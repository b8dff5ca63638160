"""Random policies, and sessions driven at random: what may not be seen leaves no trace."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from inspector.access.reach import reaches
from inspector.core.access import AccessPolicy, Grant, Scope, ServerRule, Toolset, User
from inspector.core.error import ToolsightError
from inspector.core.message import ToolResult
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.core.server import ServerInfo, SkippedTool
from inspector.core.tool import Annotations, Tool
from inspector.features.marketplace.marketplace import marketplace_of
from inspector.features.registry.library import RegistryLibrary, synchronise
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Ranking
from inspector.search.ranker.ranker_list import RANKERS
from inspector.session.timeline import Timeline
from tests.support.canned import HeldRegistry
from tests.support.fakes import calls, says, searches
from tests.support.marketplace import CURRENCY, facts_of, market, plugin
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.registry import embed_all
from tests.support.retrieval import embedded
from tests.support.workbench import Rig, configured, connected

SERVERS = ("crm", "shop", "mail")
VERBS = ("find", "list", "send", "delete")
READS = Annotations(read_only=True)
# Every tool has a word of its own, in its name and in all of its texts: a substring tells whether it leaks.
WORDS = {
    f"{server}:{verb}": f"q{7919 * number % 9973:04d}z"
    for number, (server, verb) in enumerate((server, verb) for server in SERVERS for verb in VERBS)
}


def tool(server: str, verb: str) -> Tool:
    word = WORDS[f"{server}:{verb}"]
    schema = {"type": "object", "properties": {f"{word}_id": {"type": "string", "description": word}}}
    return Tool(server, f"{verb}_{word}", f"{verb} customers and orders by {word}.", schema, READS)


TOOLS = {key: tool(*key.split(":")) for key in WORDS}
# Only the registry has these, and the names of their servers are words of their own.
AWAY = ("qvaultz", "qledgerz")
WORDS |= {
    f"{server}:{verb}": f"q{6841 * number % 9973:04d}y"
    for number, (server, verb) in enumerate((server, verb) for server in AWAY for verb in VERBS)
}
STORED = {key: tool(*key.split(":")) for key in WORDS}
PLUGINS = tuple(plugin(f"plugin-{name}", f"Finds {name}.", command=name, args=()) for name in SERVERS)
_pattern = st.one_of(
    st.sampled_from([one.id for one in STORED.values()]),
    st.builds("{}:{}*".format, st.sampled_from((*SERVERS, *AWAY)), st.sampled_from(("", *VERBS))),
    # None of these could match a longer name that begins as a forbidden one: settings go by patterns.
    st.sampled_from(("?hop:find_*", "crm:????_q*", "crm:*", "s*", "???????:find_q????y", "*")),
)
_patterns = st.lists(_pattern, min_size=0, max_size=3).map(tuple)


@st.composite
def policies(draw: st.DrawFn) -> AccessPolicy:
    users = {name: User(name, "acme", ("sales",) if draw(st.booleans()) else ()) for name in ("ada", "bob")}
    grants = [Grant(Scope.USER, name, "acme", draw(_patterns)) for name in users]
    grants.append(Grant(Scope.ROLE, "sales", "acme", draw(_patterns)))
    grants.append(Grant(Scope.ORGANISATION, "acme", "acme", draw(st.just(()) | _patterns)))
    return AccessPolicy(users, tuple(grants), {"expert": draw(_patterns)})


def servers() -> dict[str, MemoryServer]:
    """Servers that name all of their tools wherever they can."""
    made = {}
    for name in SERVERS:
        own = [one for one in TOOLS.values() if one.server == name]
        text = " ".join(one.name for one in own)
        skipped = (SkippedTool(f"unusable_{WORDS[f'{name}:delete']}", "no schema"),)
        info = ServerInfo(summary=text, instructions=text)
        made[name] = MemoryServer(own, info=info, skipped=skipped, stderr=text, answer=_answer)
    return made


async def _answer(_tool: str, _arguments: Any) -> Any:
    return ToolResult("done")


NAMED = {
    "discovery.ranker": "three-tier",
    "discovery.registry": True,
    "discovery.iso_threshold": 0.0,
    "discovery.affinity": 0.5,
    "binding.always_include": tuple(one.id for one in TOOLS.values())[::3],
    "guard.exempt": tuple(one.id for one in TOOLS.values()),
    "guard.guidance": {one.id: f"use {one.name}" for one in TOOLS.values()},
    "discovery.tags": {one.id: ("tag", WORDS[key]) for key, one in TOOLS.items()},
    "access.preconditions": {
        TOOLS["shop:find"].id: (f"has_prior_tool_output('{TOOLS['crm:find'].id}')",),
        TOOLS["mail:list"].id: (f"not has_prior_tool_output('{TOOLS['crm:delete'].id}')",),
    },
}
CONFIGURATION = replace(
    configured(SERVERS),
    toolsets={
        "some": Toolset(
            "some",
            f"without {WORDS['crm:find']} and {WORDS['mail:send']}",
            {
                "crm": ServerRule(exclude=frozenset({TOOLS["crm:find"].name})),
                "mail": ServerRule(include=frozenset({TOOLS["mail:list"].name, TOOLS["mail:find"].name})),
            },
        )
    },
)


def stored(tools: Collection[Tool]) -> HeldRegistry:
    """A registry of these tools."""
    registry = HeldRegistry()
    registry.sync("everything", tools, at=1.0)
    embed_all(registry, MemoryEmbedder())
    return registry


@cache
def everything() -> HeldRegistry:
    """A registry of all tools, which no session here changes."""
    return stored(STORED.values())


@asynccontextmanager
async def session(
    policy: Callable[[], AccessPolicy], user: str, expert: str = "", registry: ToolRegistry | None = None
) -> AsyncIterator[Rig]:
    values = {"access.policy": "p", "access.user": user, "access.expert": expert, **NAMED}
    opening = connected(
        servers=servers(),
        policy=policy,
        values=values,
        configuration=CONFIGURATION,
        embedder=MemoryEmbedder(),
        registry=registry or everything(),
        marketplace=market(*PLUGINS, CURRENCY),
    )
    async with opening as rig:
        yield rig


@pytest.mark.slow
@given(policy=policies(), user=st.sampled_from(("ada", "bob")), expert=st.sampled_from(("", "expert")))
@settings(max_examples=5)
def test_every_ranker_scores_as_if_only_permitted_tools_existed(
    policy: AccessPolicy, user: str, expert: str
) -> None:
    sight = policy.sight(user, expert)

    async def compare() -> None:
        async with session(lambda: policy, user, expert) as rig:
            naive = [one for one in TOOLS.values() if sight.permits(one.id)]
            assert list(rig.bench.catalog.tools) == naive
            setup, semantics = rig.bench.setup, Semantics(MemoryEmbedder(), MemoryVectors())
            # An index that never knew another tool.
            alone = ToolIndex(semantics=semantics)
            alone = alone.updated(tuple(naive), setup.summaries, setup.instructions)
            alone = embedded(alone, semantics)
            apart = CatalogRankers(alone, rig.bench.settings.discovery)
            for query in ("find customers", "delete orders", WORDS["crm:delete"]):
                for name in RANKERS:
                    here, there = rig.bench.retrieval.rankers.get(name), apart.get(name)
                    assert _told(here.rank(query), len(naive)) == _told(there.rank(query), len(naive)), name

    asyncio.run(compare())


@pytest.mark.slow
@given(policy=policies(), user=st.sampled_from(("ada", "bob")), expert=st.sampled_from(("", "expert")))
@settings(max_examples=5)
def test_a_search_answers_as_if_the_registry_had_only_permitted_tools(
    policy: AccessPolicy, user: str, expert: str
) -> None:
    sight = policy.sight(user, expert)
    alone = stored([one for one in STORED.values() if sight.permits(one.id)])

    async def answers(registry: ToolRegistry) -> list[SearchReport]:
        async with session(lambda: policy, user, expert, registry) as rig:
            queries = ("find customers", "delete orders", WORDS["qvaultz:delete"], "zebra")
            return [rig.bench.search(SearchRequest(query)) for query in queries]

    naive, here = asyncio.run(answers(alone)), asyncio.run(answers(everything()))
    assert [repr(one) for one in here] == [repr(one) for one in naive]
    known = [one.id for key, one in STORED.items() if key not in TOOLS and sight.permits(one.id)]
    assert {one.tool_id for report in here for one in report.unconnected} <= set(known)
    assert any(report.unconnected for report in here) or not known


def _told(ranking: Ranking, count: int) -> list[str]:
    """Everything that a ranking says, floats to the last bit."""
    fit = None if ranking.fit is None else ranking.fit.tolist()
    told = (ranking.values.tolist(), ranking.kept.tolist(), fit, ranking.probability)
    return [repr(told), *(repr(ranking.explain(position)) for position in range(count))]


class Driver:
    """Does what a person can do, and keeps everything that the session shows."""

    def __init__(self, rig: Rig, policy: list[AccessPolicy]) -> None:
        self.rig, self.policy = rig, policy
        self.shown: dict[str, list[str]] = {}
        self.permitted: dict[str, set[str]] = {}
        self._asked = 0
        self._own: dict[tuple[str, str], set[str]] = {}

    def note(self, *texts: object) -> None:
        """Keep what is to be seen, and what may be."""
        bench = self.rig.bench
        kept = self.shown.setdefault(bench.session_id, [])
        kept += map(repr, texts)
        kept += map(repr, self.rig.model.requests[self._asked :])
        self._asked = len(self.rig.model.requests)
        # What somebody has seen may be read again, in the own records.
        own = self._own.setdefault((bench.state.user, bench.state.expert), set())
        may = self.permitted.setdefault(bench.session_id, own)
        may.update(key for key, one in STORED.items() if bench.access.sight.permits(one.id))

    def look(self) -> None:
        """Keep what every screen, command and export reads."""
        bench = self.rig.bench
        records = bench.records()
        timeline = Timeline.of(records)
        self.note(
            *(bench.state, bench.catalog.tools, bench.setup, bench.settings, bench.session_values),
            *(
                bench.configuration,
                bench.next_request(),
                bench.recorded_sessions(),
                bench.retrieval.evalset(),
            ),
            *(records, [record.event.summary() for record in records], vars(timeline)),
            *(self.frames(name) for name in SERVERS),
            *(bench.stderr(name) for name in SERVERS),
            *(bench.recorded(one.id) for one in bench.recorded_sessions()),
        )
        self.library()
        self.market()

    def library(self) -> None:
        """Keep what the page of the registry reads."""
        bench = self.rig.bench
        library = RegistryLibrary(everything, MemoryEmbedder, lambda: bench.sight)
        versions = (library.versions(one.id) for one in STORED.values())
        self.note(library.overview(), library.rows("", 100), library.rows("find", 100))
        self.note(library.search("delete customers", 100), *versions)

    def market(self) -> None:
        """Keep what the page of the marketplace reads; what is installed is so as far as it can be seen."""
        bench = self.rig.bench
        found, market = marketplace_of(bench).look("find the crm and the shop"), marketplace_of(bench)
        self.note(found, market.plugins, market.problems)
        known = [name for name in SERVERS if reaches(bench.sight, name)]
        assert [name for one in PLUGINS if (name := market.server_of(one))] == known
        assert (found.installed, found.considered) == (len(known), len(market.plugins) - len(known))

    def frames(self, server: str) -> str:
        log = self.rig.bench.wire(server)
        return self.rig.servers[server].stderr if log is not None else ""

    async def do(self, step: int, data: st.DataObject) -> None:
        self.note()
        try:
            await STEPS[step](self, data)
        except ToolsightError as error:
            self.note(error.message, error.hint)
        self.note()

    async def search(self, data: st.DataObject) -> None:
        query = data.draw(st.sampled_from(("find customers", "delete_", "send orders crm", "list")))
        self.note(self.rig.bench.search(SearchRequest(query)))

    async def chat(self, data: st.DataObject) -> None:
        seen = [one.wire_name for one in self.rig.bench.catalog.tools]
        name = data.draw(st.sampled_from(["crm__delete", "mail__send_q", "find_", *seen]))
        self.rig.model.steps[:] = [
            searches(query="delete orders", server_name=data.draw(st.sampled_from(SERVERS))),
            calls((name, {})),
            says("done"),
        ]
        await self.rig.bench.chat("delete the orders of a customer")

    async def call(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(("crm:delete_q", "send", "shop:find")))
        await self.rig.bench.call(name, {})

    async def load(self, data: st.DataObject) -> None:
        seen = [one.id for one in self.rig.bench.catalog.tools]
        self.rig.bench.load(data.draw(st.sampled_from(["mail:delete", *seen])))

    async def toolset(self, data: st.DataObject) -> None:
        self.rig.bench.switch_toolset(data.draw(st.sampled_from(("", "some", "som"))))

    async def stop(self, data: st.DataObject) -> None:
        await self.rig.bench.stop(data.draw(st.sampled_from(SERVERS)))

    async def reconnect(self, data: st.DataObject) -> None:
        await self.rig.bench.reconnect(data.draw(st.sampled_from(SERVERS)))

    async def die(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(SERVERS))
        self.rig.servers[name].die(f"{self.rig.servers[name].stderr} crashed")
        await settle()

    async def change(self, data: st.DataObject) -> None:
        server = self.rig.servers[data.draw(st.sampled_from(SERVERS))]
        changed = [replace(one, description=f"{one.description} Again.") for one in server.tools]
        server.change(data.draw(st.sampled_from((changed, changed[1:], list(server.tools)[:2]))))
        await settle()

    async def setting(self, data: st.DataObject) -> None:
        path, value = data.draw(
            st.sampled_from(
                (
                    ("binding.policy", "gate"),
                    ("binding.policy", "keep"),
                    ("binding.delivery", "call_tool"),
                    ("chat.server_instructions", True),
                    ("fallback.enabled", True),
                    ("inertia.preload", "predict"),
                    ("discovery.ranker", "hybrid"),
                    ("breaker.enabled", True),
                )
            )
        )
        self.rig.bench.change_setting(path, value)

    async def install(self, data: st.DataObject) -> None:
        wanted = data.draw(st.sampled_from(("currency", "plugin-crm", "plugin-mail")))
        self.note(facts_of(self.rig.bench, wanted))

    async def uninstall(self, data: st.DataObject) -> None:
        self.note(marketplace_of(self.rig.bench).removal(data.draw(st.sampled_from(SERVERS))))

    async def fill(self, data: st.DataObject) -> None:  # noqa: ARG002 - every step is given some
        if not self.rig.bench.sight.is_whole:
            synchronise(everything(), self.rig.bench, at=2.0)

    async def see_as(self, data: st.DataObject) -> None:
        self.look()
        who = data.draw(st.sampled_from((("ada", ""), ("bob", ""), ("ada", "expert"), ("", ""), ("eve", ""))))
        await self.rig.bench.see_as(*who)
        await self.rig.bench.wait_connected()

    async def regrant(self, data: st.DataObject) -> None:
        self.policy[0] = data.draw(policies())
        await self.rig.bench.read_policy_again()
        await self.rig.bench.wait_connected()


STEPS = (
    Driver.search,
    Driver.chat,
    Driver.call,
    Driver.load,
    Driver.toolset,
    Driver.stop,
    Driver.reconnect,
    Driver.die,
    Driver.change,
    Driver.setting,
    Driver.install,
    Driver.uninstall,
    Driver.fill,
    Driver.see_as,
    Driver.regrant,
)


async def settle() -> None:
    """Let the connections do what they have to."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.slow
@given(policy=policies(), steps=st.lists(st.integers(0, len(STEPS) - 1), max_size=8), data=st.data())
@settings(max_examples=12)
def test_no_forbidden_name_is_anywhere_in_a_session_driven_at_random(
    policy: AccessPolicy, steps: list[int], data: st.DataObject
) -> None:
    async def drive() -> None:
        now = [policy]
        async with session(lambda: now[0], "ada") as rig:
            driver = Driver(rig, now)
            driver.look()
            for step in steps:
                await driver.do(step, data)
            driver.look()
            for session_id, texts in driver.shown.items():
                permitted = driver.permitted[session_id]
                forbidden = [WORDS[key] for key in WORDS if key not in permitted]
                forbidden += set(AWAY) - {key.partition(":")[0] for key in permitted}
                shown = "\n".join(texts)
                found = (shown.find(word) for word in forbidden)
                assert not [shown[max(at - 400, 0) : at + 100] for at in found if at >= 0]

    asyncio.run(asyncio.wait_for(drive(), 10))
