"""A session as it runs: its settings and its parts, beside its connections and its stream."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Self

from msgspec import to_builtins

from inspector.access.reach import EvalCase
from inspector.access.restriction import seen_cases
from inspector.config.configuration import Configuration, is_about_client
from inspector.core.events import IndexChanged, SettingsChanged
from inspector.core.message import ModelRequest
from inspector.core.ranking import IndexState
from inspector.core.settings import Settings
from inspector.core.stream import Session
from inspector.core.tool import Catalog
from inspector.loop.settings_check import Policy
from inspector.loop.tool_context import without
from inspector.search.answer.retrieval import Live, Retrieval
from inspector.search.index.past_use import Whose
from inspector.session.assembly import Background, Handover, Ports, SessionParts, judged, past_calls
from inspector.session.connected_session import ConnectedSession
from inspector.session.server_change import ServerSource
from inspector.session.setup import Setup
from inspector.tokens.accounting import Accounting


class RunningSession(ConnectedSession):
    """A session, its connections and its parts. Leaving its `async with` closes all connections."""

    def __init__(
        self,
        configuration: Configuration,
        ports: Ports,
        *,
        model: str,
        session_id: str,
        toolset: str = "",
        cases: Sequence[EvalCase] = (),
        profile: str = "",
        values: Mapping[str, Any] | None = None,
        trusted: Collection[str] = (),
    ) -> None:
        """`cases` are labelled requests; `profile` and `values` (settings by path) override the file's.

        `trusted` names servers whose annotations are believed, besides those that the file says.

        Raises ToolsightError.
        """
        given = Policy(configuration, profile=profile, values=values).settings
        super().__init__(configuration, ports, given.access, session_id, self._on_servers)
        self.policy = Policy(
            configuration,
            profile=profile,
            values=values,
            on_change=self._on_settings,
            restrict=self.access.settings,
        )
        self._cases, self._trusted = tuple(cases), frozenset(trusted)
        self._begun = asyncio.Event()
        self._begun.set()
        self._background, self._handover = Background(), Handover()
        settings = self.policy.settings
        self._live = Live(
            settings=settings,
            model=ports.model_for(model),
            configuration=self.access.configuration(configuration),
            retrieval=self._new_retrieval(settings),
            toolset=toolset,
            sight=self.access.sight,
        )
        self.accounting = Accounting(ports.counter_for, ports.prices, self._live)
        self.local_models = ports.local_models
        self._parts = self._make_parts()

    def _make_parts(self) -> SessionParts:
        return SessionParts(
            self._session,
            self._live,
            self.ports,
            self._connections,
            self.accounting,
            configure=self._configure,
            rebuild=self._rebuild,
        )

    async def __aenter__(self) -> Self:
        self.configuration.toolset(self._live.toolset)
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._parts.close()
        await self.retrieval.settled()
        try:
            await self._background.settled()
        finally:
            try:
                await self._connections.aclose()
            finally:
                await self._parts.aclose()
                for session_id in (*self._past_sessions, self.session_id):
                    self.ports.store.release(session_id)

    @property
    def catalog(self) -> Catalog:
        return self._parts.binder.catalog

    @property
    def profile(self) -> str:
        return self.policy.profile

    @property
    def session_values(self) -> Mapping[str, Any]:
        """The settings changed in this session, by path."""
        return self.policy.session_values

    @property
    def retrieval(self) -> Retrieval:
        return self._live.retrieval

    @property
    def server_source(self) -> ServerSource:
        return self._parts.server_source

    @property
    def setup(self) -> Setup:
        """Everything that determines a first model call, except the tokenizer."""
        servers, live = self._connections, self._live
        return Setup(
            servers.tools,
            live.configuration,
            live.settings,
            live.toolset,
            servers.summaries,
            servers.instructions,
        )

    def next_request(self) -> ModelRequest:
        """Exactly what the model would be sent now, without the next user message."""
        return self._parts.binder.request(self._parts.chat.loop.messages)

    async def settled(self) -> None:
        """Wait until all pending token counts are done."""
        await self._background.settled()

    def _new_retrieval(self, settings: Settings) -> Retrieval:
        """What searches the session's tools, reports the progress of its index, and learns of past use."""
        ports, sight, stored = self.ports, self.access.sight, None
        if ports.stored_tools is not None:
            stored = ports.stored_tools.tier(
                lambda: frozenset(spec.name for spec in self.configuration.servers),
                lambda tool: self._live.audience.admits(tool),
                lambda: self.access.sight,
            )
        return Retrieval(
            settings.discovery,
            ports.clock,
            embedder=ports.embedder_for(settings.discovery.embedding_model),
            static=ports.static,
            vectors=ports.vectors,
            report=partial(self._on_index, self._session),
            cases=lambda: seen_cases(self._cases, self.access.sight),
            calm=self._connections.calm,
            registry=stored,
            past_calls=past_calls(ports.history, sight, but=self.session_id),
            whose=lambda: Whose(self._parts.inertia.persona, self.settings.inertia.half_life_days),
        )

    def _check(self) -> None:
        """Check the settings, once the session runs."""
        if self._parts.check.is_due:
            tools = self._connections.tools
            self._parts.check.run(tools, judged(self.ports, self.settings, self.access.judged, tools))

    def _on_index(self, session: Session, index: IndexState) -> None:
        session.emit(IndexChanged(index))
        self._check()

    def _on_settings(self, changed: Sequence[str]) -> None:
        self._live.settings = settings = self.policy.settings
        self._session.emit(SettingsChanged(self.policy.profile, to_builtins(settings), tuple(changed)))
        if any(path.startswith("record.") for path in changed):
            self._parts.retention.run_now()
        if "discovery.embedding_model" in changed:
            self.retrieval.close()
            self._live.retrieval = self._new_retrieval(settings)
        else:
            self.retrieval.use_settings(settings.discovery)
        self._parts.server_source.use_settings(settings, changed)
        self._parts.inertia.follow()
        self._rebuild()
        if any(map(is_about_client, changed)):
            self._background.run(self._connections.declare_again())

    def _on_servers(self) -> None:
        servers = self._connections
        offered = servers.tools, servers.away, servers.summaries, servers.instructions
        # A server that fails has often no part in the catalog.
        is_first = not self._parts.offered and not self.state.ready_servers
        if offered == self._parts.offered or is_first:
            self._check()
        else:
            self._rebuild()
            self._parts.offered = offered

    def _rebuild(self) -> None:
        setup, before = self.setup, self.state
        away = self._connections.away
        binder, loop = self._parts.binder, self._parts.chat.loop
        binder.rebuild(setup.connected, setup.summaries, away, instructions=setup.instructions)
        loop.messages = without(loop.messages, binder.news.withdrawn)
        now = self.state
        self._parts.chat.redundancy.forget(
            (before.tools.keys() | before.held) - now.tools.keys() - now.held.keys()
        )
        self._check()
        self._measure()

    def _measure(self) -> None:
        self._parts.binder.measure(self._parts.chat.loop.messages)

    def _configure(self, configuration: Configuration) -> None:
        """Let the session go on with other servers; only who sees everything changes them."""
        self.whole_configuration = self._live.configuration = configuration
