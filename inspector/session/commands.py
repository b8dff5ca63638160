"""What a user can do to a session. Every change goes through here and becomes an event in the stream."""

from typing import Any, Protocol

from inspector.config.installation import Installation, Removal
from inspector.core.events import TurnEnded
from inspector.core.message import ToolResult
from inspector.core.ports import LocalModel
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.core.settings import ClientCapabilities
from inspector.schema.json_value import JsonObject


class Commands(Protocol):
    """The commands of a session. A replay refuses all of them."""

    def search(self, request: SearchRequest) -> SearchReport:
        """Search on behalf of the user: all scores, nothing loaded. Raises ToolsightError."""
        ...

    async def chat(self, text: str) -> TurnEnded:
        """Run the discovery loop for one user message. Cancel the task to cancel the turn."""
        ...

    async def call(self, tool_id: str, arguments: JsonObject) -> ToolResult:
        """Call a permitted tool on behalf of the user. Raises ToolsightError."""
        ...

    def load(self, tool_id: str) -> None:
        """Bind a deferred or evicted tool by hand. Raises ToolsightError."""
        ...

    def evict(self, tool_id: str) -> None:
        """Unbind a loaded tool by hand; pinned tools stay."""
        ...

    def change_setting(self, path: str, value: Any) -> None:
        """Change one setting for this session. Raises ToolsightError and changes nothing on failure."""
        ...

    def reset_setting(self, path: str) -> None:
        """Reset a setting to the value from the file or the profile. Raises ConfigError."""
        ...

    async def declare(self, client: ClientCapabilities) -> None:
        """Declare this to the servers from now on; return when those that it changes are connected anew."""
        ...

    def use_profile(self, name: str) -> None:
        """Switch the profile; settings changed in this session stay. Raises ConfigError."""
        ...

    def switch_toolset(self, name: str) -> None:
        """Restrict the catalog to a toolset; "" lifts the restriction. Raises ConfigError."""
        ...

    async def see_as(self, user: str, expert: str = "") -> None:
        """Begin a new session as the user may see everything; without a user, as the administrator.

        Raises ToolsightError and changes nothing if the policy does not know them.
        """
        ...

    async def read_policy_again(self) -> None:
        """Read the policy's file again: what it no longer grants is gone at once."""
        ...

    def switch_model(self, name: str) -> None:
        """Use another model from the next model call on. Raises ModelError."""
        ...

    def use_local_model(self, found: LocalModel) -> None:
        """Use a model that a server on this machine offers from the next model call on. Raises ModelError."""
        ...

    def milestone(self, name: str) -> None:
        """Mark a milestone as reached; preconditions may depend on it."""
        ...

    def stop_embedding(self) -> None:
        """Stop downloading or embedding; searches use what is embedded so far."""
        ...

    async def reconnect(self, server: str) -> None:
        """Close a server's connection, if any, and reopen it."""
        ...

    async def stop(self, server: str) -> None:
        """Close a server's connection, or stop opening it."""
        ...

    def trust(self, server: str, trusted: bool) -> None:
        """Believe what a server claims about its tools for this session, or no longer: see `why_ask`."""
        ...

    async def install(self, wanted: Installation) -> None:
        """Install a plugin as a person has seen it: connect its server, then write the configuration.

        Raises ToolsightError; then the session and the file are as they were.
        """
        ...

    async def remove_server(self, wanted: Removal) -> None:
        """Take a server out of configuration and session. Raises ToolsightError and changes nothing."""
        ...

    def reset_breaker(self, name: str) -> None:
        """Close the circuit breaker of a server or tool, in every session on this machine.

        `name` is the server's name or the tool's id. Raises ConfigError for any other.
        """
        ...
