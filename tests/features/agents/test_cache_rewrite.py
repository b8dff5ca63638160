"""Where a prompt cache was written anew: what the provider reported, and what probably caused it."""

import pytest

from inspector.core.budget import TokenParts
from inspector.core.events import (
    ContextReduced,
    Event,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    Record,
    ToolLoaded,
    UserSaid,
)
from inspector.core.message import Usage
from inspector.features.agents.finding import CacheRewrite, CacheRewrites, RewriteCause


def call(number: int, read: int | None, written: int | None) -> list[Event]:
    usage = Usage(input_tokens=50_000, cached_tokens=read, written_tokens=written)
    return [ModelRequested(number, (), TokenParts(), 1), ModelResponded(number, "", usage=usage)]


def rewrites(*between: Event, read: int = 0, seconds: float = 10.0) -> tuple[CacheRewrite, ...]:
    """What is found where 12,000 tokens were left in the cache, and the next call reads `read`."""
    first, second = call(1, 10_000, 2_000), call(2, read, 30_000)
    stream = [(0.0, event) for event in first] + [(seconds, event) for event in (*between, *second)]
    found = CacheRewrites()
    found.add(Record("s", seq, at, event) for seq, (at, event) in enumerate(stream, start=1))
    return found.found


COMPACTED = ContextReduced("compaction", 100, 0, 3, "all")
SWITCHED = ModelSwitched("m", "m", 0)
LOADED = ToolLoaded("a:b", 5, "search", 1)


def test_a_call_that_reads_all_that_was_cached_rewrites_nothing() -> None:
    assert rewrites(read=12_000) == ()
    assert rewrites(COMPACTED, read=15_000) == ()


@pytest.mark.parametrize(
    ("between", "seconds", "causes"),
    [
        ((), 10.0, [RewriteCause.UNKNOWN]),
        ((UserSaid("hi"),), 300.0, [RewriteCause.UNKNOWN]),
        ((), 301.0, [RewriteCause.FIVE_MINUTES]),
        ((), 3601.0, [RewriteCause.HOUR]),
        ((LOADED,), 10.0, [RewriteCause.TOOLS]),
        ((SWITCHED,), 10.0, [RewriteCause.MODEL]),
        ((COMPACTED,), 10.0, [RewriteCause.COMPACTION]),
        ((LOADED,), 400.0, [RewriteCause.TOOLS, RewriteCause.FIVE_MINUTES]),
        ((LOADED,), 4000.0, [RewriteCause.HOUR, RewriteCause.TOOLS]),
        ((LOADED, SWITCHED, COMPACTED), 10.0, ["compaction", "model", "tools"]),
    ],
)
def test_a_rewrite_has_every_cause_that_applies_the_surest_first(
    between: tuple[Event, ...], seconds: float, causes: list[str]
) -> None:
    names = {"compaction": RewriteCause.COMPACTION, "model": RewriteCause.MODEL, "tools": RewriteCause.TOOLS}
    [found] = rewrites(*between, seconds=seconds)
    assert list(found.causes) == [names.get(cause, cause) for cause in causes]
    assert (found.call, found.tokens) == (2, 12_000)


def test_a_cause_counts_for_the_next_call_alone() -> None:
    stream = [*call(1, 9_000, 0), COMPACTED, *call(2, 9_000, 0), *call(3, 0, 0)]
    found = CacheRewrites()
    found.add(Record("s", seq, 1.0, event) for seq, event in enumerate(stream, start=1))
    [one] = found.found
    assert (one.call, one.cause) == (3, RewriteCause.UNKNOWN)
