"""The per-turn gate: selects the tools that fit the turn (Tool Attention, sections 4.2 to 4.5, appendix A).

    active = the top k of the tools whose score is at least the threshold and whose preconditions hold

Pinned tools are bound whatever they score, and tools that a precondition keeps out are skipped: neither count
among the k.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from statistics import median
from typing import TYPE_CHECKING

from inspector.core.events import GateApplied, GateScore
from inspector.core.message import AssistantMessage, Message, ToolMessage, UserMessage
from inspector.core.ports import Clock
from inspector.core.settings import GateSettings

if TYPE_CHECKING:
    from inspector.search.index import ToolIndex
    from inspector.search.rankers.catalog_rankers import CatalogRankers

# Of what a turn is about, so much text at most.
_SUMMARY, _OBSERVATION = 600, 300
_ROLLING = 4
_HASH_BYTES = 8


class Gate:
    """Scores every tool in an index for a turn."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._latencies: list[float] = []

    def apply(
        self,
        rankers: "CatalogRankers",
        messages: Sequence[Message],
        settings: GateSettings,
        *,
        pinned: Collection[str],
        unmet: Mapping[str, Sequence[str]],
        tokens: Callable[[str], int],
        call: int = 0,
        pool_tokens: int = 0,
    ) -> GateApplied:
        """Select the tools for model call `call`, besides those that are `pinned`.

        `unmet` holds the unmet preconditions by tool; `pool_tokens` is the size of the resident summaries.

        Raises ToolsightError for an unknown ranker, ModelError if embedding fails.
        """
        started = self._clock.monotonic()
        query = gate_query(messages, settings.query)
        # What was used before is no reason to reach the threshold.
        ranker = rankers.plain(settings.ranker)
        ranking = ranker.rank(query)
        if settings.query == "either":
            ranking = ranking.better(ranker.rank(gate_query(messages, "user")))
        tools = rankers.index.tools
        fits = ranking.values >= settings.threshold
        always = [rankers.index.position[tool_id] for tool_id in pinned if tool_id in rankers.index.position]
        fits[always] = False
        passed = [position for position in ranking.order() if fits[position]]
        candidates = [
            GateScore(tools[at].id, float(ranking.values[at]), tuple(unmet.get(tools[at].id, ())))
            for at in passed
        ]
        active = [one.tool for one in candidates if not one.unmet][: settings.top_k]
        elapsed = (self._clock.monotonic() - started) * 1000
        self._latencies.append(elapsed)
        return GateApplied(
            query=query,
            active=tuple(active),
            candidates=tuple(candidates),
            threshold=settings.threshold,
            below=len(tools) - len(always) - len(passed),
            tokens=sum(tokens(tool_id) for tool_id in active),
            milliseconds=elapsed,
            note=ranking.note,
            call=call,
            query_hash=_query_hash(rankers.index, query),
            gated_out=tuple(one.tool for one in candidates if one.unmet),
            pool_tokens=pool_tokens,
            p50_milliseconds=median(self._latencies),
        )


def _query_hash(index: "ToolIndex", query: str) -> str:
    """Identifies the query by its vector or, while there is none, by its text."""
    vector = index.query_vector(query)
    content = vector.tobytes() if vector is not None else query.encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=_HASH_BYTES).hexdigest()


def gate_query(messages: Sequence[Message], mode: str) -> str:
    """The gate's query: the last user message alone, with earlier messages, or with the last result since.

    With `either`, tools are compared with what this returns and with the message alone.
    """
    requests = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    if not requests:
        return ""
    request, before, since = messages[requests[-1]], messages[: requests[-1]], messages[requests[-1] + 1 :]
    if mode in ("rolling", "either"):
        said = [m.text for m in before if isinstance(m, UserMessage | AssistantMessage) and m.text]
        return f"{request.text} {' '.join(said[-_ROLLING:])[-_SUMMARY:]}".strip()
    if mode == "observation":
        results = [m.text for m in since if isinstance(m, ToolMessage)]
        return f"{request.text} {''.join(results[-1:])[:_OBSERVATION]}".strip()
    return request.text
