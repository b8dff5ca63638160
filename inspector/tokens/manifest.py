"""The server manifest and the `search_tools` definition that carries it (PRD sections 2.2 and 2.3)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from inspector.core.message import AssistantMessage, Message, ToolCall, ToolMessage
from inspector.core.number import plural
from inspector.core.ranking import SearchOffer
from inspector.core.settings import ManifestSettings
from inspector.core.text import first_sentence, one_line, shortened, without_breaks
from inspector.core.tool import Tool, function_definition
from inspector.schema.json_value import JsonObject, compact

#     {"messages":[{"role":"system",…},{"role":"user",…},…],"tools":[{"type":"function",…},…]}
#
# as compact JSON: the part of the request body that becomes the model's input. Providers turn it into their
# own prompt and add unpublished framing tokens, so their reported counts are shown next to the counted ones.
# A definition that a provider loads with a result counts there, as the text that it becomes.


def wire_system(text: str) -> dict[str, Any]:
    """The system prompt as a message."""
    return {"role": "system", "content": sendable(text)}


def wire_message(message: Message) -> dict[str, Any]:
    """One message of the conversation."""
    if isinstance(message, ToolMessage):
        return {
            "role": "tool",
            "tool_call_id": message.call_id,
            "content": sendable(text_with(message.text, message.definitions)),
        }
    if isinstance(message, AssistantMessage):
        text = sendable(message.text)
        if not message.tool_calls:
            return {"role": "assistant", "content": text}
        calls = [_wire_call(call) for call in message.tool_calls]
        # A call without text has no content at all: clients leave out a null.
        return {"role": "assistant", **({"content": text} if text else {}), "tool_calls": calls}
    return {"role": "user", "content": sendable(message.text)}


def text_with(text: str, definitions: Sequence[JsonObject]) -> str:
    """What a model reads of a result: its text, then the definitions that come with it, one per line."""
    lines = definition_lines(definitions)
    return f"{text}\n\n{lines}" if text and lines else text or lines


def definition_lines(definitions: Sequence[JsonObject]) -> str:
    """Definitions as text, one per line."""
    return "\n".join(compact(definition["function"]) for definition in definitions)


def _wire_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": sendable(compact(call.arguments))}
    return {"id": call.id, "type": "function", "function": function}


def sendable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and so HTTP bodies cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


# A server manifest in every size: from every server in full down to their number.

HEADER = "Available tool servers (use this tool to load their definitions):"
# A server with more than ten tools has four listed: enough to show of what kind they are; the rest is found
# by searching.
_LISTED_IN_FULL, _LISTED_OF_MANY = 10, 4
_SHORT_SENTENCE = 80


class ManifestEntry(Struct, frozen=True):
    """One server in the manifest: its name, its permitted deferred tools, and a one-line summary."""

    server: str
    tools: tuple[str, ...]
    summary: str = ""


def _first(summary: str) -> str:
    return first_sentence(summary) or one_line(summary)


# Each step shows less of every server: what it tells of that, what it leaves of a description, and whether
# tools are listed.
_STEPS: tuple[tuple[str, Callable[[str], str], bool], ...] = (
    ("", one_line, True),
    ("descriptions cut to their first sentence", _first, True),
    (
        f"descriptions cut to {_SHORT_SENTENCE} characters",
        lambda text: shortened(_first(text), _SHORT_SENTENCE),
        True,
    ),
    ("descriptions left out", lambda _: "", True),
    ("descriptions and names of tools left out", lambda _: "", False),
)


def _block(entry: ManifestEntry, summary: str, lists: bool) -> str:
    """A server, its number of tools, the first of them, and its description if there is one left."""
    many = len(entry.tools) > _LISTED_IN_FULL
    names = [without_breaks(name) for name in entry.tools[: _LISTED_OF_MANY if many else _LISTED_IN_FULL]]
    line = f"- {without_breaks(entry.server)} ({_counted(len(entry.tools), 'tool')})"
    if lists and names:
        left = len(entry.tools) - len(names)
        line = f"{line}: {', '.join(names)}" + (f", ... and {left} more" if left else "")
    return f"{line}\n  {summary}" if summary else line


def _named(servers: Sequence[ManifestEntry], most: int, header: str) -> tuple[str, str]:
    """A manifest that names the `most` servers with the most tools on one line, and what that leaves out."""
    left = len(servers) - most
    if not most:
        every = _counted(len(servers), "server")
        return f"{header} {every}", f"none of {every} named"
    largest = sorted(servers, key=lambda entry: (-len(entry.tools), entry.server))[:most]
    line = f"- {', '.join(without_breaks(entry.server) for entry in servers if entry in largest)}"
    if not left:
        return _joined([header, line], told := "servers named on one line"), told
    note = f"... and {left} more {plural(left, 'server')}; search to find their tools"
    told = f"only the {most} of {_counted(len(servers), 'server')} with the most tools named"
    return "\n\n".join((header, line, note)), told


def _joined(blocks: Sequence[str], told: str) -> str:
    note = [f"... shortened: {told}. Search finds every tool."] if told else []
    return "\n\n".join((*blocks, *note))


def _counted(number: int, noun: str) -> str:
    return f"{number} {plural(number, noun)}"


SEARCH_TOOLS = "search_tools"
CALL_TOOL = "call_tool"
RUN_SCRIPT = "run_script"
_PURPOSE = (
    "Search for and load tool definitions from available MCP servers. "
    "Use this before calling a tool that isn't currently loaded."
)
_ADVICE = (
    "All tools are loaded already and can be called at once. "
    "Use this to find out which of them is the right one for a task."
)


def entries(deferred: Iterable[Tool], summaries: Mapping[str, str]) -> tuple[ManifestEntry, ...]:
    """Group deferred tools by server, in catalog order."""
    names: dict[str, list[str]] = {}
    for tool in deferred:
        names.setdefault(tool.server, []).append(tool.name)
    return tuple(ManifestEntry(s, tuple(tools), summaries.get(s, "")) for s, tools in names.items())


class Manifest(Struct, frozen=True):
    """A manifest, its tokens, and the rules that shortened it, in words and in order."""

    text: str
    tokens: int
    rules: tuple[str, ...]


def fitted_manifest(
    servers: Sequence[ManifestEntry],
    settings: ManifestSettings,
    count: Callable[[str], int],
    header: str = HEADER,
) -> Manifest:
    """Shorten the manifest to at most `max_tokens` of the settings; 0 means no limit.

    First all servers lose as much, then those with few tools are left out. Only the bare header may exceed
    the limit.
    """
    if not servers:
        return Manifest("", 0, ())
    for told, cut, lists in _STEPS:
        blocks = [_block(entry, cut(entry.summary), lists) for entry in servers]
        text = _joined([header, *blocks], told)
        tokens = count(text)
        if not settings.max_tokens or tokens <= settings.max_tokens:
            return Manifest(text, tokens, (told,) if told else ())
    low, high = 0, len(servers)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_named(servers, middle, header)[0]) <= settings.max_tokens:
            low = middle
        else:
            high = middle - 1
    text, told = _named(servers, low, header)
    return Manifest(text, count(text), (told,))


def search_tools_definition(
    manifest: str, offer: SearchOffer | None = None, *, advisory: bool = False
) -> dict[str, Any]:
    """The meta-tool of PRD section 2.3, as an entry in the `tools` array.

    Without an `offer` it is that of the default settings. The advisory form is for sessions in which every
    tool is loaded. An empty manifest is left out.
    """
    purpose = _ADVICE if advisory else _PURPOSE
    description = f"{purpose}\n\n<manifest>\n{manifest}\n</manifest>" if manifest else purpose
    parameters = (offer or SearchOffer()).parameters(advisory=advisory)
    return function_definition(SEARCH_TOOLS, description, parameters)
