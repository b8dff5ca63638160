"""Room for a request before it is sent: what happens to a conversation that comes near the window.

Semantic tool discovery, section 5.3: long results are truncated from one share of the window on, earlier
exchanges compressed from another, and what is over the window even so is cut down to the present exchange.
"""

from collections.abc import Callable
from dataclasses import dataclass

from inspector.domain.budget import Budget
from inspector.domain.error import ModelError
from inspector.domain.events import ContextReduced, ReductionStep
from inspector.domain.manifest import SEARCH_TOOLS
from inspector.domain.message import Message, ModelRequest
from inspector.domain.settings import BudgetSettings
from inspector.engine.live import LiveSettings
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.binding.delivery import has_proxy
from inspector.engine.loop.binding.eviction import Limits, evictions
from inspector.engine.session import Session
from inspector.engine.tokens.window.reduction import Reduced, compressed, cut_down, truncated

"""The cause of an eviction for want of room."""

Reduction = Callable[[tuple[Message, ...], int], Reduced]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request as it would be sent, and what it costs."""

    request: ModelRequest
    budget: Budget

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.request.messages

    @property
    def used(self) -> int:
        """Tokens with what is kept free for the answer."""
        return self.budget.parts.used

    @property
    def over(self) -> int:
        """Tokens for which the window has no room; a model without a window takes everything."""
        return max(self.used - self.budget.window, 0) if self.budget.window > 0 else 0


class Headroom:
    """Makes requests fit, and tells of every step that changed something."""

    def __init__(self, session: Session, binder: Binder, live: LiveSettings) -> None:
        self._session = session
        self._binder = binder
        self._live = live

    def fit(self, messages: tuple[Message, ...], *, think: bool = False) -> Fitted:
        """The next request, its conversation shortened if need be.

        Where nothing makes it fit the conversation is not cut down in vain: see `require_room`.
        """
        settings = self._live.settings.budget

        def truncate(messages: tuple[Message, ...], excess: int) -> Reduced:
            return truncated(messages, excess, settings.kept_tokens, self._size, self._spared)

        def compress(messages: tuple[Message, ...], excess: int) -> Reduced:
            return compressed(messages, excess, self._size)

        fitted = self._prepared(messages, think)
        fitted = self._relieved(fitted, "truncate", settings.truncate_at, truncate)
        fitted = self._relieved(fitted, "compress", settings.compress_at, compress)
        if fitted.over and settings.emergency:
            fitted = self._rescued(fitted, settings)
        return fitted

    def require_room(self, fitted: Fitted) -> None:
        """Raises ModelError, with what takes the room, where a request is over the window."""
        if not fitted.over:
            return
        hint = "Choose a model with a larger window, defer servers, or lower budget.output_reserve."
        if not self._live.settings.budget.emergency:
            hint += " With budget.emergency on the conversation is cut down first."
        window, shares = fitted.budget.window, _shares(fitted.budget)
        text = f"the request does not fit: {fitted.used} tokens, the window has {window} ({shares})"
        raise ModelError(text, hint=hint)

    def _prepared(self, messages: tuple[Message, ...], think: bool) -> Fitted:
        request = self._binder.request(messages, think=think)
        return Fitted(request, self._binder.budget(request))

    def _relieved(self, before: Fitted, step: ReductionStep, share: float, reduce: Reduction) -> Fitted:
        """The request after a step that is due from a share of the window on."""
        mark = share * before.budget.window
        if mark <= 0 or before.used < mark:
            return before
        reduced = reduce(before.messages, int(before.used - mark) + 1)
        after = self._prepared(reduced.messages, before.request.think)
        if after.used >= before.used:
            return before
        self._tell(step, before, after, reduced.changed, reduced.text)
        return after

    def _rescued(self, before: Fitted, settings: BudgetSettings) -> Fitted:
        """The request cut down until it fits; as it was where it never would."""
        reduced = cut_down(before.messages, before.over, settings.kept_tokens, self._size)
        think = before.request.think
        after = self._prepared(reduced.messages, think)
        if after.over > self._evictable:
            return before
        texts = [reduced.text] if reduced.changed else []
        while after.over and self._evictable:
            texts.append(f"evicted {', '.join(self._evict(after.over))}")
            after = self._prepared(reduced.messages, think)
        if texts:
            self._tell("emergency", before, after, reduced.changed, "; ".join(texts))
        return after

    @property
    def _evictable(self) -> int:
        """Tokens of discovered tools in the request; with a proxy there are none in it."""
        if has_proxy(self._binder.delivery):
            return 0
        state = self._session.state
        return sum(state.tools[tool_id].tokens for tool_id in state.load_order)

    def _evict(self, over: int) -> list[str]:
        """Unbind discovered tools of so many tokens, the least recently used first."""
        state = self._session.state
        loaded = [state.tools[tool_id] for tool_id in state.load_order]
        limits = Limits(tokens=max(self._evictable - over, 0))
        gone = [one.tool_id for one in evictions(loaded, limits, state.at)]
        for tool_id in gone:
            reason = f"the request was {over} tokens over the window; least recently used first"
            self._binder.context.evict(tool_id, "window", reason)
        return gone

    def _tell(self, step: ReductionStep, before: Fitted, after: Fitted, changed: int, text: str) -> None:
        self._session.emit(ContextReduced(step, before.used, after.used, changed, text))

    @property
    def _spared(self) -> frozenset[str]:
        """Whose results stay whole: with a proxy the parameters of a tool are nowhere but in a search."""
        return frozenset({SEARCH_TOOLS}) if has_proxy(self._binder.delivery) else frozenset()

    def _size(self, message: Message) -> int:
        return self._binder.size(message)


def _shares(budget: Budget) -> str:
    """What takes the room, the most first."""
    parts = budget.parts
    shares = {
        "system prompt": parts.system,
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
