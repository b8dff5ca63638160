"""Makes room for a request before it is sent, when the conversation nearly fills the window.

Semantic tool discovery, section 5.3: from one share of the window long results are truncated, from another
earlier exchanges are compressed, and a request that still exceeds the window is cut down to the current
exchange. No step separates a call from its result, changes the last user message or the order of what stays,
or makes a conversation longer. A step with nothing to do returns the conversation unchanged.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.budget import Budget, Tokenizer
from inspector.core.error import ModelError
from inspector.core.events import ContextReduced, ReductionStep
from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelRequest,
    NoteMessage,
    ToolMessage,
    UserMessage,
)
from inspector.core.number import count
from inspector.core.session import ToolState
from inspector.core.stream import Session
from inspector.loop.binder import Binder
from inspector.loop.tool_context import Limits, evictions
from inspector.tokens.synthetic import SYNTHETIC

Size = Callable[[Message], int]
"""Tokens that a message adds to a request."""
Short = dict[int, ToolMessage]

# No text has more tokens; the longest possible marker decides how much room is reserved for it.
_MOST = 10**12


def shortened(message: ToolMessage, kept: int, size: Size) -> ToolMessage:
    """The result with at most `kept` tokens of its head and tail, and a marker that says what was removed.

    The same object if it is short enough. A shortened result loses more on both sides of its marker, which
    then gives the total.
    """
    bare = size(replace(message, text=""))

    def net(text: str) -> int:
        return size(replace(message, text=text)) - bare

    whole, most = size(message) - bare, kept + net(_marker(_MOST))
    if whole <= most:
        return message
    source = whole - (net(_marker(message.left_out)) if message.left_out else 0)
    characters = len(message.text) * kept // whole
    while True:
        tail = characters // 2
        begin, end = message.text[: characters - tail], message.text[len(message.text) - tail :]
        left_out = message.left_out + max(source - net(begin) - net(end), 0)
        cut = replace(message, text=f"{begin}{_marker(left_out)}{end}", left_out=left_out)
        now = net(cut.text)
        if now <= most or not characters:
            return cut if now < whole else message
        characters = min(characters - 1, characters * most // now)


def _shortened_by(message: ToolMessage, tokens: int, least: int, size: Size) -> ToolMessage:
    """The result shortened by `tokens` tokens, but not below `least` tokens of its text."""
    bare = size(replace(message, text=""))
    marker = size(replace(message, text=_marker(_MOST))) - bare
    return shortened(message, max(size(message) - bare - marker - tokens, least), size)


def _marker(tokens: int) -> str:
    return f"\n[… Toolsight left {tokens} tokens out here to make room …]\n"


_HARD_SHARE, _HARD_LEAST = 10, 10
_NAMED, _MOST_SHORT = 5, 4096


class Reduced(Struct, frozen=True):
    """A conversation after a step: how many messages `changed` or were removed, and what, in words."""

    messages: tuple[Message, ...]
    changed: int = 0
    text: str = ""


def truncated(
    messages: tuple[Message, ...], excess: int, kept: int, size: Size, spared: Container[str], short: Short
) -> Reduced:
    """Shorten results to `kept` tokens each, longest first, until `excess` tokens are saved.

    Results of earlier exchanges come first, then those of the current one that the model has already read.
    Results of the `spared` tools stay unchanged. `short` gets those that were tried, by identity: a
    later call passes them over, since they have no more to give.
    """
    present = _present(messages)
    results = [
        (index, result)
        for index, result in _results(messages[: _unread(messages, present)])
        if id(result) not in short and result.name not in spared
    ]
    results.sort(key=lambda result: (result[0] >= present, -size(result[1])))
    done: dict[int, ToolMessage] = {}
    for index, result in results:
        if excess <= 0:
            break
        done[index] = cut = shortened(result, kept, size)
        short[id(cut)] = cut
        excess -= size(result) - size(cut)
    return _replaced(messages, done, f"shortened to {kept} tokens")


def compressed(messages: tuple[Message, ...], excess: int, size: Size) -> Reduced:
    """Replace the oldest exchanges with one summary, as many as needed to save `excess` tokens.

    The current exchange stays. An earlier summary becomes part of the new one.
    """
    note, earlier = _exchanges(messages[: _present(messages)])
    if excess <= 0 or not earlier:
        return Reduced(messages)
    before = note.exchanges if note else 0
    lines, taken, gone = note_lines(note), int(note is not None), size(note) if note else 0
    summary = note
    for done, exchange in enumerate(earlier, start=1):
        lines.append(summary_line(exchange))
        summary = summary_note(before + done, lines)
        gone, taken = gone + sum(map(size, exchange)), taken + len(exchange)
        if gone - size(summary) >= excess:
            break
    if summary is None or size(summary) >= gone:
        return Reduced(messages)
    what = "exchange became" if done == 1 else f"{done} exchanges became"
    return Reduced((summary, *messages[taken:]), taken, f"the oldest {what} a summary")


def cut_down(messages: tuple[Message, ...], excess: int, kept: int, size: Size) -> Reduced:
    """Keep only the current exchange and cut its results to fit, the newest least.

    No result is cut below a tenth of `kept` tokens.
    """
    if excess <= 0:
        return Reduced(messages)
    history = _without_history(messages, size)
    excess -= sum(map(size, messages)) - sum(map(size, history.messages))
    least = max(kept // _HARD_SHARE, _HARD_LEAST)
    done: dict[int, ToolMessage] = {}
    for index, result in _results(history.messages):
        if excess <= 0:
            break
        done[index] = _shortened_by(result, excess, least, size)
        excess -= size(result) - size(done[index])
    results = _replaced(history.messages, done, "cut down")
    texts = [text for text in (history.text, results.text) if text]
    return Reduced(results.messages, history.changed + results.changed, "; ".join(texts))


def _without_history(messages: tuple[Message, ...], size: Size) -> Reduced:
    """Replace everything before the current exchange with a note, if that is shorter."""
    present = _present(messages)
    note, earlier = _exchanges(messages[:present])
    gone_before = (note.exchanges if note else 0) + len(earlier)
    left = summary_note(gone_before)
    if size(left) >= sum(map(size, messages[:present])):
        return Reduced(messages)
    gone = "exchange" if gone_before == 1 else f"{gone_before} exchanges"
    return Reduced((left, *messages[present:]), present, f"the earlier {gone} left out")


def _replaced(messages: tuple[Message, ...], done: Mapping[int, ToolMessage], how: str) -> Reduced:
    """The conversation with the results in `done` replaced; unchanged results do not count."""
    changed = {index: result for index, result in done.items() if result is not messages[index]}
    if not changed:
        return Reduced(messages)
    what = count(len(changed), "result")
    names = list(dict.fromkeys(result.name for result in changed.values()))
    text = f"{what} {how}: {', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''}"
    return Reduced(tuple(changed.get(n, m) for n, m in enumerate(messages)), len(changed), text)


def _results(messages: Sequence[Message]) -> list[tuple[int, ToolMessage]]:
    return [(index, message) for index, message in enumerate(messages) if isinstance(message, ToolMessage)]


def _present(messages: Sequence[Message]) -> int:
    """The index at which the current exchange begins."""
    return next((n for n in range(len(messages) - 1, -1, -1) if isinstance(messages[n], UserMessage)), 0)


def _unread(messages: Sequence[Message], present: int) -> int:
    """The index of the current exchange's last calls, whose results the model has not read yet."""
    exchange = enumerate(messages[present:], start=present)
    calls = (n for n, m in exchange if isinstance(m, AssistantMessage) and m.tool_calls)
    return max(calls, default=len(messages))


def _exchanges(messages: Sequence[Message]) -> tuple[NoteMessage | None, list[Sequence[Message]]]:
    """The note that replaces the first exchanges, if any, and the remaining exchanges."""
    note = messages[0] if messages and isinstance(messages[0], NoteMessage) else None
    if note is not None and not note.exchanges:
        note = None
    rest = messages[note is not None :]
    starts = [index for index, m in enumerate(rest) if index == 0 or isinstance(m, UserMessage)]
    return note, [rest[start:end] for start, end in pairwise([*starts, len(rest)])]


# The note that replaces exchanges removed from a conversation, written without a model.

_QUOTED, _NAME = 200, 80


def summary_note(exchanges: int, lines: Sequence[str] = ()) -> NoteMessage:
    """The note that replaces `exchanges` exchanges, with one line for each summarized one."""
    many = f"first {exchanges} exchanges" if exchanges != 1 else "first exchange"
    rest = " Toolsight's summary of what was said:" if lines else ""
    header = f"[Toolsight took the {many} out of this conversation to make room.{rest}]"
    return NoteMessage("\n".join((header, *lines)), exchanges)


def note_lines(note: NoteMessage | None) -> list[str]:
    """The summary lines of a note."""
    return note.text.split("\n")[1:] if note is not None else []


def summary_line(exchange: Sequence[Message]) -> str:
    """One exchange on one line: the request, the tools called and their outcomes, the answer."""
    asked = next((m.text for m in exchange if isinstance(m, UserMessage)), "")
    answers = [
        m.text for m in exchange if isinstance(m, AssistantMessage) and not m.tool_calls and not m.thought
    ]
    results = (m for m in exchange if isinstance(m, ToolMessage))
    calls = Counter(f"{_line(m.name, _NAME)} {'failed' if m.failed else 'ok'}" for m in results)
    tools = ", ".join(f"{call} {count}x" if count > 1 else call for call, count in calls.items())
    parts = [f"asked: {_quoted(asked)}"]
    parts += [f"tools: {tools}"] if tools else []
    parts.append(f"answer: {_quoted(answers[-1])}" if answers else "no answer")
    return f"- {'; '.join(parts)}"


def _quoted(text: str) -> str:
    return f"“{_line(text, _QUOTED)}”"


def _line(text: str, limit: int) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[:limit].split())
    return f"{line}…" if len(text) > limit else line


# The shares of the window that the paper leaves open: results go while there is room for the next exchange,
# and exchanges only when that was not enough; then room is made for several: each summary empties the cache.
_TRUNCATE_AT, _COMPRESS_AT, _COMPRESS_TO = 0.8, 0.9, 0.75
# Of a shortened result: enough for its first lines and its last.
KEPT_TOKENS = 200

Reduction = Callable[[tuple[Message, ...], int], Reduced]


class Fitted(Struct, frozen=True):
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
    _short: dict[Tokenizer, Short] = field(default_factory=dict)

    def fit(self, messages: tuple[Message, ...], *, think: bool = False) -> Fitted:
        """The next request, with its conversation shortened if needed.

        If nothing makes it fit, the conversation is not cut down in vain: see `require_room`.
        """
        size, fitted = self.binder.size, self._prepared(messages, think)
        short = self._short.setdefault(fitted.budget.tokenizer, {})
        if len(short) > _MOST_SHORT:
            short.clear()
        truncate = partial(truncated, kept=KEPT_TOKENS, size=size, spared=self._spared, short=short)
        fitted = self._relieved(fitted, "truncate", _TRUNCATE_AT, _TRUNCATE_AT, truncate)
        compress = partial(compressed, size=size)
        fitted = self._relieved(fitted, "compress", _COMPRESS_AT, _COMPRESS_TO, compress)
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

    def _relieved(
        self, before: Fitted, step: ReductionStep, due: float, wanted: float, reduce: Reduction
    ) -> Fitted:
        """The request after a step that is due at a share of the window, and reduces it to another."""
        window = before.budget.window
        if due * window <= 0 or before.used < due * window:
            return before
        reduced = reduce(before.messages, int(before.used - wanted * window) + 1)
        if reduced.messages is before.messages:
            return before
        after = self._prepared(reduced.messages, before.request.think)
        if after.used >= before.used:
            return before
        self._report(step, before, after, reduced.changed, reduced.text)
        return after

    def _rescued(self, before: Fitted) -> Fitted:
        """The request cut down until it fits, or unchanged if it never would."""
        reduced = cut_down(before.messages, before.over, KEPT_TOKENS, self.binder.size)
        think = before.request.think
        after = self._prepared(reduced.messages, think)
        if after.over > sum(tool.tokens for tool in self._evictable(after.request)):
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
        limits = Limits(tokens=max(sum(tool.tokens for tool in loaded) - over, 0))
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
    named = sorted(((tokens, name) for name, tokens in shares.items() if tokens), reverse=True)
    return ", ".join(f"{name} {tokens}" for tokens, name in named)
