"""What Claude Code gives the model beside the conversation: tools, servers and their instructions."""

from typing import Any

from inspector.features.agents.transcript import (
    AgentTool,
    Asked,
    ServerAnnounced,
    ServerTrouble,
    ToolsOffered,
    ToolsWithdrawn,
)
from inspector.features.agents.transcript_file.field import (
    agent_tool,
    definition_of,
    items,
    mappings,
    said,
    server_name,
    text,
    texts,
)
from inspector.features.agents.transcript_file.flow import Flow, PartReader
from inspector.schema.json_value import JsonObject, as_object

_NEEDS_LOGIN = "needs a login"
_FAILED = "failed"


class Attachments(PartReader):
    """Reads attachments; remembers the definitions that the transcript holds, and the servers in trouble."""

    def __init__(self, flow: Flow) -> None:
        super().__init__(flow)
        self._definitions: dict[str, JsonObject] = {}
        self._trouble: dict[str, ServerTrouble] = {}

    def tool(self, sent: str) -> AgentTool:
        """The tool of a name, with its definition if the transcript holds it."""
        return agent_tool(sent, self._definitions.get(sent))

    def read(self, attachment: dict[str, Any], at: float | None) -> None:
        """Add what the attachment says to the flow."""
        match text(attachment.get("type")):
            case "deferred_tools_delta":
                self._tools_changed(attachment, at)
            case "deferred_tools_record":
                self._defined(attachment.get("entries"), at, deferred=True)
            case "prompt_snapshot":
                self._defined(attachment.get("tools"), at, deferred=False)
            case "mcp_instructions_delta":
                self._announced(attachment, at)
            case "queued_command":
                self._queued(attachment, at)
            case kind:
                # There are dozens, and most versions add one: none of the others is about tools.
                self._tally.leave_out(f"attachment {kind}")

    def _tools_changed(self, attachment: dict[str, Any], at: float | None) -> None:
        names = texts(attachment.get("addedNames")) + texts(attachment.get("readdedNames"))
        if names:
            tools = tuple(self.tool(name) for name in dict.fromkeys(names))
            self._flow.add(ToolsOffered(tools, deferred=True, at=at))
        if removed := texts(attachment.get("removedNames")):
            self._flow.add(ToolsWithdrawn(removed, at))
        if "failedMcpServers" in attachment or "needsAuthMcpServers" in attachment:
            self._servers_in_trouble(attachment, at)

    def _servers_in_trouble(self, attachment: dict[str, Any], at: float | None) -> None:
        """The lists are repeated whole: only what is new in them is reported."""
        now: dict[str, ServerTrouble] = {}
        for failed in items(attachment.get("failedMcpServers")):
            told = as_object(failed)
            name = server_name(text(told.get("name")) or text(failed))
            reason = text(told.get("error")) or text(told.get("errorCode")) or _FAILED
            now[name] = ServerTrouble(name, reason)
        for waiting in texts(attachment.get("needsAuthMcpServers")):
            name = server_name(waiting)
            now[name] = ServerTrouble(name, _NEEDS_LOGIN, needs_login=True)
        before, self._trouble = self._trouble, now
        for name, trouble in now.items():
            if before.get(name) != trouble:
                self._flow.add(ServerTrouble(name, trouble.reason, trouble.needs_login, at))

    def _defined(self, entries: object, at: float | None, *, deferred: bool) -> None:
        new: list[AgentTool] = []
        for entry in mappings(entries):
            name, definition = text(entry.get("name")), definition_of(entry)
            if name and definition is not None and self._definitions.get(name) != definition:
                self._definitions[name] = definition
                new.append(self.tool(name))
        if new:
            self._flow.add(ToolsOffered(tuple(new), deferred, at))

    def _announced(self, attachment: dict[str, Any], at: float | None) -> None:
        names, blocks = items(attachment.get("addedNames")), items(attachment.get("addedBlocks"))
        for number, name in enumerate(names):
            if isinstance(name, str):
                told = text(blocks[number]) if number < len(blocks) else ""
                self._flow.add(ServerAnnounced(server_name(name), told, at))

    def _queued(self, attachment: dict[str, Any], at: float | None) -> None:
        """What the user wrote while the agent was working."""
        words = said(attachment.get("prompt")).strip()
        by_human = text(as_object(attachment.get("origin")).get("kind")) in ("", "human")
        if words and by_human and text(attachment.get("commandMode")) in ("", "prompt"):
            self._flow.add(Asked(words, at))
        else:
            self._tally.leave_out("not written by the user")
