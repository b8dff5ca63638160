"""How tools reach the model, and what a change of them costs a prompt cache.

`rewrite` sends `tools` in catalog order, so that a new tool moves the others; `append` sends it at the end,
so that everything before it stays byte for byte what it was; with `call_tool` and `text` the array never
changes: discovered tools are called through one proxy, and a search tells their parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from inspector.domain.catalog import Catalog
from inspector.domain.jsonvalue import compact
from inspector.domain.manifest import search_tools_definition
from inspector.domain.session import Binding, SessionState
from inspector.domain.settings import BindingSettings, ToolDelivery
from inspector.domain.synthetic import CALL_TOOL
from inspector.domain.tool import Tool, definition, function_definition
from inspector.engine.loop.binding.loader import DefinitionLoader
from inspector.engine.tokens.count.entry_text import EntryTexts

UNCHANGED = "unchanged"
APPEND: Final = "append"
_WAITING = (
    "Not every tool is loaded: call search_tools to find and load the ones you need before you call them."
)
_CALL_TOOL = function_definition(
    CALL_TOOL,
    "Call a tool that search_tools found. Its parameters are in the search result.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool as the search result names it."},
            "arguments": {"type": "object", "description": "What the tool is called with."},
        },
        "required": ["name", "arguments"],
    },
)


def effective_delivery(binding: BindingSettings) -> ToolDelivery:
    """How tools go out; the gate has no search result that could tell parameters instead."""
    return "rewrite" if binding.policy == "gate" and has_proxy(binding.delivery) else binding.delivery


def system_text(prompt: str, state: SessionState) -> str:
    """The system prompt: one's own, that tools wait for a search where they do, the summaries of a gate."""
    told = f"{prompt} {_WAITING}".strip() if state.manifest else prompt
    return f"{told}\n\n{state.pool}" if state.pool else told


def has_proxy(delivery: str) -> bool:
    """Whether discovered tools are called through `call_tool`."""
    return delivery in ("call_tool", "text")


def tools_array(
    catalog: Catalog, state: SessionState, delivery: str, loader: DefinitionLoader
) -> tuple[dict[str, Any], ...]:
    """The `tools` array of the next model call; without anything to search no meta-tool (PRD section 5).

    Nor is there a proxy where nothing waits to be called through it.
    """
    meta: list[dict[str, Any]] = []
    if state.has_search:
        meta.append(search_tools_definition(state.manifest, advisory=state.advisory))
    if has_proxy(delivery) and catalog.deferred_ids:
        meta.append(_CALL_TOOL)
    return (*meta, *loader.definitions(_delivered(catalog, state, delivery)))


class ToolsArray:
    """The `tools` array of the next model call: the same object as long as nothing that decides it changes.

    What is known of an array, its texts and tokens, is kept by that object.
    """

    def __init__(self, loader: DefinitionLoader) -> None:
        self._loader = loader
        self._catalog: Catalog | None = None
        self._made_of: tuple[object, ...] = ()
        self._array: tuple[dict[str, Any], ...] = ()

    def of(self, catalog: Catalog, state: SessionState, delivery: str) -> tuple[dict[str, Any], ...]:
        """As the function `tools_array`."""
        made_of = (state.bound_ids, state.manifest, state.advisory, delivery)
        if self._catalog is not catalog or self._made_of != made_of:
            self._array = tools_array(catalog, state, delivery, self._loader)
            self._catalog, self._made_of = catalog, made_of
        return self._array


def _delivered(catalog: Catalog, state: SessionState, delivery: str) -> Sequence[str]:
    if has_proxy(delivery):
        return [tool.id for tool in state.with_binding(Binding.PINNED)]
    if delivery == "rewrite":
        bound = frozenset(state.bound_ids)
        return [tool_id for tool_id in catalog.by_id if tool_id in bound]
    return state.bound_ids


def schema_text(tools: Sequence[Tool]) -> str:
    """Whole definitions as text, one a line, for models that find them in a search result."""
    return "\n".join(compact(definition(tool)["function"]) for tool in tools)


@dataclass(frozen=True, slots=True)
class Difference:
    """A `tools` array against the one before, in tokens: what stayed in front, what is sent anew, and why."""

    same: int
    resent: int
    change: str


class SentTools:
    """Remembers the last array that was sent."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._texts = EntryTexts()
        self._sent: tuple[str, ...] = ()
        self._last: tuple[tuple[str, str], ...] | None = None

    def send(self, tools: Sequence[dict[str, Any]]) -> Difference:
        """What a provider can reuse of its prompt cache: all entries before the first that differs."""
        texts = self._texts.of(tools)
        if self._last is not None and texts is self._sent:
            return Difference(self._tokens(texts), 0, UNCHANGED)
        names = (entry["function"]["name"] for entry in tools)
        entries = tuple(zip(names, texts, strict=True))
        before, self._last, self._sent = self._last, entries, texts
        if before is None:
            return Difference(0, self._tokens(texts), "first call")
        kept = _common(before, entries)
        change = _told(before, entries, kept)
        return Difference(self._tokens(texts[:kept]), self._tokens(texts[kept:]), change)

    def _tokens(self, texts: Sequence[str]) -> int:
        return sum(map(self._count, texts))


def _common(before: Sequence[object], after: Sequence[object]) -> int:
    pairs = zip(before, after, strict=False)
    return next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))


def _told(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]], kept: int) -> str:
    """What differs, in a line."""
    if len(before) == len(after) == kept:
        return UNCHANGED
    old, new = dict(before), dict(after)
    added = [name for name in new if name not in old]
    removed = [name for name in old if name not in new]
    changed = [name for name in new if name in old and new[name] != old[name]]
    parts = [f"+{name}" for name in added] + [f"-{name}" for name in removed] + [f"~{n}" for n in changed]
    return " ".join(parts) or "order"
