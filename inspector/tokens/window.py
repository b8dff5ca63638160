"""Fits a conversation into the context window in three steps (semantic tool discovery, section 5.3).

Long results are truncated, then earlier exchanges are compressed, and if that is not enough, everything but
the current exchange is removed. No step separates a call from its result, changes the last user message or
the order of what stays, or makes a conversation longer. A step with nothing to do returns the conversation
unchanged.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from inspector.core.message import AssistantMessage, Message, NoteMessage, ToolMessage, UserMessage

# Shortens a long result: its head and tail stay, and a marker says how much was removed.

Size = Callable[[Message], int]
"""Tokens that a message adds to a request."""

# No text has more tokens; the longest possible marker decides how much room is reserved for it.
_MOST = 10**12


def shortened(message: ToolMessage, kept: int, size: Size) -> ToolMessage:
    """The result with at most `kept` tokens of its text and a marker; the same object if it is short enough.

    Shortening a result to the same length again changes nothing. A shortened result loses more on both sides
    of its marker, which then gives the total.
    """
    bare = size(replace(message, text=""))

    def net(text: str) -> int:
        return size(replace(message, text=text)) - bare

    whole, most = net(message.text), kept + net(_marker(_MOST))
    if whole <= most:
        return message
    head, tail = _halves(message)
    source = net(head) + net(tail) if message.left_out else whole
    characters = len(message.text) * kept // whole
    while True:
        begin, end = head[: characters - characters // 2], tail[len(tail) - characters // 2 :]
        left_out = message.left_out + max(source - net(begin) - net(end), 0)
        cut = replace(message, text=f"{begin}{_marker(left_out)}{end}", left_out=left_out)
        now = net(cut.text)
        if now <= most or not characters:
            return cut if now < whole else message
        characters = min(characters - 1, characters * most // now)


def shortened_by(message: ToolMessage, tokens: int, least: int, size: Size) -> ToolMessage:
    """The result shortened by `tokens` tokens, but not below `least` tokens of its text."""
    bare = size(replace(message, text=""))
    marker = size(replace(message, text=_marker(_MOST))) - bare
    return shortened(message, max(size(message) - bare - marker - tokens, least), size)


def _halves(message: ToolMessage) -> tuple[str, str]:
    """The texts to take head and tail from: the two sides of an existing marker, if any."""
    head, marker, tail = message.text.partition(_marker(message.left_out))
    return (head, tail) if message.left_out and marker else (message.text, message.text)


def _marker(tokens: int) -> str:
    return f"\n[… Toolsight left {tokens} tokens out here to make room …]\n"


_HARD_SHARE, _HARD_LEAST = 10, 10
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Reduced:
    """A conversation after a step: how many messages `changed` or were removed, and what, in words."""

    messages: tuple[Message, ...]
    changed: int = 0
    text: str = ""


def truncated(
    messages: tuple[Message, ...], excess: int, kept: int, size: Size, spared: Container[str] = ()
) -> Reduced:
    """Shorten results to `kept` tokens each, longest first, until `excess` tokens are saved.

    Results of earlier exchanges come first, then those of the current one that the model has already read.
    Results of the `spared` tools stay unchanged.
    """
    present = _present(messages)
    results = [
        (index, result)
        for index, result in _results(messages[: _unread(messages, present)])
        if result.name not in spared
    ]
    results.sort(key=lambda result: (result[0] >= present, -size(result[1])))
    done: dict[int, ToolMessage] = {}
    for index, result in results:
        if excess <= 0:
            break
        done[index] = shortened(result, kept, size)
        excess -= size(result) - size(done[index])
    return _replaced(messages, done, f"shortened to {kept} tokens")


def compressed(messages: tuple[Message, ...], excess: int, size: Size) -> Reduced:
    """Replace the oldest exchanges with one summary, as many as needed to save `excess` tokens.

    The current exchange stays. An earlier summary becomes part of the new one.
    """
    note, earlier = _exchanges(messages[: _present(messages)])
    if excess <= 0 or not earlier:
        return Reduced(messages)
    before = count = note.exchanges if note else 0
    lines, taken, gone = note_lines(note), int(note is not None), size(note) if note else 0
    # Each line is counted once: counting the whole summary again for every line would be quadratic.
    written = sum(_line_size(line, size) for line in lines)
    for exchange in earlier:
        lines.append(summary_line(exchange))
        written += _line_size(lines[-1], size)
        gone += sum(map(size, exchange))
        count, taken = count + 1, taken + len(exchange)
        if gone - written - size(summary_note(count, [""])) >= excess:
            break
    summary = summary_note(count, lines)
    if size(summary) >= gone:
        return Reduced(messages)
    what = "exchange became" if count - before == 1 else f"{count - before} exchanges became"
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
        done[index] = shortened_by(result, excess, least, size)
        excess -= size(result) - size(done[index])
    results = _replaced(history.messages, done, "cut down")
    texts = [text for text in (history.text, results.text) if text]
    return Reduced(results.messages, history.changed + results.changed, "; ".join(texts))


def _without_history(messages: tuple[Message, ...], size: Size) -> Reduced:
    """Replace everything before the current exchange with a note, if that is shorter."""
    present = _present(messages)
    note, earlier = _exchanges(messages[:present])
    count = (note.exchanges if note else 0) + len(earlier)
    left = summary_note(count)
    if size(left) >= sum(map(size, messages[:present])):
        return Reduced(messages)
    gone = "exchange" if count == 1 else f"{count} exchanges"
    return Reduced((left, *messages[present:]), present, f"the earlier {gone} left out")


def _replaced(messages: tuple[Message, ...], done: Mapping[int, ToolMessage], how: str) -> Reduced:
    """The conversation with the results in `done` replaced; unchanged results do not count."""
    changed = {index: result for index, result in done.items() if result is not messages[index]}
    if not changed:
        return Reduced(messages)
    what = "1 result" if len(changed) == 1 else f"{len(changed)} results"
    names = list(dict.fromkeys(result.name for result in changed.values()))
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    text = f"{what} {how}: {', '.join([*names[:_NAMED], *more])}"
    return Reduced(tuple(changed.get(n, m) for n, m in enumerate(messages)), len(changed), text)


def _results(messages: Sequence[Message]) -> list[tuple[int, ToolMessage]]:
    return [(index, message) for index, message in enumerate(messages) if isinstance(message, ToolMessage)]


def _present(messages: Sequence[Message]) -> int:
    """The index at which the current exchange begins."""
    return max((index for index, m in enumerate(messages) if isinstance(m, UserMessage)), default=0)


def _unread(messages: Sequence[Message], present: int) -> int:
    """The index of the current exchange's last calls, whose results the model has not read yet."""
    calls = (n for n, m in enumerate(messages) if isinstance(m, AssistantMessage) and m.tool_calls)
    last = max(calls, default=-1)
    return last if last >= present else len(messages)


def _exchanges(messages: Sequence[Message]) -> tuple[NoteMessage | None, list[Sequence[Message]]]:
    """The note that replaces the first exchanges, if any, and the remaining exchanges."""
    note = messages[0] if messages and isinstance(messages[0], NoteMessage) else None
    if note is not None and not note.exchanges:
        note = None
    rest = messages[note is not None :]
    starts = [index for index, m in enumerate(rest) if index == 0 or isinstance(m, UserMessage)]
    return note, [rest[start:end] for start, end in pairwise([*starts, len(rest)])]


def _line_size(line: str, size: Size) -> int:
    return size(NoteMessage(f"\n{line}")) - size(NoteMessage(""))


# The note that replaces exchanges removed from a conversation, written without a model.

_QUOTED = 200
_NAME = 80
_MOST_NAMED = 12


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
    parts = [f"asked: {_quoted(asked)}"]
    if tools := _tools(exchange):
        parts.append(f"tools: {tools}")
    parts.append(f"answer: {_quoted(answers[-1])}" if answers else "no answer")
    return f"- {'; '.join(parts)}"


def _tools(exchange: Sequence[Message]) -> str:
    calls = Counter(
        f"{_line(m.name, _NAME)} {'failed' if m.failed else 'ok'}"
        for m in exchange
        if isinstance(m, ToolMessage)
    )
    named = [f"{call} {count}x" if count > 1 else call for call, count in islice(calls.items(), _MOST_NAMED)]
    more = len(calls) - len(named)
    return ", ".join([*named, f"{more} more"] if more else named)


def _quoted(text: str) -> str:
    return f"“{_line(text, _QUOTED)}”"


def _line(text: str, limit: int) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[:limit].split())
    return f"{line}…" if len(text) > limit else line
