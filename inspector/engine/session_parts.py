"""What works for one session: everything that remembers what happened in it."""

from collections.abc import Callable, Sequence
from functools import partial

from inspector.domain.configuration import Configuration
from inspector.domain.plugin import Plugin
from inspector.domain.settings import DiscoverySettings
from inspector.engine.assembly import inertia_of
from inspector.engine.background import Background
from inspector.engine.connections import Connections
from inspector.engine.discovery.live import Live
from inspector.engine.loop.assembly import Chat
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.marketplace.installing import Installing
from inspector.engine.marketplace.marketplace import Marketplace
from inspector.engine.marketplace.search import PluginSearch
from inspector.engine.retention import Retention
from inspector.engine.session import Session
from inspector.engine.session_ports import Ports
from inspector.engine.settings_check import SettingsCheck
from inspector.engine.tokens.count.accounting import Accounting


class SessionParts:
    """The parts of one session. Another one, on the same connections, gets others."""

    def __init__(
        self,
        session: Session,
        live: Live,
        ports: Ports,
        connections: Connections,
        accounting: Accounting,
        *,
        judged: Callable[[], tuple[str, ...]],
        configure: Callable[[Configuration], None],
        rebuild: Callable[[], None],
    ) -> None:
        """`judged` are the patterns of the policy to be told if they match no tool.

        `configure` lets the session go on with other servers, `rebuild` builds its catalog anew.
        """
        self._live = live
        self.retention = Retention(session, ports.store, ports.clock, live)
        self.binder = Binder(session, live, ports.clock, accounting)
        self.check = SettingsCheck(session, live, lambda: connections.tools, judged)
        self.marketplace = Marketplace(
            live, ports.marketplace, partial(_plugin_search, ports), lambda: bool(connections.connecting)
        )
        self.installing = Installing(
            session,
            live,
            connections,
            ports.marketplace.editor,
            ports.memory,
            configure=configure,
            rebuild=rebuild,
        )
        self.inertia = inertia_of(session, live, ports, accounting, self.binder)
        self.chat = Chat(
            session,
            live,
            clock=ports.clock,
            approver=ports.approver,
            binder=self.binder,
            servers=connections,
            inertia=self.inertia,
            reliability=ports.reliability,
            further=self.marketplace.after,
        )
        # What the servers offered when the catalog was built for them.
        self.offered: tuple[object, ...] = ()

    def begin(self, background: Background) -> None:
        """Start what goes on in the background; who may not see other sessions deletes none."""
        if self._live.sight.is_whole:
            self.retention.start()
        self.inertia.follow()
        background.run(self.marketplace.prepare())

    def close(self) -> None:
        """Begin nothing more."""
        self.check.close()
        self.inertia.close()
        self._live.retrieval.close()
        self.marketplace.close()

    async def aclose(self) -> None:
        """Wait for what still changes the store."""
        await self.retention.aclose()


def _plugin_search(ports: Ports, plugins: Sequence[Plugin], discovery: DiscoverySettings) -> PluginSearch:
    return PluginSearch(
        plugins,
        discovery,
        ports.clock,
        embedder=ports.embedder_for(discovery.embedding_model),
        static=ports.static,
        vectors=ports.vectors,
    )
