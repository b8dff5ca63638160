"""The tools of servers that are away, and how to report them."""

from collections.abc import Mapping

from inspector.domain.catalog import Catalog
from inspector.domain.server import ServerPhase
from inspector.domain.session import Binding
from inspector.domain.tool import Tool
from inspector.engine.session import Session

_ANOTHER = "Use another tool, or answer without it."


class AwayTools:
    """The permitted tools of servers that are away, as they were listed last."""

    def __init__(self, session: Session) -> None:
        self.catalog = Catalog()
        self._session = session

    def named(self, name: str, connected: Catalog) -> Tool | None:
        """The only tool that `name` can mean; None if a connected one has the name."""
        named = () if connected.named(name) else self.catalog.named(name)
        return named[0] if len(named) == 1 else None

    def absence(self, server: str) -> str:
        """That a server is away, and why, in words."""
        state = self._session.state.servers.get(server)
        if state is not None and state.phase is ServerPhase.FAILED:
            return f"the server {server} is away (failed: {state.reason})"
        stopped = state is not None and state.phase is ServerPhase.STOPPED
        return f"the server {server} is away ({'stopped' if stopped else 'connecting'})"

    def refusal(self, tool: Tool) -> str:
        """The answer to a model that calls such a tool."""
        known = self._session.state.known(tool.id)
        held = known is not None and known.held_as in (Binding.LOADED, Binding.PINNED)
        later = " It can be called again, without a search, once its server is back." if held else ""
        return f"{tool.id} cannot be called now: {self.absence(tool.server)}.{later} {_ANOTHER}"

    def absences(self) -> Mapping[str, str]:
        """What a search says of each server and its tools, by every name they go by."""
        told: dict[str, str] = {}
        for tool in self.catalog.tools:
            absence = self.absence(tool.server)
            told.update(dict.fromkeys((tool.name, tool.wire_name, tool.id), f"No {tool.id} now: {absence}."))
        for server in self.catalog.servers:
            told[server] = f"No tool of {server} can be found now: {self.absence(server)}."
        return told
