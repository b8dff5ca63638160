"""The tools that Toolsight itself offers a model, and answers instead of a server (PRD section 2.8).

A new one is a class and its line in `SYNTHETIC`: it is then offered, counted, called, and no server is asked.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import ToolsightError
from inspector.core.message import ToolCall, ToolResult
from inspector.core.session import Binding, SessionState
from inspector.core.stream import Session
from inspector.core.text import paragraphs
from inspector.core.tool import Catalog, function_definition
from inspector.schema.json_value import JsonObject
from inspector.tokens.manifest import CALL_TOOL, RUN_SCRIPT, SEARCH_TOOLS, search_tools_definition


class Answer(Struct, frozen=True):
    """What a model reads of a call: a text and, if the guard detected a loop, its guidance.

    `error` is why there was no result, `definitions` are those that the provider loads with it, and
    `result` is what the server returned.
    """

    text: str
    guidance: str = ""
    failed: bool = False
    error: ToolsightError | None = None
    definitions: tuple[JsonObject, ...] = ()
    result: ToolResult | None = None

    @property
    def said(self) -> str:
        """The text with the guidance."""
        return paragraphs(self.text, self.guidance)


class Host(Protocol):
    """What the loop lends to the tools that it answers itself."""

    @property
    def session(self) -> Session: ...

    def search(self, searches: Sequence[JsonObject], beside: Sequence[str]) -> list[Answer]:
        """Run searches together; `beside` names what the same reply calls besides."""


class SyntheticTool(ABC):
    """A tool without a server. It emits the events that show its calls."""

    name: str
    part: Literal["searches", "history"] = "history"
    """The part of the budget that its calls and their results count with; its definition counts as `meta`."""

    forwards: bool = False
    """Whether its calls stand for calls of other tools, which may be synthetic too."""

    @abstractmethod
    def definition(self, catalog: Catalog, state: SessionState, delivery: str) -> dict[str, Any] | None:
        """Its entry in the `tools` array of the next request; None if it is not offered."""

    @abstractmethod
    def answer(
        self, calls: Sequence[ToolCall], beside: Sequence[str], host: Host
    ) -> Sequence[Answer | ToolCall]:
        """Answer its calls of one reply, in order; a call in place of an answer is made instead.

        `beside` names the other tools that the reply calls.
        """

    def absence(self, _state: SessionState) -> str:
        """Why it is not offered, for a model that calls it nevertheless; "" if there is no more to say."""
        return ""

    def holds_schemas(self, _delivery: str) -> bool:
        """Whether its results hold schemas that the model reads nowhere else: they are never shortened."""
        return False


class MetaTool(SyntheticTool):
    """`search_tools`, left out if there is nothing to search (PRD section 5)."""

    name = SEARCH_TOOLS
    part = "searches"

    def definition(self, _catalog: Catalog, state: SessionState, _delivery: str) -> dict[str, Any] | None:
        if not state.has_search:
            return None
        return search_tools_definition(state.manifest, state.offer, advisory=state.advisory)

    def answer(
        self, calls: Sequence[ToolCall], beside: Sequence[str], host: Host
    ) -> Sequence[Answer | ToolCall]:
        if not host.session.state.has_search:
            return calls
        return host.search([call.arguments for call in calls], beside)

    def absence(self, state: SessionState) -> str:
        if not state.decision or state.decision.startswith("off"):
            return f"There is no search: discovery is {state.decision}." if state.decision else ""
        if state.with_binding(Binding.DEFERRED, Binding.LOADED, Binding.EVICTED):
            return "There is no search: discovery.search_tool is off."
        why = "every tool is bound" if state.tools else "there are no tools"
        return f"There is nothing to search for: {why}."

    def holds_schemas(self, delivery: str) -> bool:
        return has_proxy(delivery)


CODE: Final = "code"
"""The delivery under which a model reads declarations and calls tools from a script."""


def has_proxy(delivery: str) -> bool:
    """Whether loaded tools are called through one tool, `call_tool` or `run_script`."""
    return delivery in ("call_tool", "text", CODE)


def _proxy(what: str, where: str) -> dict[str, Any]:
    """The definition of `call_tool`: what it calls, and where names and parameters are."""
    return function_definition(
        CALL_TOOL,
        f"Call a tool {what}. Its parameters are in {where}.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": f"The tool's name from {where}."},
                "arguments": {"type": "object", "description": "The tool's arguments."},
            },
            "required": ["name", "arguments"],
        },
    )


CALL_FOUND: Final = _proxy("that search_tools found", "the search result")
"""The definition of `call_tool` where tools are found by a search."""
_CALL_OFFERED = _proxy("whose definition is given", "the note before the user's message")


class Proxy(SyntheticTool):
    """`call_tool`, through which tools are called where the array never changes, if any are deferred."""

    name = CALL_TOOL
    forwards = True

    def definition(self, catalog: Catalog, state: SessionState, delivery: str) -> dict[str, Any] | None:
        if not has_proxy(delivery) or delivery == CODE or not catalog.deferred_ids:
            return None
        return CALL_FOUND if state.has_search else _CALL_OFFERED

    def answer(
        self, calls: Sequence[ToolCall], _beside: Sequence[str], _host: Host
    ) -> Sequence[Answer | ToolCall]:
        return [_unwrapped(call) for call in calls]


def _unwrapped(call: ToolCall) -> ToolCall:
    """The call inside a `call_tool` call; models write its arguments as an object, as JSON, or flat."""
    name, given = str(call.arguments.get("name", "")), call.arguments.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError) as error:
            return replace(call, name=name, error=f"{CALL_TOOL}: arguments is not valid JSON: {error}")
    if given is None:
        given = {key: value for key, value in call.arguments.items() if key not in ("name", "arguments")}
    if not isinstance(given, Mapping):
        return replace(call, name=name, error=f"{CALL_TOOL}: arguments must be an object")
    return replace(call, name=name, arguments=given)


_RUN = function_definition(
    RUN_SCRIPT,
    "Run a script that calls the tools whose declarations you were given. Only what it returns comes back to "
    "you, so pass results from one call to the next instead of returning them.",
    {
        "type": "object",
        "properties": {
            "code": {
                "type": "string",
                "description": "TypeScript: `const x = await server__tool({...});` for each call, and "
                "`return` with what you need of the results.",
            }
        },
        "required": ["code"],
    },
)


class ScriptTool(SyntheticTool):
    """`run_script`, from which tools are called; the loop runs it, as its calls take their time."""

    name = RUN_SCRIPT

    def definition(self, catalog: Catalog, _state: SessionState, delivery: str) -> dict[str, Any] | None:
        return _RUN if delivery == CODE and catalog.deferred_ids else None

    def answer(
        self, calls: Sequence[ToolCall], _beside: Sequence[str], _host: Host
    ) -> Sequence[Answer | ToolCall]:
        return calls


SYNTHETIC: dict[str, SyntheticTool] = {tool.name: tool for tool in (MetaTool(), Proxy(), ScriptTool())}
"""By name, in the order of their entries in `tools`."""


def synthetic_entries(catalog: Catalog, state: SessionState, delivery: str) -> list[dict[str, Any]]:
    """The entries of those that the next request offers."""
    entries = (tool.definition(catalog, state, delivery) for tool in SYNTHETIC.values())
    return [entry for entry in entries if entry is not None]
