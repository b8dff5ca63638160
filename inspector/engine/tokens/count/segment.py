r"""A request cut where a tokenizer cuts it anyway, so that counting the pieces is counting the whole.

OpenAI's encodings split a text with a regular expression before they merge bytes, and never merge across a
split. A run of two or more punctuation marks is one match there, up to the first letter. Every entry of
`messages` and `tools` begins with `{"` and a letter, so the text may be cut behind that quotation mark:

    {"messages":[{"  |  role":"user",…},{"  |  role":…}],"tools":[{"  |  type":"function",…}]}

A piece depends on its entry and on what follows it only, so its count is kept as long as the entry is.
"""

from collections.abc import Sequence

from inspector.domain.jsonvalue import compact

HEAD, TOOLS_HEAD = '{"messages":[', '],"tools":['
OPENING, NEXT = '{"', ',{"'
_END = "]}"


def request_pieces(messages: Sequence[str], tools: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """What comes before the first entry, then one piece an entry; joined they are the compact body.

    `messages` and `tools` are the entries as compact JSON; of a body without tools that key is left out.
    """
    tail = TOOLS_HEAD + OPENING if tools else _END
    if not messages:
        return HEAD + tail, [], _pieces(tools, _END)
    return HEAD + OPENING, _pieces(messages, tail), _pieces(tools, _END)


def piece(entry: str) -> str:
    """What an entry adds to an array that goes on after it."""
    return entry[len(OPENING) :] + NEXT


def _pieces(entries: Sequence[str], tail: str) -> list[str]:
    last = len(entries) - 1
    return [entry[len(OPENING) :] + (NEXT if place < last else tail) for place, entry in enumerate(entries)]


def inner(value: str) -> str:
    """A text as it stands between the quotation marks of JSON."""
    return compact(value)[1:-1]
