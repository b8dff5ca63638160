"""The chat's parts, wired together once per session."""

from inspector.engine.composition.inertia import Inertia
from inspector.engine.live import Live
from inspector.engine.loop.approval import Approvals
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.connecting import Connecting
from inspector.engine.loop.discovery_loop import DiscoveryLoop
from inspector.engine.loop.dispatch import Dispatcher, ToolCaller
from inspector.engine.loop.guards.iteration import IterationGuard
from inspector.engine.loop.guards.redundancy import RedundancyDetector
from inspector.engine.loop.guards.watch import LoopWatch
from inspector.engine.loop.search_tools import SearchTools
from inspector.engine.ports import Approver, Clock
from inspector.engine.session import Session


class Chat:
    """The discovery loop with its dispatcher and guards."""

    def __init__(
        self,
        session: Session,
        live: Live,
        *,
        clock: Clock,
        caller: ToolCaller,
        approver: Approver,
        binder: Binder,
        servers: Connecting,
        inertia: Inertia,
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
        )
        self.dispatcher = Dispatcher(
            session,
            binder=binder,
            caller=caller,
            approvals=approvals,
            watch=watch,
            search=search,
            clock=clock,
            live=live,
        )
        self.loop = DiscoveryLoop(
            session,
            binder,
            self.dispatcher,
            clock,
            live,
            guards=(self.iteration, self.redundancy),
            servers=servers,
            inertia=inertia,
        )
