"""The chat's parts, wired together once per session."""

from typing import Protocol

from inspector.domain.tool import Tool
from inspector.engine.composition.breaking import Breakers
from inspector.engine.composition.fallback import Fallbacks
from inspector.engine.composition.inertia import Inertia
from inspector.engine.composition.performing import Performer, ToolCaller
from inspector.engine.composition.restarting import Reconnecting, Restarts
from inspector.engine.composition.retrying import RetryRules
from inspector.engine.discovery.live import Live
from inspector.engine.loop.approval import Approvals
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.connecting import Connecting
from inspector.engine.loop.discovery_loop import DiscoveryLoop
from inspector.engine.loop.dispatch import Dispatcher
from inspector.engine.loop.guards.iteration import IterationGuard
from inspector.engine.loop.guards.redundancy import RedundancyDetector
from inspector.engine.loop.guards.watch import LoopWatch
from inspector.engine.loop.rejection import Rejections
from inspector.engine.loop.search_tools import Further, SearchTools, nowhere
from inspector.engine.ports import Approver, Clock
from inspector.engine.reliability_ports import ReliabilityPorts
from inspector.engine.session import Session


class Servers(ToolCaller, Reconnecting, Connecting, Protocol):
    """The servers of a session, as the chat needs them."""


class Chat:
    """The discovery loop with its dispatcher and guards."""

    def __init__(
        self,
        session: Session,
        live: Live,
        *,
        clock: Clock,
        approver: Approver,
        binder: Binder,
        servers: Servers,
        inertia: Inertia,
        reliability: ReliabilityPorts,
        further: Further = nowhere,
    ) -> None:
        self.iteration = IterationGuard(live)
        self.redundancy = RedundancyDetector(live)
        watch = LoopWatch(session, self.iteration, clock, live)
        approvals = Approvals(session, approver)
        search = SearchTools(
            session,
            binder=binder,
            iteration=self.iteration,
            watch=watch,
            redundancy=self.redundancy,
            clock=clock,
            live=live,
            inertia=inertia,
            further=further,
        )
        self.breakers = Breakers(session, reliability.breakers, clock, live)
        inertia.is_callable = lambda tool_id: self._is_callable(binder.catalog.get(tool_id))
        restarts = Restarts(session, servers, self.breakers, lambda tool_id: binder.catalog.get(tool_id))
        self.performer = Performer(
            session,
            servers,
            breakers=self.breakers,
            restarts=restarts,
            rules=RetryRules(session, live),
            retrier=reliability.retrier,
            clock=clock,
        )
        fallbacks = Fallbacks(
            session, live, binder=binder, breakers=self.breakers, schemas=reliability.schemas
        )
        self.dispatcher = Dispatcher(
            session,
            binder=binder,
            caller=servers,
            performer=self.performer,
            restarts=restarts,
            approvals=approvals,
            watch=watch,
            search=search,
            rejections=Rejections(session, binder, watch, live),
            fallbacks=fallbacks,
        )
        guards = (self.iteration, self.redundancy)
        self.loop = DiscoveryLoop(
            session, binder, self.dispatcher, clock, live, guards=guards, servers=servers, inertia=inertia
        )

    def _is_callable(self, tool: Tool | None) -> bool:
        return tool is not None and self.breakers.is_callable(tool)
