"""The server manifest and the `search_tools` definition that carries it (PRD sections 2.2 and 2.3)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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


class EntryTexts:
    """Caches the compact JSON of the last requested `tools` entries while each stays the same object."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[dict[str, Any], str]] = {}
        self._array: Sequence[dict[str, Any]] = ()
        self._texts: tuple[str, ...] = ()

    def of(self, entries: Sequence[dict[str, Any]]) -> tuple[str, ...]:
        """The text of each entry; the same object for the same tuple of entries."""
        if entries is self._array:
            return self._texts
        fresh: dict[int, tuple[dict[str, Any], str]] = {}
        texts = []
        for entry in entries:
            kept = self._kept.get(id(entry))
            text = kept[1] if kept is not None and kept[0] is entry else compact(entry)
            fresh[id(entry)] = (entry, text)
            texts.append(text)
        self._kept, self._texts = fresh, tuple(texts)
        # A list may change between calls; a tuple cannot.
        self._array = entries if isinstance(entries, tuple) else ()
        return self._texts


# A server manifest in every size: from every server in full down to their number.

HEADER = "Available tool servers (use this tool to load their definitions):"
_SENTENCE_LIMITS = (120, 80, 60, 40)
# A server with more than ten tools has four listed: enough to show of what kind they are; the rest is found
# by searching.
_LISTED_IN_FULL, _LISTED_OF_MANY = 10, 4
# Parts of servers as written: when one server lists its tools again, those of the others stay.
_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One server in the manifest: its name, its permitted deferred tools, and a one-line summary."""

    server: str
    tools: tuple[str, ...]
    summary: str = ""


class ManifestForms:
    """Every form of a manifest, from 0 steps (complete) to `steps` (the header alone)."""

    def __init__(self, servers: Sequence[ManifestEntry], header: str = HEADER) -> None:
        self._header = header
        self._servers = servers
        self._listed = [_listed(entry) for entry in servers]
        self._cuts = _cuts([entry.summary for entry in servers])
        self._most_listed = max(self._listed)
        sizes = {n: (-len(entry.tools), entry.server) for n, entry in enumerate(servers)}
        self._by_size = sorted(sizes, key=sizes.__getitem__)
        # Descriptions shorter and shorter, names fewer and fewer, one line, that line without its numbers.
        self._alone = len(self._cuts) - 1
        self._counted = self._alone + self._most_listed
        self._grouped = self._counted + 1
        self._named = self._grouped + 1
        self.steps = self._named + len(servers)

    def text(self, steps: int) -> str:
        """The manifest after so many steps."""
        if steps == self.steps:
            return f"{self._header} {_counted(len(self._servers), 'server')}"
        blocks = [self._line_of_all(steps)] if steps > self._counted else self._blocks(steps)
        return "\n\n".join([self._header, *blocks, *([self._note(steps)] if steps else [])])

    def rules(self, steps: int) -> tuple[str, ...]:
        """What the first `steps` steps did, in words and in order."""
        servers = len(self._servers)
        if steps == self.steps:
            return (f"none of {_counted(servers, 'server')} named",)
        if steps > self._named:
            named = self.steps - steps
            return (f"only the {named} of {_counted(servers, 'server')} with the most tools named",)
        if steps > self._counted:
            without = " without their number of tools" if steps == self._named else ""
            return (f"servers named on one line{without}",)
        told = [self._cuts[min(steps, self._alone)].told]
        if steps > self._alone:
            most = self._most(steps)
            listed = sum(min(most, of_server) for of_server in self._listed)
            every = _counted(sum(len(entry.tools) for entry in self._servers), "tool")
            most_told = f"at most {_counted(most, 'tool')} listed per server"
            told.append(f"{most_told}, {listed} of {every}" if most else f"none of {every} listed")
        return tuple(filter(None, told))

    def _blocks(self, steps: int) -> list[str]:
        """A block per server: a line, and its description if there is one left."""
        cut = self._cuts[min(steps, self._alone)]
        most = self._most(steps)
        blocks = []
        for entry, listed in zip(self._servers, self._listed, strict=True):
            line = _line(entry, listed) if most >= listed else _line(entry, most, ", …")
            summary = _cut(cut, entry.summary)
            blocks.append(f"{line}\n  {summary}" if summary else line)
        return blocks

    def _most(self, steps: int) -> int:
        """The most tools that a server lists."""
        return self._most_listed - max(steps - self._alone, 0)

    def _line_of_all(self, steps: int) -> str:
        kept = sorted(self._by_size[: self.steps - steps])
        names = [without_breaks(self._servers[number].server) for number in kept]
        if steps == self._grouped:
            names = [f"{name} ({len(entry.tools)})" for name, entry in zip(names, self._servers, strict=True)]
        return f"- {', '.join(names)}"

    def _note(self, steps: int) -> str:
        left_out = max(steps - self._named, 0)
        if left_out:
            return f"... and {left_out} more {plural(left_out, 'server')}; search to find their tools"
        return f"... shortened: {'; '.join(self.rules(steps))}. Search finds every tool."


@dataclass(frozen=True, slots=True)
class _Cut:
    """How far descriptions are cut: whole, or their first sentence of at most `limit` characters."""

    told: str = ""
    whole: bool = False
    limit: int | None = None


@lru_cache(_KEPT)
def _cut(cut: _Cut, summary: str) -> str:
    if cut.whole:
        return one_line(summary)
    sentence = first_sentence(summary) or one_line(summary)
    return sentence if cut.limit is None else shortened(sentence, cut.limit)


def _cuts(summaries: Sequence[str]) -> list[_Cut]:
    """The cuts that change any of these descriptions, mildest first; the last leaves nothing."""
    possible = [
        _Cut(whole=True),
        _Cut("descriptions cut to their first sentence"),
        *(_Cut(f"descriptions cut to {limit} characters", limit=limit) for limit in _SENTENCE_LIMITS),
        _Cut("descriptions left out", limit=0),
    ]
    cuts, last = [], None
    for cut in possible:
        texts = [_cut(cut, summary) for summary in summaries]
        if texts != last:
            cuts.append(cut)
        last = texts
    return cuts


def _listed(entry: ManifestEntry) -> int:
    """How many tools a server lists if there is room for all."""
    every = len(entry.tools)
    return every if every <= _LISTED_IN_FULL else _LISTED_OF_MANY


@lru_cache(_KEPT)
def _line(entry: ManifestEntry, listed: int, rest: str = ", ... and {} more") -> str:
    """The server, its number of tools, and the first `listed` of them; `rest` stands for the others."""
    names = [without_breaks(name) for name in entry.tools[:listed]]
    line = f"- {without_breaks(entry.server)} ({_counted(len(entry.tools), 'tool')})"
    if not names:
        return line
    left = len(entry.tools) - len(names)
    return f"{line}: {', '.join(names)}" + (rest.format(left) if left else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {plural(number, noun)}"


SEARCH_TOOLS = "search_tools"
CALL_TOOL = "call_tool"
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


@dataclass(frozen=True, slots=True)
class Manifest:
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
    """Shorten the manifest to at most `max_tokens` of the settings, see ManifestForms; 0 means no limit.

    Only the bare header may exceed the limit. A larger budget never shows less, whatever `count` is: the
    binary search takes the same steps until the larger budget takes the longer half.
    """
    if not servers:
        return Manifest("", 0, ())
    forms = ManifestForms(servers, header)
    text = forms.text(0)
    tokens = count(text)
    if not settings.max_tokens or tokens <= settings.max_tokens:
        return Manifest(text, tokens, ())
    low, high = 1, forms.steps
    while low < high:
        middle = (low + high) // 2
        if count(forms.text(middle)) <= settings.max_tokens:
            high = middle
        else:
            low = middle + 1
    text = forms.text(high)
    return Manifest(text, count(text), forms.rules(high))


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
