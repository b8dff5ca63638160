"""Shortens a long result: its head and tail stay, and a marker says how much was removed."""

from collections.abc import Callable
from dataclasses import replace

from inspector.domain.message import Message, ToolMessage

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
