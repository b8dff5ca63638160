"""What Claude Code tells its model beside the conversation: tools, servers, whole requests."""

from typing import Any

from msgspec.structs import replace

from inspector.features.agents.transcript import (
    AgentTool,
    Asked,
    ServerAnnounced,
    ServerTrouble,
    Tally,
    ToolsOffered,
    ToolsWithdrawn,
)
from inspector.features.agents.transcript_file.record_reader import (
    NOT_ASKED,
    RecordReader,
    agent_tool,
    definition_of,
    items,
    mappings,
    said,
    server_name,
    text,
    texts,
)
from inspector.schema.json_value import JsonObject, as_object

_MOST_REQUESTS = 100


def is_by_person(record: dict[str, Any]) -> bool:
    """Whether a person wrote it, and no other agent or program."""
    return text(as_object(record.get("origin")).get("kind")) in ("", "human")


class ContextReader(RecordReader):
    """Reads what the model is given beside the conversation: tools, servers and their instructions."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._definitions: dict[str, JsonObject] = {}
        self._trouble: dict[str, ServerTrouble] = {}
        self._shapes: dict[str, dict[str, tuple[JsonObject | None, bool]]] = {}
        self._shape: dict[str, tuple[JsonObject | None, bool]] = {}
        self._requests: dict[str, str] = {}

    def _tool(self, sent: str) -> AgentTool:
        """The tool of a name, with its definition if the transcript holds it."""
        return agent_tool(sent, self._definitions.get(sent))

    def _attachment(self, attachment: dict[str, Any], at: float | None) -> None:
        match text(attachment.get("type")):
            case "deferred_tools_delta":
                self._tools_changed(attachment, at)
            case "deferred_tools_record":
                self._defined(attachment.get("entries"), at, deferred=True)
            case "prompt_snapshot":
                self._defined(attachment.get("tools"), at, deferred=False)
            case "mcp_instructions_delta":
                blocks = texts(attachment.get("addedBlocks"))
                for number, name in enumerate(texts(attachment.get("addedNames"))):
                    told = blocks[number] if number < len(blocks) else ""
                    self._add(ServerAnnounced(server_name(name), told, at))
            case "queued_command":
                self._queued(attachment, at)
            case kind:
                # There are dozens, and most versions add one: none of the others is about tools.
                self.tally.leave_out(f"attachment {kind}")

    def _tools_changed(self, attachment: dict[str, Any], at: float | None) -> None:
        names = texts(attachment.get("addedNames")) + texts(attachment.get("readdedNames"))
        if names:
            tools = tuple(self._tool(name) for name in dict.fromkeys(names))
            self._add(ToolsOffered(tools, deferred=True, at=at))
        if removed := texts(attachment.get("removedNames")):
            self._add(ToolsWithdrawn(removed, at))
        if "failedMcpServers" in attachment or "needsAuthMcpServers" in attachment:
            self._servers_in_trouble(attachment, at)

    def _servers_in_trouble(self, attachment: dict[str, Any], at: float | None) -> None:
        """The lists are repeated whole: only what is new in them is reported."""
        now: dict[str, ServerTrouble] = {}
        for failed in items(attachment.get("failedMcpServers")):
            told = as_object(failed)
            name = server_name(text(told.get("name")) or text(failed))
            reason = text(told.get("error")) or text(told.get("errorCode")) or "failed"
            now[name] = ServerTrouble(name, reason)
        for waiting in map(server_name, texts(attachment.get("needsAuthMcpServers"))):
            now[waiting] = ServerTrouble(waiting, "needs a login", needs_login=True)
        before, self._trouble = self._trouble, now
        for name, trouble in now.items():
            if before.get(name) != trouble:
                self._add(replace(trouble, at=at))

    def _defined(self, entries: object, at: float | None, *, deferred: bool) -> None:
        new: list[AgentTool] = []
        for entry in mappings(entries):
            name, definition = text(entry.get("name")), definition_of(entry)
            if name and definition is not None and self._definitions.get(name) != definition:
                self._definitions[name] = definition
                new.append(self._tool(name))
        if new:
            self._add(ToolsOffered(tuple(new), deferred, at))

    def _request(self, kind: str, record: dict[str, Any]) -> None:
        """Remember what a request binds: several share a shape, which is written before the first of them."""
        if kind == "api-request-shape":
            tools = mappings(as_object(record.get("shape")).get("tools"))
            self._shapes[text(record.get("shapeHash"))] = {
                text(tool.get("name")): (definition_of(tool), tool.get("defer_loading") is True)
                for tool in tools
            }
        elif kind == "api-request":
            self._requests[text(record.get("id"))] = text(record.get("shapeHash"))
        else:
            self.tally.leave_out(kind)
        for kept in (self._shapes, self._requests):
            if len(kept) > _MOST_REQUESTS:
                del kept[next(iter(kept))]

    def _bind(self, request: str, at: float | None) -> None:
        """Tell which tools a request bound, if they are others than those of the one before."""
        shape = self._shapes.get(self._requests.pop(request, ""))
        if shape is None or shape == self._shape:
            return
        self._close()
        before, self._shape = self._shape, shape
        self._definitions |= {name: known for name, (known, _) in shape.items() if known is not None}
        for deferred in (False, True):
            new = [name for name, one in shape.items() if one[1] is deferred and one != before.get(name)]
            if new:
                self._add(ToolsOffered(tuple(map(self._tool, new)), deferred, at))
        if gone := tuple(name for name in before if name not in shape):
            self._add(ToolsWithdrawn(gone, at))

    def _queued(self, attachment: dict[str, Any], at: float | None) -> None:
        """What the user wrote while the agent was working."""
        words = said(attachment.get("prompt")).strip()
        is_prompt = text(attachment.get("commandMode")) in ("", "prompt")
        if words and is_prompt and is_by_person(attachment):
            self._add(Asked(words, at))
        else:
            self.tally.leave_out(NOT_ASKED)
