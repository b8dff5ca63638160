"""The chat's parts, wired together once per session."""

from typing import Protocol

from inspector.core.ports import Approver, Clock
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.approval import Approvals
from inspector.loop.binding.binder import Binder
from inspector.loop.connecting import Connecting
from inspector.loop.discovery_loop import DiscoveryLoop
from inspector.loop.dispatch import Dispatcher
from inspector.loop.fallback import Fallbacks
from inspector.loop.guards.iteration import IterationGuard
from inspector.loop.guards.redundancy import RedundancyDetector
from inspector.loop.guards.watch import LoopWatch
from inspector.loop.inertia import Inertia
from inspector.loop.rejection import Rejections
from inspector.loop.search_tools import Further, SearchTools, nowhere
from inspector.reliability.breaking import Breakers
from inspector.reliability.performing import Performer, ToolCaller
from inspector.reliability.ports import ReliabilityPorts
from inspector.reliability.restarting import Reconnecting, Restarts
from inspector.reliability.retrying import RetryRules
from inspector.search.live import Live


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
