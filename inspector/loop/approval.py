"""Which calls need a person's approval; asks for it, and remembers the answer."""

from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from inspector.core.definition import DefinitionChange, definition_changes, definition_hash
from inspector.core.events import ApprovalDecided, TrustChanged
from inspector.core.ports import ApprovalRequest, Approver, Decision
from inspector.core.session import SessionState
from inspector.core.stream import Session
from inspector.core.tool import Tool, contradiction, why_destroys
from inspector.schema.json_value import JsonObject

CHANGED: Final = "its definition changed since you were asked"
ASKED_BEFORE: Final = "you were asked about it before"
CLAIMED: Final = "only its server says it is read-only"
CLAIMED_SINCE: Final = "its server now says it is read-only"
DESTRUCTIVE: Final = "its server marks it as destructive"


class AllowedBefore(Struct, eq=False):
    """An `Approver` that asks nobody: it allows what was allowed before, and refuses the rest.

    A race makes every call twice, which is harmless only for calls that change nothing.
    """

    _allowed: frozenset[str]

    async def ask(self, request: ApprovalRequest) -> Decision:
        """See `Approver`."""
        return Decision.SESSION if definition_hash(request.tool) in self._allowed else Decision.NO


def why_ask(tool: Tool, state: SessionState) -> str:
    """Why a call needs approval in the session; empty if a trusted server says that the tool only reads.

    The specification of MCP: "clients MUST consider tool annotations to be untrusted unless they come from
    trusted servers" (2025-11-25, Tools). Which servers are trusted, only the user can say. A trusted server
    is not believed if the tool contradicts it, or if it claimed otherwise earlier in the session.
    """
    annotations = tool.annotations
    if contradicted := contradiction(tool):
        return contradicted
    if annotations.read_only:
        if tool.id in state.not_read_only:
            return CLAIMED_SINCE
        return "" if tool.server in state.trusted_servers else CLAIMED
    if annotations.destructive:
        return DESTRUCTIVE
    if annotations.read_only is None:
        return "its server does not mark it as read-only"
    return "its server says it makes changes"


def why_confirm(tool: Tool) -> str:
    """Why a call that a person has typed needs a yes: the tool destroys something; "" for any other tool."""
    return DESTRUCTIVE if tool.annotations.destructive else why_destroys(tool)


def is_known_to_read(tool: Tool, state: SessionState) -> bool:
    """Whether a trusted server says that the tool only reads, and nothing speaks against it."""
    return bool(tool.annotations.read_only) and not why_ask(tool, state)


def is_repeatable(tool: Tool, state: SessionState) -> bool:
    """Whether a second equal call changes nothing more: it only reads, or a trusted server says so.

    As with reading, a claim that the tool contradicts, or that earlier definitions lacked, is not believed.
    """
    if is_known_to_read(tool, state):
        return True
    is_claimed = tool.annotations.idempotent and tool.server in state.trusted_servers
    if not is_claimed or contradiction(tool):
        return False
    return all(version.annotations.idempotent for version in state.versions(tool.id))


@dataclass(eq=False)
class Approvals:
    """Asks about calls, unless the tool's definition as it is now was approved for the session.

    A tool that a trusted server marks as read-only needs no approval, except one that was asked about before:
    its server must not get around an answer by changing the mark.
    """

    session: Session
    approver: Approver

    async def allows(self, tool: Tool, arguments: JsonObject) -> bool:
        """Whether the call may run; asks the user if needed and emits the decision."""
        state, definition = self.session.state, definition_hash(tool)
        last, why = state.approvals.get(tool.id), why_ask(tool, state)
        if definition in state.approved or (not why and _is_unopposed(last, definition)):
            return True
        before = _approved(last)
        before = "" if before == definition else before
        changes = _changes(state, before, definition, tool)
        why = "; ".join(filter(None, (CHANGED if before else "", why))) or ASKED_BEFORE
        request = ApprovalRequest(tool, arguments, why, changes, offers_trust=why == CLAIMED)
        decision = await self.approver.ask(request)
        parts = tuple(change.part for change in changes)
        self.session.emit(ApprovalDecided(tool.id, decision, definition, before, parts))
        if decision is Decision.SERVER and request.offers_trust:
            self.session.emit(TrustChanged(tool.server, trusted=True))
        return decision is not Decision.NO


def _is_unopposed(last: ApprovalDecided | None, definition: str) -> bool:
    """Whether the last answer about a tool, if any, was a yes to this definition: trust came after it."""
    return last is None or (last.decision is not Decision.NO and last.definition == definition)


def _approved(last: ApprovalDecided | None) -> str:
    """The hash of the definition to compare with: the one approved last, or else the one asked about last."""
    if last is None:
        return ""
    return last.before if last.decision is Decision.NO and last.before else last.definition


def _changes(state: SessionState, before: str, definition: str, tool: Tool) -> tuple[DefinitionChange, ...]:
    """What differs, read from the record, where both definitions are without secrets."""
    old = state.definitions.get(before)
    return definition_changes(old, state.definitions.get(definition, tool)) if old is not None else ()
