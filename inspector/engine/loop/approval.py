"""Asking before a call that may change something."""

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
        """Ask if need be; the decision is an event."""
        why = why_ask(tool)
        if not why or tool.id in self._approved:
            return True
        decision = await self._approver.ask(ApprovalRequest(tool, arguments, why))
        self._session.emit(ApprovalDecided(tool.id, decision))
        if decision is Decision.SESSION:
            self._approved.add(tool.id)
        return decision is not Decision.NO
