"""Counts the tokens of a request exactly as sent, by part, on its compact JSON."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.budget import Budget, Tokenizer, TokenParts, ToolCost
from inspector.core.message import AssistantMessage, Message, ModelRequest, NoteMessage, ToolMessage
from inspector.core.ports import TokenCounter
from inspector.core.prompt_cache import Block
from inspector.core.tool import Tool, definition
from inspector.schema.json_value import compact
from inspector.schema.schema import PLAIN, ModelFeatures, schema_for
from inspector.tokens.manifest import wire_message, wire_system
from inspector.tokens.synthetic import SYNTHETIC

# OpenAI's encodings split a text with a regular expression before they merge bytes, and never merge across a
# split. There, a run of two or more punctuation marks is one match, up to the first letter. Every entry of
# `messages` and `tools` begins with `{"` and a letter, so the text can be cut after that quotation mark:
#
#     {"messages":[{"  |  role":"user",…},{"  |  role":…}],"tools":[{"  |  type":"function",…}]}
#
# A piece depends only on its entry and on what follows it, so its count is valid as long as the entry is.

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


# Attributes the tokens of a text to its parts: a token belongs to the part in which it begins.


def attribute(lengths: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Count the tokens that begin in each span, plus a last number for the rest.

    Spans are (from, to) in bytes, in order, without overlap. `lengths` are the bytes of the tokens. The
    numbers add up to the number of tokens.
    """
    counts = [0] * (len(spans) + 1)
    starts = [start for start, _ in spans]
    for begin in accumulate(lengths[:-1], initial=0) if lengths else ():
        index = bisect_right(starts, begin) - 1
        inside = index >= 0 and begin < spans[index][1]
        counts[index if inside else -1] += 1
    return counts


def span(text: str, part: str, start: int = 0) -> tuple[int, int]:
    """The span of `part` in UTF-8 bytes, searching from the character `start`; (0, 0) if absent."""
    index = text.find(part, start) if part else -1
    if index < 0:
        return 0, 0
    begin = size(text[:index])
    return begin, begin + size(part)


def size(text: str) -> int:
    """The length in UTF-8 bytes; a lone surrogate counts as one, for the question mark that replaces it."""
    return len(text.encode("utf-8", "replace"))


_REMEMBERED = 8192
# A summary is counted line by line, so that one more leaves the others as they were counted. No encoding
# merges across the cut, which stands between the letter of a line break in JSON and a dash.
_LINE, _CUT_LINE = "\\n- ", "\\n\0- "
_OWN = frozenset(f"tools: {name}" for name in SYNTHETIC)


class _Said(Struct, frozen=True):
    """A message, its entry as a block with its tokens, and the part of the budget that it counts with."""

    message: Message
    block: Block
    part: str


class _Counted(Struct, frozen=True):
    """A counted request: its entries as blocks; `system` is empty without a system prompt."""

    tools: list[Block]
    system: list[Block]
    said: list[_Said]
    framing: int


class BudgetMeter:
    """Counts with one tokenizer and caches its counts, and measures them against a context window.

    `window` gives that in tokens; `features` is what the model's provider takes.
    """

    def __init__(
        self, counter: TokenCounter, window: Callable[[], int], features: ModelFeatures = PLAIN
    ) -> None:
        self.features = features
        self._counter = counter
        self._window = window
        self._tools: dict[str, tuple[Tool, str, int]] = {}
        self.text = lru_cache(maxsize=_REMEMBERED)(counter.count)
        self._attributed = lru_cache(maxsize=_REMEMBERED)(
            lambda text, spans: tuple(attribute(counter.lengths(text), spans))
        )
        self._inside = lru_cache(maxsize=64)(self._tokens_inside)
        # Keyed by entry, not by piece, because entries are the same strings from call to call.
        self._entry = lru_cache(maxsize=_REMEMBERED)(lambda entry: counter.count(piece(entry)))
        # By identity: messages and definitions are the same objects from call to call: only the first counts.
        self._said: dict[int, _Said] = {}
        self._sent: dict[int, tuple[dict[str, Any], Block]] = {}
        self._last: tuple[ModelRequest, _Counted] | None = None

    @property
    def tokenizer(self) -> Tokenizer:
        return self._counter.tokenizer

    @property
    def window(self) -> int:
        """The model's window in tokens."""
        return self._window()

    def tool(self, tool: Tool) -> int:
        """Tokens that a tool adds to a `tools` array that continues after it."""
        return self._counted(tool)[1]

    def each(self, tools: Sequence[Tool]) -> list[int]:
        """Tokens that each of these tools adds."""
        return [self._counted(tool)[1] for tool in tools]

    def cost(self, tool: Tool) -> ToolCost:
        """Tokens of a definition by part, and its characters: name, description and schema as sent."""
        text, _ = self._counted(tool)
        name, description = inner(tool.wire_name), inner(tool.said)
        schema = compact(schema_for(self.features.dialect, tool.input_schema))
        counted = piece(text)
        first = span(counted, f'"name":"{name}"')[0] + size('"name":"')
        second = first + size(f'{name}","description":"')
        third = second + size(f'{description}","parameters":')
        ends = (first + size(name), second + size(description), third + size(schema))
        spans = tuple(zip((first, second, third), ends, strict=True))
        parts = self._attributed(counted, spans)
        chars = len(tool.wire_name) + len(tool.said) + len(schema)
        return ToolCost(parts[0], parts[1], parts[2], framing=parts[3], chars=chars)

    def static(self, tools: Sequence[Tool]) -> int:
        """Tokens of a `tools` array with all these tools."""
        return sum(self.each(tools))

    def entries(self, entries: Sequence[dict[str, Any]]) -> list[int]:
        """Tokens that each entry adds to a `tools` array."""
        return [self._entry(compact(entry)) for entry in entries]

    def message(self, message: Message) -> int:
        """Tokens that a message adds to a conversation that continues after it."""
        return self._known(message).block.tokens

    def measure(
        self,
        request: ModelRequest,
        static_tools: int,
        *,
        pool: str = "",
        manifest: str = "",
        instructions: str = "",
    ) -> Budget:
        """The budget of a request; `static_tools` is the tokens of binding every permitted tool.

        `pool` holds the tool summaries and `instructions` those of servers in its system prompt, `manifest`
        the one in its `search_tools`. The parts add up to the tokens of the compact body (`domain.wire`);
        the brackets and keys around the entries count with the system prompt.
        """
        counted = self._counted_request(request)
        own = sum(block.tokens for block in counted.tools if block.part in _OWN)
        parts = {
            "system": counted.framing + _total(counted.system),
            "history": 0,
            "searches": 0,
            "tools": _total(counted.tools) - own,
            "meta": own,
        }
        for said in counted.said:
            parts[said.part] += said.block.tokens
        system = counted.system[0].text if counted.system else ""
        in_system = {"pool": self._inside(system, pool), "instructions": self._inside(system, instructions)}
        in_manifest = self._inside(counted.tools[0].text, manifest) if counted.tools else 0
        parts["system"] -= sum(in_system.values())
        parts["meta"] -= in_manifest
        sized = TokenParts(**parts, **in_system, manifest=in_manifest, output_reserve=request.max_output)
        return Budget(self.window, sized, static_tools, self.tokenizer)

    def blocks(self, request: ModelRequest) -> list[Block]:
        """The request as a prompt cache sees it: tools, system prompt, messages, with all its tokens."""
        counted = self._counted_request(request)
        blocks = [*counted.tools, *counted.system, *(said.block for said in counted.said)]
        if blocks:
            blocks[-1] = replace(blocks[-1], tokens=blocks[-1].tokens + counted.framing)
        return blocks

    def _counted_request(self, request: ModelRequest) -> _Counted:
        if self._last is not None and self._last[0] is request:
            return self._last[1]
        system = [self._block(wire_system(request.system), "system")] if request.system else []
        known = self._said
        said = [known.get(id(message)) or self._known(message) for message in request.messages]
        # What is in no request any more goes.
        self._said = {id(one.message): one for one in said}
        tools = self._counted_tools(request.tools)
        ends = [blocks[-1:] for blocks in ([*system, *(one.block for one in said[-1:])], tools)]
        framing = self._framing(*([block.text for block in blocks] for blocks in ends))
        counted = _Counted(tools, system, said, framing)
        self._last = (request, counted)
        return counted

    def _counted_tools(self, entries: Sequence[dict[str, Any]]) -> list[Block]:
        if self._last is not None:
            (request, counted) = self._last
            if len(entries) == len(request.tools) and all(map(is_, entries, request.tools)):
                return counted.tools
        tools = [self.entry(entry) for entry in entries]
        self._sent = {id(entry): (entry, block) for entry, block in zip(entries, tools, strict=True)}
        return tools

    def entry(self, entry: dict[str, Any]) -> Block:
        """An entry of `tools` with the tokens that it adds to an array that continues after it."""
        known = self._sent.get(id(entry))
        if known is None:
            known = self._sent[id(entry)] = (entry, self._block(entry, f"tools: {entry['function']['name']}"))
        return known[1]

    def _known(self, message: Message) -> _Said:
        known = self._said.get(id(message))
        if known is None:
            text = compact(wire_message(message))
            is_summary = isinstance(message, NoteMessage) and message.exchanges
            lines = piece(text).replace(_LINE, _CUT_LINE).split("\0") if is_summary else ()
            tokens = sum(map(self.text, lines)) if is_summary else self._entry(text)
            block = Block(text, tokens, "messages")
            known = self._said[id(message)] = _Said(message, block, _part_of(message))
        return known

    def _block(self, entry: dict[str, Any], part: str) -> Block:
        text = compact(entry)
        return Block(text, self._entry(text), part)

    def _framing(self, said: Sequence[str], tools: Sequence[str]) -> int:
        """Tokens of the brackets; only these last entries of the two arrays are not followed by others."""
        head, last_said, last_tool = request_pieces(said, tools)
        ends = sum(map(self.text, (head, *last_said, *last_tool)))
        return ends - sum(map(self._entry, (*said, *tools)))

    def _counted(self, tool: Tool) -> tuple[str, int]:
        known = self._tools.get(tool.id)
        if known is None or known[0] is not tool:
            text = compact(definition(tool, self.features.dialect))
            known = (tool, text, self._counter.count(piece(text)))
            self._tools[tool.id] = known
        return known[1], known[2]

    def _tokens_inside(self, text: str, part: str) -> int:
        """Tokens of a text that begin within `part`."""
        part_span = span(text, inner(part)) if part and text else (0, 0)
        return self._attributed(text, (part_span,))[0] if part_span[1] else 0


def _total(blocks: Sequence[Block]) -> int:
    return sum(block.tokens for block in blocks)


def _part_of(message: Message) -> str:
    """The part of the budget that a message counts with: definitions are tools wherever they stand."""
    if isinstance(message, NoteMessage):
        return "tools" if message.offers else "history"
    names: Sequence[str] = ()
    if isinstance(message, ToolMessage):
        names = (message.name,)
    elif isinstance(message, AssistantMessage):
        names = [call.name for call in message.tool_calls]
    parts = {SYNTHETIC[name].part if name in SYNTHETIC else "history" for name in names}
    return parts.pop() if len(parts) == 1 else "history"
