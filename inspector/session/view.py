"""What a page reads of a session, and what it can do to it. Only names of types: importing this is light.

The running session implements `SessionView`, and so does the replay of a recorded moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspector.config.configuration import Configuration
    from inspector.core.access import AccessPolicy, Sight
    from inspector.core.budget import Prices, ToolCost
    from inspector.core.events import Record
    from inspector.core.message import ModelRequest
    from inspector.core.prompt_cache import CacheTerms
    from inspector.core.session import SessionState
    from inspector.core.settings import Settings
    from inspector.core.tool import Catalog, Tool
    from inspector.loop.model.local import LocalModelServers
    from inspector.mcp.frame import WireLog
    from inspector.mcp.reading import Offers
    from inspector.search.answer.retrieval import Retrieval
    from inspector.session.server_change import ServerSource
    from inspector.session.setup import Setup
    from inspector.tokens.measure import BudgetMeter


class TokenView(Protocol):
    """How tokens are counted and what they cost."""

    @property
    def meter(self) -> BudgetMeter: ...

    @property
    def terms(self) -> CacheTerms: ...

    def cost(self, tool: Tool) -> ToolCost:
        """Tokens of one definition by part."""

    def prices(self, model: str = "") -> Prices | None:
        """The prices of a model, by default the session's, or None if unknown."""


class SessionView(Protocol):
    """One session, running or replayed."""

    @property
    def session_id(self) -> str: ...

    @property
    def state(self) -> SessionState: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def configuration(self) -> Configuration: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def profile(self) -> str: ...

    @property
    def session_values(self) -> Mapping[str, Any]:
        """The settings changed in this session, by path."""

    @property
    def setup(self) -> Setup:
        """Everything that determines a first model call, except the tokenizer."""

    @property
    def retrieval(self) -> Retrieval: ...

    @property
    def accounting(self) -> TokenView: ...

    @property
    def local_models(self) -> LocalModelServers:
        """The models that servers on this machine offer."""

    @property
    def server_source(self) -> ServerSource:
        """The servers that could be added."""

    @property
    def sight(self) -> Sight:
        """What may be seen in the session."""

    @property
    def access_policy(self) -> AccessPolicy | None:
        """Who may see which tools, for who sees everything; None to anybody else, or without a policy."""

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """The records so far, or those of the given kinds."""

    def between(self, after: int, until: int) -> Sequence[Record]:
        """The records with a number above the first and up to the second one."""

    def stderr(self, server: str) -> str:
        """The last lines that a server wrote to stderr: up to now, or as it failed."""

    def wire(self, server: str) -> WireLog | None:
        """What was exchanged with a server; None where nothing is kept of it, as in a replay."""

    def offers(self, server: str) -> Offers | None:
        """What a server has beside tools; None while it is not connected, and in a replay."""

    def next_request(self) -> ModelRequest:
        """What the model would be sent now, without the next user message."""
