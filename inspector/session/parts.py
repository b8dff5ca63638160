"""What works for one session: everything that remembers what happened in it."""

from collections.abc import Callable, Sequence
from functools import partial

from inspector.core.configuration import Configuration
from inspector.core.plugin import Plugin
from inspector.core.settings import DiscoverySettings
from inspector.core.stream import Session
from inspector.loop.assembly import Chat
from inspector.loop.binding.binder import Binder
from inspector.loop.settings_check import SettingsCheck
from inspector.mcp.connections import Connections
from inspector.registry.marketplace.installing import Installing
from inspector.registry.marketplace.marketplace import Marketplace
from inspector.registry.marketplace.search import PluginSearch
from inspector.search.live import Live
from inspector.session.assembly import inertia_of
from inspector.session.background import Background
from inspector.session.ports import Ports
from inspector.store.retention import Retention
from inspector.tokens.count.accounting import Accounting


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
