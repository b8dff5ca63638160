"""Asks for approval before a call that may make changes."""

from inspector.domain.approval import why_ask
from inspector.domain.events import ApprovalDecided
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.tool import Tool
from inspector.engine.ports import ApprovalRequest, Approver, Decision
from inspector.engine.session import Session


class Approvals:
    """Remembers which tools were approved for the session. Read-only tools need no approval."""

    def __init__(self, session: Session, approver: Approver) -> None:
        self._session = session
        self._approver = approver
        self._approved: set[str] = set()

    async def allows(self, tool: Tool, arguments: JsonObject) -> bool:
        """Whether the call may run; asks the user if needed and emits the decision."""
        why = why_ask(tool)
        if not why or tool.id in self._approved:
            return True
        decision = await self._approver.ask(ApprovalRequest(tool, arguments, why))
        self._session.emit(ApprovalDecided(tool.id, decision))
        if decision is Decision.SESSION:
            self._approved.add(tool.id)
        return decision is not Decision.NO
