"""What the discovery loop itself costs a model call, at 1,000 tools: `make bench`.

Whole chats over memory servers, with a model that says what it is told and a record in memory: what is left
is searching, binding, gating, guarding, counting and folding. The time inside rankers is measured on the
way and taken out of the sum; the rest is divided by the model calls. The profiles are measured in turns,
ROUNDS times; the quickest counts, since other work on the machine can only add to it.
"""

import asyncio
import sys
import time
from typing import Any
from unittest.mock import patch

from docs.benchmark import say
from inspector.config.setting import PROFILES
from inspector.core.message import ModelReply
from inspector.core.tool import Annotations, Tool
from inspector.search.catalog_rankers import CatalogRankers
from inspector.search.ranker import Ranker, Ranking
from tests.support.fakes import ToldModel, calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.workbench import Rig, connected

SERVERS, TOOLS_EACH, TURNS, ROUNDS = 20, 50, 6, 5
TARGET_MS = 3.0
_SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "string", "description": f"The {name} of what is meant, as text."}
        for name in ("owner", "title", "filter", "cursor")
    },
}
_VERBS = ("list", "get", "render", "review", "detect", "search", "export", "count", "merge", "share")
_NOUNS = ("order", "invoice", "ticket", "page", "event")


class Timed:
    """A ranker, and the seconds that were spent in it."""

    spent = 0.0

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ranker, name)

    def rank(self, query: str) -> Ranking:
        started = time.perf_counter()
        try:
            return self._ranker.rank(query)
        finally:
            Timed.spent += time.perf_counter() - started


def servers() -> dict[str, MemoryServer]:
    reads = Annotations(read_only=True)
    return {
        f"s{number}": MemoryServer(
            [
                Tool(
                    f"s{number}",
                    f"{verb}_{noun}_{number}",
                    f"To {verb} an {noun} of {number}.",
                    _SCHEMA,
                    reads,
                )
                for verb in _VERBS
                for noun in _NOUNS
            ]
        )
        for number in range(SERVERS)
    }


def conversation() -> list[ModelReply]:
    """For each turn a search, a call of what it found, and an answer."""
    steps: list[ModelReply] = []
    for turn in range(TURNS):
        verb, noun = _VERBS[turn % len(_VERBS)], _NOUNS[turn % len(_NOUNS)]
        steps += [
            searches(query=f"{verb} an {noun} of {turn}"),
            calls((f"s{turn}__{verb}_{noun}_{turn}", {"owner": f"o{turn}"})),
            says("done"),
        ]
    return steps


async def milliseconds_a_call(profile: str) -> float:
    """Of one whole conversation, rankers left out."""
    async with connected(
        *conversation(), servers=servers(), embedder=MemoryEmbedder(), profile=profile
    ) as rig:
        await _talk(rig, 1)
        calls_before, Timed.spent = rig.bench.state.model_calls, 0.0
        started = time.perf_counter()
        await _talk(rig, TURNS - 1)
        spent = time.perf_counter() - started - Timed.spent
        return 1000 * spent / (rig.bench.state.model_calls - calls_before)


async def _talk(rig: Rig, turns: int) -> None:
    for turn in range(turns):
        await rig.bench.chat(f"Please list an order, number {turn}")


async def measure() -> dict[str, float]:
    get = CatalogRankers.get
    found: dict[str, list[float]] = {profile: [] for profile in PROFILES}
    # Characters are its tokens: the window takes all tools of the profile `static`.
    with (
        patch.object(ToldModel, "window", 10**9),
        patch.object(CatalogRankers, "get", lambda self, name: Timed(get(self, name))),
    ):
        for _ in range(ROUNDS):
            for profile, values in found.items():
                values.append(await milliseconds_a_call(profile))
    return {profile: min(values) for profile, values in found.items()}


def main() -> None:
    found = asyncio.run(measure())
    say(f"the loop without rankers, {SERVERS * TOOLS_EACH:,} tools, ms a model call (quickest of {ROUNDS}):")
    for profile, value in found.items():
        say(f"  {profile:<12}{value:6.2f}  {'' if value < TARGET_MS else 'over the target'}")
    sys.exit(0 if max(found.values()) < TARGET_MS else 1)


if __name__ == "__main__":
    main()
