"""What a person reads and can do where only a server's claim says that a tool reads."""

import pytest

from inspector.app.dialogs.approver import question_body
from inspector.config.consent import ServerConsent, consent_question
from inspector.core.ports import ApprovalRequest, Decision
from inspector.core.tool import Annotations, Tool
from inspector.loop.approval import CLAIMED
from inspector.mcp.question import approval_question
from tests.support.app import app_rig, seen, until
from tests.support.fakes import calls, says
from tests.support.hostile import with_hostile_text
from tests.support.tools_page import tools_page
from tests.widgets.hostile import dangerous
from widgets import Confirm

EVALUATE = calls(("calc__evaluate", {"expression": "1"}))


async def test_what_only_a_claim_says_reads_waits_for_a_deliberate_yes() -> None:
    async with app_rig(EVALUATE, says("1"), EVALUATE, says("1")) as (pilot, rig):
        rig.bench.trust("calc", trusted=False)
        turn = pilot.app.run_worker(rig.bench.chat("What is 1?"))
        await until(pilot, lambda: "Only its server says it is read-only" in seen(pilot))
        assert rig.received == 0
        await pilot.press("left", "left", "left", "enter")
        await turn.wait()
        await rig.bench.chat("And 1?")
        assert [event.decision for event in rig.events("approval")] == [Decision.SERVER]
        assert rig.received == 2


@pytest.mark.parametrize("offers", [True, False])
def test_trust_is_an_answer_only_where_nothing_but_a_claim_speaks_for_the_call(offers: bool) -> None:
    request = ApprovalRequest(Tool("shop", "refund_order"), {}, CLAIMED, offers_trust=offers)
    question = approval_question(request)
    assert (Decision.SERVER in [option.value for option in question.options]) is offers
    assert ("trust its claims" in str(question_body(question))) is offers
    assert question.refusal == Decision.NO


async def test_t_trusts_a_server_after_a_deliberate_yes_and_no_longer_at_once() -> None:
    async with tools_page("weather") as (pilot, rig):
        await until(pilot, lambda: "trusted: tools it marks as read-only" in seen(pilot))
        await pilot.press("T")
        await until(pilot, lambda: "not trusted: you are asked" in seen(pilot))
        assert "weather" not in rig.bench.state.trusted_servers
        await pilot.press("T")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, Confirm))
        assert "weather" not in rig.bench.state.trusted_servers
        await pilot.press("T")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await pilot.press("left", "enter")
        await until(pilot, lambda: "weather" in rig.bench.state.trusted_servers)
        assert [(event.server, event.trusted) for event in rig.events("trust")] == [
            ("weather", False),
            ("weather", True),
        ]


def test_the_consent_says_which_servers_the_file_trusts() -> None:
    trusted, other = ServerConsent("a", ("x",), trusted=True), ServerConsent("b", ("x",))
    told = "tools it marks as read-only run without asking"
    assert told in str(question_body(consent_question("f", (trusted,))))
    assert told not in str(question_body(consent_question("f", (other,))))


@with_hostile_text
def test_the_name_of_a_server_does_no_harm(text: str) -> None:
    tool = Tool(text, "get", annotations=Annotations(read_only=True))
    shown = str(question_body(approval_question(ApprovalRequest(tool, {}, CLAIMED, offers_trust=True))))
    assert not [letter for letter in dangerous(shown) if letter != "\n"]
