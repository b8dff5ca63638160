"""Makes room for a request before it is sent, when the conversation nearly fills the window.

Semantic tool discovery, section 5.3: from one share of the window long results are truncated, from another
earlier exchanges are compressed, and a request that still exceeds the window is cut down to the current
exchange.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.core.budget import Budget
from inspector.core.error import ModelError
from inspector.core.events import ContextReduced, ReductionStep
from inspector.core.message import Message, ModelRequest
from inspector.core.session import ToolState
from inspector.core.stream import LiveSettings, Session
from inspector.loop.binder import Binder
from inspector.loop.tool_context import Limits, evictions
from inspector.tokens.synthetic import SYNTHETIC
from inspector.tokens.window import Reduced, compressed, cut_down, truncated

# The shares of the window that the paper leaves open: results go while there is room for the next exchange,
# and exchanges only when that was not enough.
_TRUNCATE_AT, _COMPRESS_AT = 0.8, 0.9
# Of a shortened result: enough for its first lines and its last.
KEPT_TOKENS = 200

Reduction = Callable[[tuple[Message, ...], int], Reduced]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request as it would be sent, its budget, and the conversation in it."""

    request: ModelRequest
    budget: Budget
    messages: tuple[Message, ...]

    @property
    def used(self) -> int:
        """Tokens, including those reserved for the answer."""
        return self.budget.parts.used

    @property
    def over(self) -> int:
        """Tokens that exceed the window; a model without a window accepts everything."""
        return max(self.used - self.budget.window, 0) if self.budget.window > 0 else 0


@dataclass(eq=False)
class Headroom:
    """Makes requests fit and emits an event for every step that changed something."""

    session: Session
    binder: Binder
    live: LiveSettings

    def fit(self, messages: tuple[Message, ...], *, think: bool = False) -> Fitted:
        """The next request, with its conversation shortened if needed.

        If nothing makes it fit, the conversation is not cut down in vain: see `require_room`.
        """

        def truncate(messages: tuple[Message, ...], excess: int) -> Reduced:
            return truncated(messages, excess, KEPT_TOKENS, self._size, self._spared)

        def compress(messages: tuple[Message, ...], excess: int) -> Reduced:
            return compressed(messages, excess, self._size)

        fitted = self._prepared(messages, think)
        fitted = self._relieved(fitted, "truncate", _TRUNCATE_AT, truncate)
        fitted = self._relieved(fitted, "compress", _COMPRESS_AT, compress)
        return self._rescued(fitted) if fitted.over else fitted

    def require_room(self, fitted: Fitted) -> None:
        """Raises ModelError, saying what takes the room, if a request exceeds the window."""
        if not fitted.over:
            return
        hint = "Choose a model with a larger window, defer servers, or lower budget.output_reserve."
        window, shares = fitted.budget.window, _shares(fitted.budget)
        text = f"the request does not fit: {fitted.used} tokens, but the window has {window} ({shares})"
        raise ModelError(text, hint=hint)

    def _prepared(self, messages: tuple[Message, ...], think: bool) -> Fitted:
        request = self.binder.request(messages, think=think)
        return Fitted(request, self.binder.budget(request), messages)

    def _relieved(self, before: Fitted, step: ReductionStep, share: float, reduce: Reduction) -> Fitted:
        """The request after a step that is due at a share of the window."""
        mark = share * before.budget.window
        if mark <= 0 or before.used < mark:
            return before
        reduced = reduce(before.messages, int(before.used - mark) + 1)
        after = self._prepared(reduced.messages, before.request.think)
        if after.used >= before.used:
            return before
        self._report(step, before, after, reduced.changed, reduced.text)
        return after

    def _rescued(self, before: Fitted) -> Fitted:
        """The request cut down until it fits, or unchanged if it never would."""
        reduced = cut_down(before.messages, before.over, KEPT_TOKENS, self._size)
        think = before.request.think
        after = self._prepared(reduced.messages, think)
        if after.over > _tokens(self._evictable(after.request)):
            return before
        texts = [reduced.text] if reduced.changed else []
        while after.over and self._evictable(after.request):
            texts.append(f"evicted {', '.join(self._evict(after))}")
            after = self._prepared(reduced.messages, think)
        if texts:
            self._report("emergency", before, after, reduced.changed, "; ".join(texts))
        return after

    def _evictable(self, request: ModelRequest) -> list[ToolState]:
        """The loaded tools in a request's `tools`; a proxy or the provider keeps them out of there."""
        state, catalog = self.session.state, self.binder.catalog
        names = {entry["function"]["name"] for entry in request.tools}
        loaded = (tool for tool in map(catalog.get, state.load_order) if tool is not None)
        return [state.tools[tool.id] for tool in loaded if tool.wire_name in names]

    def _evict(self, fitted: Fitted) -> list[str]:
        """Evict loaded tools until the request fits, least recently used first."""
        loaded, over = self._evictable(fitted.request), fitted.over
        limits = Limits(tokens=max(_tokens(loaded) - over, 0))
        gone = [eviction.tool_id for eviction in evictions(loaded, limits, self.session.state.at)]
        for tool_id in gone:
            reason = f"the request was {over} tokens over the window; least recently used first"
            self.binder.context.evict(tool_id, "window", reason)
        return gone

    def _report(self, step: ReductionStep, before: Fitted, after: Fitted, changed: int, text: str) -> None:
        self.session.emit(ContextReduced(step, before.used, after.used, changed, text))

    @property
    def _spared(self) -> frozenset[str]:
        """The tools whose results stay whole."""
        delivery = self.binder.delivery
        return frozenset(name for name, tool in SYNTHETIC.items() if tool.holds_schemas(delivery))

    def _size(self, message: Message) -> int:
        return self.binder.size(message)


def _tokens(tools: Sequence[ToolState]) -> int:
    return sum(tool.tokens for tool in tools)


def _shares(budget: Budget) -> str:
    """What takes the room, largest part first."""
    parts = budget.parts
    shares = {
        "system prompt": parts.system,
        "server instructions": parts.instructions,
        "tool summaries": parts.pool,
        "tools": parts.tools,
        "search_tools": parts.meta,
        "manifest": parts.manifest,
        "conversation": parts.history,
        "searches": parts.searches,
        "reserve for the answer": parts.output_reserve,
    }
    named = sorted(shares.items(), key=lambda share: -share[1])
    return ", ".join(f"{name} {tokens}" for name, tokens in named if tokens)
