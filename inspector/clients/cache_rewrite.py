"""Where a provider's prompt cache was written anew, as it reported it, and what probably caused that."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from inspector.core.events import (
    CatalogBuilt,
    ContextReduced,
    ModelResponded,
    ModelSwitched,
    Record,
    ToolEvicted,
    ToolLoaded,
)
from inspector.core.message import Usage

HOUR, FIVE_MINUTES = 3600.0, 300.0
# No provider keeps a shorter prefix, so a smaller loss is a mark that moved and not a cache that was lost.
LEAST = 1024


class RewriteCause(StrEnum):
    """What happened between two model calls that a cache does not outlive, the surest first."""

    COMPACTION = "the conversation was compacted"
    MODEL = "the model changed"
    HOUR = "more than an hour passed"
    TOOLS = "the tools changed"
    FIVE_MINUTES = "more than 5 minutes passed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CacheRewrite:
    """A model call that read less from the cache than the call before had left in it.

    `tokens` is how many less. `causes` are all that apply, the surest first: which of them it was, nobody
    reports.
    """

    call: int
    seq: int
    tokens: int
    causes: tuple[RewriteCause, ...]

    @property
    def cause(self) -> RewriteCause:
        """The surest of the causes."""
        return self.causes[0]


def cache_rewrites(records: Iterable[Record]) -> tuple[CacheRewrite, ...]:
    """Every rewrite in a session's records; model calls that report no cache are passed over.

    Idle time is counted from answer to answer: of a real agent nobody records when a request was sent.
    """
    found: list[CacheRewrite] = []
    happened: set[RewriteCause] = set()
    cached, at = 0, 0.0
    for record in records:
        event = record.event
        if isinstance(event, ContextReduced):
            happened.add(RewriteCause.COMPACTION)
        elif isinstance(event, ModelSwitched):
            happened.add(RewriteCause.MODEL)
        elif isinstance(event, CatalogBuilt | ToolLoaded | ToolEvicted):
            happened.add(RewriteCause.TOOLS)
        elif isinstance(event, ModelResponded) and event.usage.cached_tokens is not None:
            lost = cached - event.usage.cached_tokens
            if lost >= LEAST:
                causes = _causes(happened, record.at - at)
                found.append(CacheRewrite(event.call, record.seq, lost, causes))
            cached, at = _left(event.usage), record.at
            happened.clear()
    return tuple(found)


def _left(usage: Usage) -> int:
    """The tokens that the cache holds after a call, as far as the provider reports them."""
    return (usage.cached_tokens or 0) + (usage.written_tokens or 0)


def _causes(happened: set[RewriteCause], idle: float) -> tuple[RewriteCause, ...]:
    applying = set(happened)
    if idle > FIVE_MINUTES:
        applying.add(RewriteCause.HOUR if idle > HOUR else RewriteCause.FIVE_MINUTES)
    return tuple(cause for cause in RewriteCause if cause in applying) or (RewriteCause.UNKNOWN,)
