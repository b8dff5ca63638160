"""The chat's parts, wired together once per session."""

from collections.abc import Callable

from inspector.domain.budget import Budget
from inspector.domain.catalog import Catalog
from inspector.domain.message import Message, ModelRequest
from inspector.domain.settings import Settings
from inspector.engine.chat.approval import Approvals
from inspector.engine.chat.dispatch import Dispatcher, ToolCaller
from inspector.engine.chat.loop import DiscoveryLoop
from inspector.engine.chat.search_tools import SearchTools
from inspector.engine.guards.iteration import IterationGuard
from inspector.engine.guards.redundancy import RedundancyDetector
from inspector.engine.ports import Approver, ChatModel, Clock
from inspector.engine.retrieval.retrieval import Retrieval
from inspector.engine.session import Session


class Chat:
    """The loop with its dispatcher and guards. The callables give what can change during a session."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        clock: Clock,
        caller: ToolCaller,
        approver: Approver,
        *,
        model: Callable[[], ChatModel],
        catalog: Callable[[], Catalog],
        retrieval: Retrieval,
        request: Callable[[tuple[Message, ...]], ModelRequest],
        measure: Callable[[ModelRequest], Budget],
    ) -> None:
        self.iteration = IterationGuard(settings.guard)
        self.redundancy = RedundancyDetector(settings.redundancy)
        approvals = Approvals(session, approver)
        self.dispatcher = Dispatcher(session, catalog, caller, approvals, self.iteration, clock)
        self.dispatcher.register(SearchTools(session, retrieval, self.iteration, self.redundancy, clock))
        max_steps = settings.chat.max_steps
        self.loop = DiscoveryLoop(session, model, request, measure, self.dispatcher, clock, max_steps)
