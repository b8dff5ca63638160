"""What a yes allows, and for how long."""

from dataclasses import replace

import pytest

from inspector.adapters.memory.fakes import FixedApprover, ManualClock, MemoryStore
from inspector.domain.definition import ToolDefinition, definition_hash
from inspector.domain.events import ApprovalDecided, ServerReady
from inspector.domain.redaction import Redactor
from inspector.domain.tool import Annotations, Tool
from inspector.engine.loop.approval import Approvals
from inspector.engine.ports import Decision
from inspector.engine.session import Session

REFUND = Tool("shop", "refund_order", annotations=Annotations(read_only=False))
CANCEL = replace(REFUND, name="cancel_order")
SAME_NAME = replace(REFUND, server="bank")


READS = Annotations(read_only=True)
CHANGED = {
    "description": replace(REFUND, description="Refunds twice."),
    "parameters": replace(REFUND, input_schema={"type": "object", "properties": {"to": {}}}),
    "annotations": replace(REFUND, annotations=Annotations(read_only=False, destructive=True)),
    "result": replace(REFUND, output_schema={"type": "object"}),
}


class Asked:
    """Approvals whose every question gets one answer."""

    def __init__(self, decision: Decision) -> None:
        self.store, self.approver = MemoryStore(), FixedApprover(decision)
        self.session = Session("s", self.store, ManualClock(), Redactor({}))
        self.approvals = Approvals(self.session, self.approver)

    async def allows(self, *tools: Tool) -> list[bool]:
        """Whether each may be called, one after the other, after its server listed it."""
        allowed = []
        for tool in tools:
            listed = ToolDefinition(tool.name, definition_hash(tool), tool)
            self.session.emit(ServerReady(tool.server, 1, 1, definitions=(listed,)))
            allowed.append(await self.approvals.allows(tool, {}))
        return allowed

    @property
    def about(self) -> list[str]:
        return [request.tool.id for request in self.approver.asked]

    @property
    def decided(self) -> list[ApprovalDecided]:
        events = (record.event for record in self.store.read("s", kinds=(ApprovalDecided.kind,)))
        return [event for event in events if isinstance(event, ApprovalDecided)]


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
    assert (
        asked.decided == [ApprovalDecided("shop:refund_order", decision, definition_hash(REFUND))] * questions
    )


async def test_a_tool_that_only_reads_is_not_asked_about() -> None:
    asked = Asked(Decision.NO)
    assert await asked.allows(replace(REFUND, annotations=READS)) == [True]
    assert asked.about == []


@pytest.mark.parametrize("part", CHANGED)
async def test_an_approved_tool_that_changes_asks_again_and_tells_what_changed(part: str) -> None:
    asked = Asked(Decision.SESSION)
    await asked.allows(REFUND, REFUND, CHANGED[part], CHANGED[part])
    assert len(asked.about) == 2
    assert "changed" in asked.approver.asked[1].why
    assert [change.part for change in asked.approver.asked[1].changes] == [part]
    before, after = map(definition_hash, (REFUND, CHANGED[part]))
    assert asked.decided[1] == ApprovalDecided(REFUND.id, Decision.SESSION, after, before, (part,))


async def test_a_tool_gets_around_no_answer_by_calling_itself_read_only() -> None:
    asked = Asked(Decision.NO)
    tame = replace(REFUND, annotations=READS)
    assert await asked.allows(REFUND, tame, tame) == [False, False, False]
    assert len(asked.about) == 3


async def test_a_tool_that_is_changed_back_is_still_approved() -> None:
    asked = Asked(Decision.SESSION)
    await asked.allows(REFUND)
    asked.approver.decision = Decision.NO
    assert await asked.allows(CHANGED["description"], REFUND) == [False, True]


async def test_the_difference_to_what_was_approved_is_told_until_there_is_a_yes() -> None:
    asked = Asked(Decision.ONCE)
    await asked.allows(REFUND)
    asked.approver.decision = Decision.NO
    await asked.allows(CHANGED["description"], CHANGED["description"])
    told = [[change.part for change in request.changes] for request in asked.approver.asked]
    assert told == [[], ["description"], ["description"]]


async def test_the_difference_is_told_without_secrets() -> None:
    asked = Asked(Decision.SESSION)
    secret = "sk-proj-abc123def456ghi789jkl"
    await asked.allows(REFUND, replace(REFUND, description=f"Uses {secret}."))
    assert secret not in str(asked.approver.asked[1].changes)
    assert secret not in str([record.event for record in asked.store.read("s")])
