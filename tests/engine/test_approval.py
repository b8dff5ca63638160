"""What a yes allows, and for how long."""

from dataclasses import replace

import pytest

from inspector.adapters.memory.fakes import FixedApprover, ManualClock, MemoryStore
from inspector.domain.events import ApprovalDecided
from inspector.domain.redaction import Redactor
from inspector.domain.tool import Annotations, Tool
from inspector.engine.loop.approval import Approvals
from inspector.engine.ports import Decision
from inspector.engine.session import Session

REFUND = Tool("shop", "refund_order", annotations=Annotations(read_only=False))
CANCEL = replace(REFUND, name="cancel_order")
SAME_NAME = replace(REFUND, server="bank")


class Asked:
    """Approvals whose every question gets one answer."""

    def __init__(self, decision: Decision) -> None:
        self.store, self.approver = MemoryStore(), FixedApprover(decision)
        self.approvals = Approvals(Session("s", self.store, ManualClock(), Redactor({})), self.approver)

    async def allows(self, *tools: Tool) -> list[bool]:
        return [await self.approvals.allows(tool, {}) for tool in tools]

    @property
    def about(self) -> list[str]:
        return [request.tool.id for request in self.approver.asked]


async def test_a_yes_for_one_tool_does_not_allow_the_other_tools_of_its_server() -> None:
    asked = Asked(Decision.SESSION)
    assert await asked.allows(REFUND, CANCEL) == [True, True]
    assert asked.about == ["shop:refund_order", "shop:cancel_order"]


async def test_a_yes_for_one_tool_does_not_allow_a_tool_of_the_same_name_elsewhere() -> None:
    asked = Asked(Decision.SESSION)
    await asked.allows(REFUND, SAME_NAME)
    assert asked.about == ["shop:refund_order", "bank:refund_order"]


@pytest.mark.parametrize(
    ("decision", "questions", "allowed"),
    [(Decision.SESSION, 1, True), (Decision.ONCE, 2, True), (Decision.NO, 2, False)],
)
async def test_only_a_yes_for_the_session_is_remembered(
    decision: Decision, questions: int, allowed: bool
) -> None:
    asked = Asked(decision)
    assert await asked.allows(REFUND, REFUND) == [allowed] * 2
    assert len(asked.about) == questions
    assert [record.event for record in asked.store.read("s")] == [
        ApprovalDecided("shop:refund_order", decision)
    ] * questions


async def test_a_tool_that_only_reads_is_not_asked_about() -> None:
    asked = Asked(Decision.NO)
    assert await asked.allows(replace(REFUND, annotations=Annotations(read_only=True))) == [True]
    assert asked.about == []
