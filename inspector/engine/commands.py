"""What a person can do to a session. Every change goes through here, and becomes an event of the stream."""

from typing import Any, Protocol

from inspector.domain.events import TurnEnded
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolResult
from inspector.domain.ranking import SearchReport, SearchRequest


class Commands(Protocol):
    """The commands of a session. A replay has none: there each of them is refused."""

    def search(self, request: SearchRequest) -> SearchReport:
        """Search as a person: every score, nothing loaded. Raises ToolsightError."""
        ...

    async def chat(self, text: str) -> TurnEnded:
        """Run the discovery loop for one user message. Cancel the task to cancel the turn."""
        ...

    async def call(self, tool_id: str, arguments: JsonObject) -> ToolResult:
        """Call a permitted tool as a person. Raises ToolsightError."""
        ...

    def load(self, tool_id: str) -> None:
        """Bind a deferred or evicted tool by hand. Raises ToolsightError."""
        ...

    def evict(self, tool_id: str) -> None:
        """Unbind a loaded tool by hand; a pinned one stays."""
        ...

    def change_setting(self, path: str, value: Any) -> None:
        """Change one setting for this session. Raises ToolsightError, and then nothing has changed."""
        ...

    def reset_setting(self, path: str) -> None:
        """Let the file or the profile decide a setting again. Raises ConfigError."""
        ...

    def use_profile(self, name: str) -> None:
        """Take another profile; settings changed in this session stay. Raises ConfigError."""
        ...

    def switch_toolset(self, name: str) -> None:
        """Restrict the catalog to a toolset; "" lifts the restriction. Raises ConfigError."""
        ...

    def switch_model(self, name: str) -> None:
        """Answer with another model from the next call on. Raises ModelError."""
        ...

    def milestone(self, name: str) -> None:
        """Say that a milestone is reached; preconditions may have waited for it."""
        ...

    def stop_embedding(self) -> None:
        """Stop downloading or embedding; searches go on with what there is."""
        ...

    async def reconnect(self, server: str) -> None:
        """Close a server's connection, if any, and open it again."""
        ...

    async def stop(self, server: str) -> None:
        """Close a server's connection, or give up opening it."""
        ...
