"""How tools are delivered to the model, and what a change in them costs a prompt cache.

`rewrite` sends `tools` in catalog order, so a new tool moves the others; `append` sends it at the end, so
everything before it stays the same byte for byte; with `call_tool`, `text` and `code` the array never
changes: loaded tools are called through one proxy or from a script, and search results give their parameters.
A gate has no search results: with these it gives the definitions right before the user's message, where a
change costs least (Tool Attention, section 5.6). With `tool_reference` and `tool_search` the array does not
change either: the provider loads what a search result brings.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any, Final

from msgspec import Struct

from inspector.core.message import Message, NoteMessage, ToolMessage, UserMessage
from inspector.core.session import SessionState
from inspector.core.settings import BindingSettings, SentDelivery
from inspector.core.text import common_start
from inspector.core.tool import Catalog, Tool, definition
from inspector.schema.json_value import compact
from inspector.schema.schema import PLAIN, ModelFeatures, SchemaDialect
from inspector.tokens.declaration import declaration
from inspector.tokens.manifest import definition_lines
from inspector.tokens.synthetic import CODE, has_proxy, synthetic_entries


class DefinitionLoader:
    """Looks up tools in a catalog, and their definitions as the model's provider takes them (`dialect`)."""

    def __init__(self, catalog: Catalog, dialect: SchemaDialect = "") -> None:
        self.use(catalog, dialect)

    def use(self, catalog: Catalog, dialect: SchemaDialect = "") -> None:
        """Use this catalog from now on."""
        self._catalog, self._dialect = catalog, dialect
        self._made: dict[str, dict[str, Any]] = {}

    def resolve(self, tool_id: str) -> Tool | None:
        """The tool with this id or, if the id is stale, the only tool with its name; None without one."""
        tool = self._catalog.get(tool_id)
        named = self._catalog.named(tool_id.partition(":")[2]) if tool is None else (tool,)
        return named[0] if len(named) == 1 else None

    def definitions(self, tool_ids: Iterable[str]) -> list[dict[str, Any]]:
        """The definitions as sent, in order; unknown tools are left out."""
        made = self._made
        return [one for tool_id in tool_ids if (one := made.get(tool_id) or self._definition(tool_id))]

    def _definition(self, tool_id: str) -> dict[str, Any] | None:
        """The same object each time, so that it is counted once."""
        tool = self._catalog.get(tool_id)
        if tool is not None:
            self._made[tool_id] = definition(tool, self._dialect)
        return self._made.get(tool_id)


UNCHANGED = "unchanged"
APPEND: Final = "append"
_WAITING = (
    "Not every tool is loaded: call search_tools to find and load the ones you need before you call them."
)


def effective_delivery(binding: BindingSettings, features: ModelFeatures = PLAIN) -> SentDelivery:
    """The delivery in effect for a model.

    The gate has no search results to bring definitions, so it cannot use deferral.
    """
    chosen = binding.delivery
    if chosen != "native":
        return chosen
    return "rewrite" if binding.policy == "gate" else features.deferral or "append"


_OFFER = "[Tools that fit the next message, one definition a line. Call them with call_tool.]"
_DECLARED = "[Tools that fit the next message, as declarations. Call them from run_script.]"


def offers_before_message(binding: BindingSettings) -> bool:
    """Whether the definitions a gate selects stand before the user's message instead of in `tools`."""
    return binding.policy == "gate" and has_proxy(binding.delivery)


def with_offer(
    messages: Sequence[Message], tools: Sequence[Tool], delivery: SentDelivery
) -> tuple[Message, ...]:
    """The conversation with the definitions of `tools` right before the last message of the user."""
    last = max((n for n, message in enumerate(messages) if isinstance(message, UserMessage)), default=None)
    if last is None or not tools:
        return tuple(messages)
    heading = _DECLARED if delivery == CODE else _OFFER
    note = NoteMessage(f"{heading}\n{schema_text(tools, delivery)}", offers=True)
    return (*messages[:last], note, *messages[last:])


def system_text(prompt: str, state: SessionState) -> str:
    """The system prompt, a note if tools are deferred, the servers' instructions, and a gate's summaries."""
    text = f"{prompt} {_WAITING}".strip() if state.manifest else prompt
    return "\n\n".join(filter(None, (text, state.instructions, state.pool)))


def is_native(delivery: str) -> bool:
    """Whether the provider loads the definitions that search results bring."""
    return delivery in ("tool_reference", "tool_search")


def is_steady(binding: BindingSettings, features: ModelFeatures = PLAIN) -> bool:
    """Whether what is said of the catalog at the start of a request stays as it was sent.

    `rewrite` promises nothing, and a gate chooses its tools anew for every request.
    """
    return binding.policy != "gate" and effective_delivery(binding, features) != "rewrite"


def missing_definitions(
    catalog: Catalog, loaded: Sequence[str], messages: Sequence[Message], loader: DefinitionLoader
) -> tuple[str, ...]:
    """The loaded tools whose definition no result brings: bound by hand, changed, or their result is gone."""
    results = (message for message in messages if isinstance(message, ToolMessage))
    brought = {entry["function"]["name"]: entry for result in results for entry in result.definitions}
    known = [tool_id for tool_id in loaded if catalog.get(tool_id) is not None]
    entries = zip(known, loader.definitions(known), strict=True)
    return tuple(tool_id for tool_id, entry in entries if brought.get(entry["function"]["name"]) != entry)


def steady_entries(catalog: Catalog, loaded: Sequence[str], array: Sequence[dict[str, Any]]) -> int:
    """How many entries of an array come before the first loaded tool."""
    names = {tool.wire_name for tool in map(catalog.get, loaded) if tool is not None}
    found = (index for index, entry in enumerate(array) if entry["function"]["name"] in names)
    return next(found, len(array))


def tools_array(
    catalog: Catalog,
    state: SessionState,
    delivery: str,
    loader: DefinitionLoader,
    missing: Sequence[str] = (),
) -> tuple[dict[str, Any], ...]:
    """The `tools` array of the next model call. `missing` is what `missing_definitions` found, if native.

    Toolsight's own tools are first, those that are offered.
    """
    meta = synthetic_entries(catalog, state, delivery)
    return (*meta, *loader.definitions(_delivered(catalog, state, delivery, missing)))


def _delivered(catalog: Catalog, state: SessionState, delivery: str, missing: Sequence[str]) -> Sequence[str]:
    if has_proxy(delivery):
        return state.pinned
    if is_native(delivery):
        return (*state.pinned, *missing)
    if delivery == "rewrite":
        bound = frozenset(state.bound_ids)
        return [tool_id for tool_id in catalog.by_id if tool_id in bound]
    return state.bound_ids


def schema_text(tools: Sequence[Tool], delivery: str) -> str:
    """Full definitions for models that read them as text: declarations, or JSON, one per line."""
    if delivery == CODE:
        return "\n".join(map(declaration, tools))
    return definition_lines([definition(tool) for tool in tools])


class Difference(Struct, frozen=True):
    """A `tools` array compared with the previous one: tokens of the common start, tokens resent, and why."""

    same: int
    resent: int
    change: str


class SentTools:
    """Remembers the last array that was sent; `write` gives the compact JSON of an entry."""

    def __init__(self, count: Callable[[str], int], write: Callable[[dict[str, Any]], str] = compact) -> None:
        self._count, self._write = count, write
        self._last: tuple[tuple[str, str], ...] | None = None
        self._tools: Sequence[dict[str, Any]] = ()

    def send(self, tools: Sequence[dict[str, Any]]) -> Difference:
        """Compare with the previous array; a prompt cache can reuse entries before the first difference."""
        if self._last is not None and len(tools) == len(self._tools) and all(map(is_, tools, self._tools)):
            return Difference(self._tokens([text for _, text in self._last]), 0, UNCHANGED)
        texts = list(map(self._write, tools))
        entries = tuple((entry["function"]["name"], text) for entry, text in zip(tools, texts, strict=True))
        before, self._last, self._tools = self._last, entries, tools
        if before is None:
            return Difference(0, self._tokens(texts), "first call")
        kept = common_start(before, entries)
        change = _change(before, entries, kept)
        return Difference(self._tokens(texts[:kept]), self._tokens(texts[kept:]), change)

    def _tokens(self, texts: Sequence[str]) -> int:
        return sum(map(self._count, texts))


def _change(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]], kept: int) -> str:
    """What differs, on one line."""
    if len(before) == len(after) == kept:
        return UNCHANGED
    old, new = dict(before), dict(after)
    added = [name for name in new if name not in old]
    removed = [name for name in old if name not in new]
    changed = [name for name in new if name in old and new[name] != old[name]]
    parts = [f"+{name}" for name in added] + [f"-{name}" for name in removed] + [f"~{n}" for n in changed]
    return " ".join(parts) or "order"
