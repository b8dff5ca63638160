"""What the loop answers to a tool's wrong name, and whether the next call runs.

`python -m docs.benchmark.wrong_names` prints it. A stand-in for the model calls tools by names that are wrong
in several ways, then by the right name. Catalogs are the demo's deferred tools and, where pool_docker is
there, tools drawn from it: the names are real, parameters are left out. Deliveries with the same figures
share a table. Tokens are counted as gpt-5's.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Final
from unittest.mock import patch

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.data import POOL, demo_tools, pool
from docs.benchmark.list_changes import DELIVERIES
from inspector.core.message import ModelReply
from inspector.core.tool import Tool
from inspector.schema.schema import ModelFeatures
from inspector.search.index.vocabulary import split_words
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.synthetic import has_proxy
from tests.support.fakes import ToldModel, calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import READS, Rig, connected

SIZES: Final = (10, 100, 500)
CASES: Final = 40
WAYS = {"rewrite": ("rewrite", ""), **DELIVERIES}
_SEED: Final = 11
_NEAR: Final = 3
# The rig pins the tools of a server with this name.
_PINNED: Final = "calc"
_HEAD: Final = (
    "| called by | the tool is | calls | run | named first | named | any named | next call runs | tokens |"
    f"\n|---|---|{'--:|' * 7}"
)
_counter = TiktokenCounter("gpt-5")
LOADED, DEFERRED, EVICTED = "loaded", "not loaded", "evicted"


class Wrong(Struct, frozen=True):
    """A way to get a tool's name wrong. `name` makes one, None for a tool that has none."""

    what: str
    state: str
    name: Callable[[Tool, Sequence[Tool], random.Random], str | None] | None


def misspelt(tool: Tool, _tools: Sequence[Tool], source: random.Random) -> str | None:
    """Two neighbouring letters of the name change places."""
    prefix, _, name = tool.wire_name.rpartition("__")
    places = [at for at in range(len(name) - 1) if name[at] != name[at + 1]]
    if not places:
        return None
    at = source.choice(places)
    return f"{prefix}__{name[:at]}{name[at + 1]}{name[at]}{name[at + 2 :]}"


def of_other_server(tool: Tool, tools: Sequence[Tool], source: random.Random) -> str | None:
    prefix, _, name = tool.wire_name.rpartition("__")
    others = sorted({_prefix(other) for other in tools} - {prefix})
    return f"{source.choice(others)}__{name}" if others else None


def camel_case(tool: Tool, _tools: Sequence[Tool], _source: random.Random) -> str:
    first, *others = split_words(tool.name)
    return first.lower() + "".join(word.capitalize() for word in others)


KINDS = (
    *(Wrong("two letters swapped", state, misspelt) for state in (LOADED, DEFERRED)),
    *(Wrong("another server's prefix", state, of_other_server) for state in (LOADED, DEFERRED)),
    *(Wrong("camelCase, no prefix", state, camel_case) for state in (LOADED, DEFERRED)),
    *(Wrong("the right name", state, lambda tool, *_: tool.wire_name) for state in (DEFERRED, EVICTED)),
    Wrong("a tool that is nowhere", "", None),
)


class Outcome(Struct, frozen=True):
    """A wrong call: whether it `ran` all the same, the tools that its answer names, its answer's tokens.

    `next_runs`: the same tool, called by its right name right after it, is run.
    """

    tool: str
    ran: bool
    near: tuple[str, ...]
    tokens: int
    next_runs: bool


def catalogs() -> dict[str, list[Tool]]:
    found = {"demo": [tool for tool in demo_tools() if tool.server != _PINNED]}
    found |= {f"{POOL}, {size}": random.Random(_SEED).sample(pool(), size) for size in SIZES}
    return {name: [Tool(t.server, t.name, t.description, {}, READS) for t in found[name]] for name in found}


def wrong_calls(kind: Wrong, tools: Sequence[Tool]) -> list[tuple[str, str]]:
    """Ids of tools and the names they are called by; names of other catalogs' tools have no id."""
    source, known = random.Random(_SEED), {tool.name for tool in tools}
    if kind.name is None:
        names = sorted({tool.name for tool in pool()} - known)
        chosen = source.sample(names, min(CASES, len(names)))
        return [("", f"{_prefix(source.choice(tools))}__{name}") for name in chosen]
    targets = source.sample(tools, min(CASES, len(tools)))
    named = [(tool.id, kind.name(tool, tools, source)) for tool in targets]
    taken = {tool.wire_name for tool in tools} if kind.name is of_other_server else set[str]()
    return [(tool_id, name) for tool_id, name in named if name and name not in taken]


def _prefix(tool: Tool) -> str:
    return tool.wire_name.rpartition("__")[0]


async def outcomes(way: str, tools: Sequence[Tool], kind: Wrong) -> list[Outcome]:
    """What comes of the wrong calls of one kind, in a session of their own."""
    delivery, deferral = WAYS[way]
    servers = {
        name: MemoryServer([t for t in tools if t.server == name]) for name in {t.server for t in tools}
    }
    with (
        patch.object(ToldModel, "window", 10**7),
        patch.object(ToldModel, "features", ModelFeatures(deferral=deferral)),
    ):
        async with connected(
            servers=servers, profile="toolsight", values={"binding.delivery": delivery}
        ) as rig:
            called = wrong_calls(kind, tools)
            return [await _outcome(rig, tool_id, name, kind.state) for tool_id, name in called]


async def _outcome(rig: Rig, tool_id: str, name: str, state: str) -> Outcome:
    proxy = has_proxy(rig.bench.settings.binding.delivery)
    if state in (LOADED, EVICTED):
        rig.model.steps += [searches(tool_names=[tool_id]), says("found")]
        await rig.bench.chat(f"Find {tool_id}.")
    if state == EVICTED:
        rig.bench.evict(tool_id)
    rejected, received = len(rig.events("reject")), rig.received
    right = rig.bench.catalog.by_id[tool_id].wire_name if tool_id else name
    rig.model.steps += [_call(name, proxy=proxy), _call(right, proxy=proxy), says("done")]
    await rig.bench.chat(f"Use {name}.")
    answers, runs = rig.events("reject")[rejected:], rig.received - received
    ran = not answers or answers[0].name != name
    text = rig.model.requests[-2].messages[-1].text
    near = () if ran else answers[0].closest
    return Outcome(tool_id, ran, near, _counter.count(text), next_runs=runs > ran)


def _call(name: str, *, proxy: bool) -> ModelReply:
    return calls(("call_tool", {"name": name, "arguments": {}}) if proxy else (name, {}))


def row(kind: Wrong, found: Sequence[Outcome]) -> str:
    shares = (
        fmean(one.ran for one in found),
        fmean(one.near[:1] == (one.tool,) for one in found),
        fmean(one.tool in one.near[:_NEAR] for one in found),
        fmean(bool(one.near) for one in found),
        fmean(one.next_runs for one in found),
    )
    tokens = fmean(one.tokens for one in found if not one.ran)
    cells = " | ".join(f"{share:.2f}" for share in shares)
    return f"| {kind.what} | {kind.state} | {len(found)} | {cells} | {tokens:.0f} |"


def main() -> None:
    for name, tools in catalogs().items():
        tables: dict[str, list[str]] = {}
        for way in WAYS:
            rows = [row(kind, asyncio.run(outcomes(way, tools, kind))) for kind in KINDS]
            tables.setdefault("\n".join(rows), []).append(way)
        for text, ways in tables.items():
            say(f"\n{name}: {', '.join(ways)}\n\n{_HEAD}\n{text}")


if __name__ == "__main__":
    main()
