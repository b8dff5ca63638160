"""What leaves a conversation once a model may not know some tools any more."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inspector.core.message import Message, NoteMessage, ToolMessage
from inspector.core.tool import Tool
from inspector.tokens.manifest import SEARCH_TOOLS

_SEARCH_AGAIN = "[What this search found is not available any more. Search again.]"


def without(messages: Sequence[Message], withdrawn: Mapping[str, Tool]) -> tuple[Message, ...]:
    """The conversation as it goes on without the withdrawn tools, by id.

    A note that tells of one goes whole: what was said of the catalog is said anew. Of a result its definition
    goes, and a search that found one is out of date. What such a tool has returned before stays, as does what
    the model and its user said.
    """
    if not withdrawn:
        return tuple(messages)
    names = {tool.wire_name for tool in withdrawn.values()}
    told = (*withdrawn, *names)
    kept = (message for message in messages if not _tells(message, withdrawn))
    return tuple(
        _cut(message, names, told) if isinstance(message, ToolMessage) else message for message in kept
    )


def _tells(message: Message, withdrawn: Mapping[str, Tool]) -> bool:
    return isinstance(message, NoteMessage) and not withdrawn.keys().isdisjoint(message.tools)


def _cut(message: ToolMessage, names: set[str], told: Sequence[str]) -> ToolMessage:
    left = tuple(one for one in message.definitions if one["function"]["name"] not in names)
    is_stale = message.name == SEARCH_TOOLS and any(name in message.text for name in told)
    return replace(message, text=_SEARCH_AGAIN if is_stale else message.text, definitions=left)
