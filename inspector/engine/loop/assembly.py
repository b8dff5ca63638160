"""The chat's parts, wired together once per session."""

from collections.abc import Callable

from inspector.domain.settings import Settings
from inspector.engine.discovery.retrieval import Retrieval
from inspector.engine.loop.approval import Approvals
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.discovery_loop import DiscoveryLoop
from inspector.engine.loop.dispatch import Dispatcher, ToolCaller
from inspector.engine.loop.guards.iteration import IterationGuard
from inspector.engine.loop.guards.redundancy import RedundancyDetector
from inspector.engine.loop.search_tools import SearchTools
from inspector.engine.ports import Approver, ChatModel, Clock
from inspector.engine.session import Session


class Chat:
    """The loop with its dispatcher and guards. The callables give what can change during a session."""

    def __init__(
        self,
        session: Session,
        settings: Callable[[], Settings],
        clock: Clock,
        caller: ToolCaller,
        approver: Approver,
        binder: Binder,
        *,
        model: Callable[[], ChatModel],
        retrieval: Callable[[], Retrieval],
    ) -> None:
        self.iteration = IterationGuard(lambda: settings().guard)
        self.redundancy = RedundancyDetector(lambda: settings().redundancy)
        approvals = Approvals(session, approver)
        self.dispatcher = Dispatcher(session, binder, caller, approvals, self.iteration, clock, settings)
        self.dispatcher.register(
            SearchTools(session, retrieval, binder, self.iteration, self.redundancy, clock, settings)
        )
        self.loop = DiscoveryLoop(session, model, binder, self.dispatcher, clock, settings)
