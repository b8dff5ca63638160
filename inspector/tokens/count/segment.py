r"""Cuts a request where a tokenizer splits it anyway, so that the counts of the pieces add up to the whole.

OpenAI's encodings split a text with a regular expression before they merge bytes, and never merge across a
split. There, a run of two or more punctuation marks is one match, up to the first letter. Every entry of
`messages` and `tools` begins with `{"` and a letter, so the text can be cut after that quotation mark:

    {"messages":[{"  |  role":"user",…},{"  |  role":…}],"tools":[{"  |  type":"function",…}]}

A piece depends only on its entry and on what follows it, so its count is valid as long as the entry is.
"""

from collections.abc import Sequence

from inspector.schema.json_value import compact

HEAD, TOOLS_HEAD = '{"messages":[', '],"tools":['
OPENING, NEXT = '{"', ',{"'
_END = "]}"


def request_pieces(messages: Sequence[str], tools: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The text before the first entry, then one piece per entry; joined they form the compact body.

    `messages` and `tools` are the entries as compact JSON; a body without tools has no `tools` key.
    """
    tail = TOOLS_HEAD + OPENING if tools else _END
    if not messages:
        return HEAD + tail, [], _pieces(tools, _END)
    return HEAD + OPENING, _pieces(messages, tail), _pieces(tools, _END)


def piece(entry: str) -> str:
    """What an entry adds to an array that continues after it."""
    return entry[len(OPENING) :] + NEXT


def _pieces(entries: Sequence[str], tail: str) -> list[str]:
    last = len(entries) - 1
    return [entry[len(OPENING) :] + (NEXT if index < last else tail) for index, entry in enumerate(entries)]


def inner(value: str) -> str:
    """A text as written between the quotation marks of a JSON string."""
    return compact(value)[1:-1]
