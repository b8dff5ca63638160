"""What a yes allows, and for how long."""

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.definition import ToolDefinition, definition_hash
from inspector.core.events import ApprovalDecided, ServerReady, TrustChanged
from inspector.core.ports import Decision
from inspector.core.redaction import Redactor
from inspector.core.stream import Session
from inspector.core.tool import Annotations, Tool
from inspector.loop.approval import Approvals
from inspector.store.store import MemoryStore
from tests.support.fakes import FixedApprover, ManualClock

REFUND = Tool("shop", "refund_order", annotations=Annotations(read_only=False))


READS = Annotations(read_only=True)
ORDERS = Tool("shop", "list_orders", annotations=READS)
CHANGED = {
    "description": replace(REFUND, description="Refunds twice."),
    "annotations": replace(REFUND, annotations=Annotations(read_only=False, destructive=True)),
}


class Asked:
    """Approvals whose every question gets one answer; the servers in `trusted` are."""

    def __init__(self, decision: Decision, *trusted: str) -> None:
        self.store, self.approver = MemoryStore(), FixedApprover(decision)
        self.session = Session("s", self.store, ManualClock(), Redactor({}))
        self.approvals = Approvals(self.session, self.approver)
        for server in trusted:
            self.session.emit(TrustChanged(server, trusted=True))

    async def allows(self, *tools: Tool) -> list[bool]:
        """Whether each may be called, one after the other, after its server listed it."""
        allowed = []
        for tool in tools:
            self.listed(tool)
            allowed.append(await self.approvals.allows(tool, {}))
        return allowed

    def listed(self, tool: Tool) -> None:
        """Let the tool's server list it."""
        definition = ToolDefinition(tool.name, definition_hash(tool), tool)
        self.session.emit(ServerReady(tool.server, 1, 1, definitions=(definition,)))

    @property
    def about(self) -> list[str]:
        return [request.tool.id for request in self.approver.asked]

    @property
    def decided(self) -> list[ApprovalDecided]:
        events = (record.event for record in self.store.read("s", kinds=(ApprovalDecided.kind,)))
        return [event for event in events if isinstance(event, ApprovalDecided)]


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


async def test_an_answer_that_was_not_offered_trusts_no_server() -> None:
    asked = Asked(Decision.SERVER)
    assert await asked.allows(REFUND) == [True]
    assert "shop" not in asked.session.state.trusted_servers
    await asked.allows(ORDERS)
    assert "shop" in asked.session.state.trusted_servers


async def test_trusting_a_server_covers_what_it_says_only_reads_and_nothing_else() -> None:
    asked = Asked(Decision.ONCE)
    await asked.allows(ORDERS)
    asked.approver.decision = Decision.SERVER
    customers = replace(ORDERS, name="list_customers")
    assert (
        await asked.allows(customers, customers, ORDERS, REFUND, replace(ORDERS, server="bank")) == [True] * 5
    )
    assert asked.about == ["shop:list_orders", "shop:list_customers", "shop:refund_order", "bank:list_orders"]
    assert not asked.approver.asked[2].offers_trust


async def test_a_no_stays_a_no_when_its_server_is_trusted_later() -> None:
    asked = Asked(Decision.NO)
    await asked.allows(ORDERS)
    asked.session.emit(TrustChanged("shop", trusted=True))
    assert await asked.allows(ORDERS) == [False]
    assert asked.approver.asked[1].why == "you were asked about it before"


async def test_trust_does_not_cover_a_tool_that_was_asked_about_and_changed_since() -> None:
    asked = Asked(Decision.ONCE)
    await asked.allows(ORDERS)
    asked.session.emit(TrustChanged("shop", trusted=True))
    await asked.allows(ORDERS, replace(ORDERS, description="Lists and forgets."))
    assert [request.why for request in asked.approver.asked[1:]] == [
        "its definition changed since you were asked"
    ]


async def test_a_trusted_server_that_claims_anew_that_a_tool_only_reads_is_asked_about() -> None:
    asked = Asked(Decision.NO, "shop")
    asked.listed(replace(ORDERS, annotations=Annotations()))
    assert await asked.allows(ORDERS) == [False]
    [request] = asked.approver.asked
    assert (request.why, request.offers_trust) == ("its server now says it is read-only", False)


async def test_a_trusted_server_is_asked_about_where_the_tool_contradicts_it() -> None:
    asked = Asked(Decision.NO, "shop")
    assert await asked.allows(replace(REFUND, annotations=READS)) == [False]
    [request] = asked.approver.asked
    assert request.why == "its server says it is read-only, but its name says “refund”"
    assert not request.offers_trust


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
    asked = Asked(Decision.NO, "shop")
    tame = replace(REFUND, annotations=READS)
    assert await asked.allows(REFUND, tame, tame) == [False, False, False]
    assert len(asked.about) == 3


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


claims = st.builds(Annotations, *[st.sampled_from([None, True, False])] * 4)
listings = st.builds(
    Tool,
    st.just("shop"),
    st.sampled_from(["list_orders", "refund_order"]),
    st.sampled_from(["", "Lists."]),
    annotations=claims,
)
answers = st.sampled_from([Decision.NO, Decision.ONCE, Decision.SESSION])


@given(st.lists(st.tuples(listings, answers), max_size=8), st.booleans())
async def test_no_claims_of_an_untrusted_server_make_a_call_run_without_a_yes_to_it_as_it_is(
    steps: list[tuple[Tool, Decision]], was_trusted: bool
) -> None:
    asked = Asked(Decision.NO, *["shop"] * was_trusted)
    asked.session.emit(TrustChanged("shop", trusted=False))
    approved: list[Tool] = []
    for tool, answer in steps:
        asked.approver.decision = answer
        before = len(asked.about)
        [runs] = await asked.allows(tool)
        was_asked = len(asked.about) > before
        assert was_asked is (tool not in approved)
        assert runs is (not was_asked or answer is not Decision.NO)
        if was_asked and answer is Decision.SESSION:
            approved.append(tool)
