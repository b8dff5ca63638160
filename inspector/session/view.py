"""A read-only view of a session: everything that a page or a command reads.

The running session implements `SessionView`, and so does the replay of a recorded moment. What changes a
session is `inspector.session.commands.Commands`. Only names of types: importing this imports none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from inspector.access.reach import EvalCase, EvalSet
    from inspector.config.configuration import Configuration
    from inspector.config.installation import Installation, Removal
    from inspector.core.access import AccessPolicy, Sight
    from inspector.core.budget import Prices, ToolCost
    from inspector.core.events import Record
    from inspector.core.marketplace import MarketplaceReport
    from inspector.core.message import ModelRequest
    from inspector.core.plugin import Plugin
    from inspector.core.ports import Clock
    from inspector.core.prompt_cache import CacheTerms
    from inspector.core.ranking import SearchRequest
    from inspector.core.session import SessionState
    from inspector.core.settings import DiscoverySettings, Settings
    from inspector.core.tool import Tool
    from inspector.mcp.log import WireLog
    from inspector.search.answer_text import SearchAnswer
    from inspector.search.index import ToolIndex
    from inspector.search.rankers.catalog_rankers import CatalogRankers
    from inspector.search.rules import SearchRules
    from inspector.session.setup.change import Setup
    from inspector.tokens.accounting import OtherModels
    from inspector.tokens.manifest import Catalog
    from inspector.tokens.measure import BudgetMeter


class DiscoveryView(Protocol):
    """The index of searchable tools, and searches over it."""

    @property
    def settings(self) -> DiscoverySettings: ...

    @property
    def index(self) -> ToolIndex: ...

    @property
    def rankers(self) -> CatalogRankers: ...

    @property
    def ranker_name(self) -> str: ...

    @property
    def rules(self) -> SearchRules: ...

    @property
    def clock(self) -> Clock: ...

    def look(
        self,
        request: SearchRequest,
        *,
        bound: Collection[str],
        pinned: Collection[str] = ...,
        unmet: Mapping[str, Sequence[str]] = ...,
    ) -> SearchAnswer:
        """Search without loading or recording anything."""
        ...

    def given(self, index: ToolIndex | None = None) -> tuple[EvalCase, ...]:
        """The labelled requests that were given for the tools in the index."""
        ...

    def evalset(self, index: ToolIndex | None = None) -> EvalSet:
        """Labelled requests for the tools in the index."""
        ...


class TokenView(Protocol):
    """How tokens are counted and what they cost."""

    @property
    def meter(self) -> BudgetMeter: ...

    @property
    def terms(self) -> CacheTerms: ...

    def cost(self, tool: Tool) -> ToolCost:
        """Tokens of one definition by part."""
        ...

    def prices(self, model: str = "") -> Prices | None:
        """The prices of a model, by default the session's, or None if unknown."""
        ...


class MarketplaceView(Protocol):
    """The plugins of the catalogs, and what installing one would change."""

    @property
    def plugins(self) -> tuple[Plugin, ...]: ...

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the catalogs and with entries that were left out."""
        ...

    def find(self, name: str) -> Plugin:
        """The plugin of that name. Raises ConfigError."""
        ...

    def server_of(self, plugin: Plugin) -> str:
        """The configured server that is the plugin's; "" if it is not installed."""
        ...

    def look(self, query: str, limit: int = 0) -> MarketplaceReport:
        """Search without recording anything; without a limit every plugin is ranked."""
        ...

    def plan(self, name: str, values: Mapping[str, str] = ...) -> Installation:
        """What installing would start and change; nothing is written. Raises ConfigError."""
        ...

    def removal(self, server: str) -> Removal:
        """What removing a server would change; nothing is written. Raises ConfigError."""
        ...


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
        ...

    @property
    def setup(self) -> Setup:
        """Everything that determines a first model call, except the tokenizer."""
        ...

    @property
    def retrieval(self) -> DiscoveryView: ...

    @property
    def accounting(self) -> TokenView: ...

    @property
    def other_models(self) -> OtherModels:
        """Token counts and prices under models other than the session's, and which this machine offers."""
        ...

    @property
    def marketplace(self) -> MarketplaceView:
        """What could be installed."""
        ...

    @property
    def sight(self) -> Sight:
        """What may be seen in the session."""
        ...

    @property
    def access_policy(self) -> AccessPolicy | None:
        """Who may see which tools, for who sees everything; None to anybody else, or without a policy."""
        ...

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """The records so far, or those of the given kinds."""
        ...

    def between(self, after: int, until: int) -> Sequence[Record]:
        """The records with a number above the first and up to the second one."""
        ...

    def stderr(self, server: str) -> str:
        """The last lines that a server wrote to stderr: up to now, or as it failed."""
        ...

    def wire(self, server: str) -> WireLog | None:
        """What was exchanged with a server; None where nothing is kept of it, as in a replay."""
        ...

    def next_request(self) -> ModelRequest:
        """What the model would be sent now, without the next user message."""
        ...
