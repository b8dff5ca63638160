"""The tools that an agent knows, as its transcript tells of them, and the events of what changed.

Tools of the agent's own, such as a shell, stand under the agent's name as if it were their server.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct, field

from inspector.core.definition import ToolDefinition, definition_hash
from inspector.core.events import CatalogBuilt, CatalogEntry, Event, ServerFailed, ServerReady, ToolsChanged
from inspector.core.number import count
from inspector.core.server import ServerInfo
from inspector.core.tool import Tool, function_definition
from inspector.features.agents.transcript import AgentTool, ServerTrouble
from inspector.schema.json_value import JsonObject, as_object, as_text, compact

_LONGEST_SUMMARY = 200


class _Known(Struct):
    """A tool that the model knows; of a deferred one that is not loaded, the name alone."""

    server: str
    name: str
    sent: str
    deferred: bool
    loaded: bool = False
    tokens: int = 0
    tool: Tool | None = None
    hash: str = ""

    @property
    def id(self) -> str:
        return f"{self.server}:{self.name}"

    @property
    def is_bound(self) -> bool:
        return self.loaded or not self.deferred


class _Server(Struct):
    """A server: what was reported of it already, and what is new."""

    instructions: str = ""
    is_ready: bool = False
    is_changed: bool = True
    told: dict[str, str] = field(default_factory=dict)


class KnownTools:
    """Every tool that the agent's model knows now. `counted` gives the tokens of a text.

    `instruction_tokens` are those of the servers' instructions, `manifest_tokens` those of the deferred
    tools' names, as of the last `news`.
    """

    def __init__(self, agent: str, counted: Callable[[str], int]) -> None:
        self._agent = agent
        self._counted = counted
        self._tools: dict[str, _Known] = {}
        self._servers: dict[str, _Server] = {}
        self._is_changed = self._is_listed_anew = self._is_incomplete = False
        self.instruction_tokens = self.manifest_tokens = 0

    @property
    def bound(self) -> tuple[str, ...]:
        """The ids of the tools whose definitions the model reads."""
        return tuple(known.id for known in self._tools.values() if known.is_bound)

    @property
    def bound_tokens(self) -> int:
        """The tokens of their definitions, as far as the transcript holds them."""
        return sum(known.tokens for known in self._tools.values() if known.is_bound)

    @property
    def uncounted(self) -> int:
        """How many tools have a definition that the transcript does not hold."""
        return sum(known.tool is None for known in self._tools.values())

    @property
    def static_tokens(self) -> int:
        """The tokens of every known tool's definition, as far as the transcript holds them."""
        return sum(known.tokens for known in self._tools.values())

    def offer(self, tools: Iterable[AgentTool], *, deferred: bool) -> None:
        """The model knows these tools from now on."""
        for tool in tools:
            known = self._learn(tool, deferred=deferred)
            if known.deferred and not deferred:
                known.deferred = False
                self._changed(known.server)

    def withdraw(self, sent: Iterable[str]) -> None:
        """The model no longer knows the tools with these names."""
        gone = frozenset(sent)
        for id_, known in tuple(self._tools.items()):
            if known.sent in gone or id_ in gone:
                del self._tools[id_]
                self._changed(known.server)

    def announce(self, server: str, instructions: str) -> None:
        """A server connected."""
        known = self._changed(server)
        if instructions and instructions != known.instructions:
            known.instructions = instructions
            known.is_ready = False

    def fail(self, trouble: ServerTrouble) -> ServerFailed:
        """A server failed; its next sign of life is news."""
        known = self._servers.setdefault(trouble.server, _Server(is_changed=False))
        known.is_ready = False
        return ServerFailed(trouble.server, trouble.reason, needs_login=trouble.needs_login)

    def find(self, tool: AgentTool) -> str:
        """The id of a tool that a search returned; one that nobody told of was deferred.

        Its definition is told with its server and, as it is loaded now, with its tokens: that alone is no
        other catalog until the session ends.
        """
        was_changed = self._is_listed_anew
        is_known = f"{tool.server or self._agent}:{tool.name}" in self._tools
        found = self._learn(tool, deferred=True)
        if is_known and found.deferred:
            self._is_listed_anew = was_changed
        return found.id

    def call(self, tool: AgentTool) -> str:
        """The id of a tool that was called; one never mentioned before was bound."""
        return self._learn(tool, deferred=False).id

    def load(self, tool_id: str) -> int | None:
        """Bind a tool that was found, and return its tokens; None if it was bound already."""
        known = self._tools[tool_id]
        if known.is_bound:
            return None
        known.loaded = True
        return known.tokens

    def _learn(self, tool: AgentTool, *, deferred: bool) -> _Known:
        server = tool.server or self._agent
        known = self._tools.get(f"{server}:{tool.name}")
        if known is None:
            known = _Known(server, tool.name, tool.sent, deferred)
            self._tools[known.id] = known
            self._changed(server)
        if tool.definition is not None:
            self._define(known, tool.definition)
        return known

    def _define(self, known: _Known, definition: JsonObject) -> None:
        tool = _tool(known.server, known.name, definition)
        if tool != known.tool:
            sent = function_definition(known.sent or known.name, tool.description, tool.input_schema)
            known.tool, known.tokens = tool, self._counted(compact(sent))
            known.hash = definition_hash(tool)
            self._changed(known.server)

    def _changed(self, server: str) -> _Server:
        self._is_changed = self._is_listed_anew = True
        known = self._servers.setdefault(server, _Server())
        known.is_changed = True
        return known

    def news(self, *, at_end: bool = False) -> Iterator[Event]:
        """What changed since this was asked last: the servers, and the catalog as it is now.

        `at_end` of a session the catalog has the definitions, too, that searches brought.
        """
        if at_end and self._is_incomplete:
            self._is_changed = self._is_listed_anew = True
        if not self._is_changed:
            return
        self._is_changed = False
        by_server: dict[str, list[_Known]] = {}
        for known in self._tools.values():
            by_server.setdefault(known.server, []).append(known)
        for name, server in self._servers.items():
            if server.is_changed:
                server.is_changed = False
                yield self._server_news(name, server, by_server.get(name, []))
        if self._is_listed_anew:
            self._is_listed_anew = self._is_incomplete = False
            yield self._catalog()
        else:
            self._is_incomplete = True

    def _server_news(self, name: str, server: _Server, tools: list[_Known]) -> ServerReady | ToolsChanged:
        defined = {one.name: one.hash for one in tools}
        new = tuple(
            ToolDefinition(one.name, defined[one.name], one.tool)
            for one in tools
            if one.tool is not None and server.told.get(one.name) != defined[one.name]
        )
        before, server.told = server.told, defined
        tokens = sum(one.tokens for one in tools)
        if server.is_ready:
            return ToolsChanged(
                name,
                added=tuple(one for one in defined if one not in before),
                removed=tuple(one for one in before if one not in defined),
                changed=tuple(one for one in defined if before.get(one, defined[one]) != defined[one]),
                tools=len(tools),
                tokens=tokens,
                definitions=new,
            )
        server.is_ready = True
        summary = server.instructions.strip().partition("\n")[0][:_LONGEST_SUMMARY]
        info = ServerInfo(name=name, summary=summary, instructions=server.instructions)
        return ServerReady(name, len(tools), tokens, info, definitions=new)

    def _catalog(self) -> CatalogBuilt:
        tools = tuple(self._tools.values())
        unknown = self.uncounted
        decision = f"{self._agent} decides which tools are deferred"
        if unknown:
            decision += f"; the transcript lacks the definitions of {count(unknown, 'tool')}"
        manifest = "\n".join(known.sent or known.name for known in tools if known.deferred)
        told = [f"{name}: {one.instructions}" for name, one in self._servers.items() if one.instructions]
        instructions = "\n\n".join(told)
        self.instruction_tokens, self.manifest_tokens = self._counted(instructions), self._counted(manifest)
        return CatalogBuilt(
            toolset="",
            entries=tuple(CatalogEntry(known.id, known.tokens, known.deferred) for known in tools),
            manifest=manifest,
            meta_tokens=0,
            static_tokens=self.static_tokens,
            decision=decision,
            instructions=instructions,
            uncounted=unknown,
        )


def _tool(server: str, name: str, definition: JsonObject) -> Tool:
    """The tool that a definition describes, with nothing where it holds no description or schema."""
    return Tool(
        server,
        name,
        as_text(definition.get("description")),
        {**as_object(definition.get("parameters")), "type": "object"},
    )
