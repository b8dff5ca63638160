"""Token counts of the request that is really sent, part by part."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from inspector.domain.budget import Budget, Tokenizer, TokenParts
from inspector.domain.jsonvalue import compact
from inspector.domain.message import AssistantMessage, Message, ModelRequest, ToolMessage
from inspector.domain.settings import BudgetSettings
from inspector.domain.synthetic import SYNTHETIC
from inspector.domain.tool import Tool, definition
from inspector.engine.budget.entry_text import EntryTexts
from inspector.engine.ports import TokenCounter

_REMEMBERED = 8192


class BudgetMeter:
    """Counts with one tokenizer. Texts that were counted once are not counted again."""

    def __init__(self, counter: TokenCounter, window: Callable[[], int], settings: BudgetSettings) -> None:
        self._counter = counter
        self._window = window
        self._settings = settings
        self._entries = EntryTexts()
        self.text = lru_cache(maxsize=_REMEMBERED)(counter.count)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._counter.tokenizer

    def tool(self, tool: Tool) -> int:
        """Tokens of one definition, as compact JSON."""
        return self.text(compact(definition(tool)))

    def definitions(self, definitions: Sequence[dict[str, Any]]) -> int:
        """Tokens of a `tools` array; an empty one is not sent and costs nothing."""
        return self.text(compact(definitions)) if definitions else 0

    def _array(self, entries: Sequence[dict[str, Any]]) -> int:
        """The same, for an array that is measured before every call and seldom changes."""
        return self.text(f"[{','.join(self._entries.of(entries))}]") if entries else 0

    def measure(self, request: ModelRequest, static_tools: int, pool: int = 0) -> Budget:
        """The budget of a request beside `static_tools`, the tokens of binding every permitted tool.

        `pool` tokens of the system prompt are tool summaries, and count as what having tools costs.
        """
        meta = [entry for entry in request.tools if entry["function"]["name"] in SYNTHETIC]
        tools = [entry for entry in request.tools if entry["function"]["name"] not in SYNTHETIC]
        parts = TokenParts(
            system=self.text(request.system) - pool,
            history=sum(self.text(message_text(message)) for message in request.messages),
            tools=self._array(tools),
            meta=self.definitions(meta) + pool,
            output_reserve=request.max_output,
        )
        return Budget(self._window(), parts, static_tools, self.tokenizer, self._settings.warn_at)


def message_text(message: Message) -> str:
    """What a message puts into the context: its text, and its tool calls as JSON."""
    if isinstance(message, AssistantMessage):
        calls = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
        return message.text + (compact(calls) if calls else "")
    if isinstance(message, ToolMessage):
        return f"{message.name}\n{message.text}"
    return message.text
