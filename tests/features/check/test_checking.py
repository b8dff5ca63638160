"""A check of a session: servers, expectations, findings by severity, a budget, drift, what fails it."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.error import ConnectTimeout, ModelError
from inspector.core.tool import Tool
from inspector.features.check import lock
from inspector.features.check.checking import (
    OVER_BUDGET,
    RULES,
    CheckedServer,
    CheckReport,
    Demands,
    by_severity,
    check,
    snapshot_of,
    with_proposals,
)
from inspector.features.check.finding import Finding, Severity
from inspector.features.check.lock import Snapshot
from inspector.search.answer.expectation import Expectation, ExpectationResult, parse
from tests.support.fakes import ToldModel, says
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import configured, connected, shop_and_weather

FAILS = MemoryServer(fault=ConnectTimeout("it did not answer", hint="Start it by hand."))


NO_DEMANDS = Demands()


async def checked(demands: Demands = NO_DEMANDS, *, failing: bool = False) -> CheckReport:
    servers = {**shop_and_weather(), **({"crm": FAILS} if failing else {})}
    async with connected(servers=servers, values={"discovery.ranker": "bm25"}) as rig:
        return check(rig.bench, demands)


def expecting(*texts: str, **more: object) -> Demands:
    return Demands(tuple(map(parse, texts)), **more)  # type: ignore[arg-type]


def rules(report: CheckReport) -> set[str]:
    return {one.rule.name for one in report.findings}


RECEIPTS = ("show me the receipt for May", "find the receipt that Ann sent", "print a receipt")


def missing(tool: str) -> Demands:
    return expecting(*(f"{request} -> {tool}" for request in RECEIPTS))


async def test_what_a_model_writes_is_tried_too_and_a_model_that_fails_is_told() -> None:
    sentence = "Use it to give back the money for a receipt."
    async with connected() as rig:
        report = check(rig.bench, missing("refund_order"))
        written = await with_proposals(rig.bench, report, ToldModel(says(sentence)))
        assert sentence in [one.sentence for one in written.proposals]
        with pytest.raises(ModelError):
            await with_proposals(rig.bench, report, ToldModel(ModelError("no answer")))


async def test_more_tokens_than_the_budget_are_an_error_that_names_each_server() -> None:
    taken = (await checked()).tokens
    assert OVER_BUDGET.name not in rules(await checked(Demands(budget=taken)))
    report = await checked(Demands(budget=taken - 1))
    [finding] = [one for one in report.findings if one.rule is OVER_BUDGET]
    assert "1 more than the budget" in finding.message
    assert all(server.name in finding.proof for server in report.servers)
    assert not report.passes(Severity.ERROR)


async def test_a_rule_that_is_turned_off_is_counted_with_its_reason_and_fails_nothing() -> None:
    off = {OVER_BUDGET.name: "we raise it in May", "no-description": "none lacks one"}
    report = await checked(Demands(budget=1, disabled=off))
    assert OVER_BUDGET.name not in rules(report)
    assert [(one.rule, one.reason, one.findings) for one in report.disabled] == [
        (OVER_BUDGET.name, "we raise it in May", 1),
        ("no-description", "none lacks one", 0),
    ]
    assert [one.rule for one in report.suppressed] == [OVER_BUDGET]
    assert report.passes(Severity.ERROR)


async def test_what_changed_since_the_snapshot_is_found_except_on_a_server_that_fails() -> None:
    async with connected(servers=shop_and_weather()) as rig:
        same = check(rig.bench, Demands(snapshot=snapshot_of(rig.bench)))
        known = [tool for tool in rig.bench.catalog.tools if tool.name != "get_forecast"]
    assert not {one.rule for one in same.findings} & set(lock.RULES)
    before = Snapshot.of([*known, Tool("crm", "list", "Lists leads.")], {})
    report = await checked(Demands(snapshot=before), failing=True)
    drift = [one.subject for one in report.findings if one.rule in lock.RULES]
    assert drift == ["weather:get_forecast"]


async def test_a_finding_has_the_place_of_its_tool_in_the_servers_file(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text('@tool\ndef list_orders():\n    """List orders."""\n', encoding="utf-8")
    spec = replace(configured(["shop"]).servers[0], command="python", args=("shop.py",), cwd=str(tmp_path))
    configuration = replace(configured(["shop"]), servers=(spec,))
    servers = {"shop": MemoryServer([Tool("shop", "list_orders", "List orders.")])}
    async with connected(servers=servers, configuration=configuration) as rig:
        report = check(rig.bench, NO_DEMANDS)
    places = {one.tool: one.place for one in report.findings if one.tool}
    assert (place := places["list_orders"]) is not None
    assert (place.path.name, place.line) == ("shop.py", 3)


FINDINGS = st.builds(
    Finding,
    st.sampled_from(RULES),
    st.just("shop"),
    st.text("ab", max_size=1),
    st.just("A fact."),
)


@given(st.lists(FINDINGS, max_size=8), st.booleans())
def test_a_check_fails_for_what_is_severe_enough_and_more_severity_fails_no_less(
    findings: list[Finding], holds: bool
) -> None:
    one = ExpectationResult(Expectation("a", frozenset({"shop:a"})), problem="" if holds else "no result")
    report = CheckReport((CheckedServer("shop"),), (one,), by_severity(findings))
    assert sorted(map(repr, report.findings)) == sorted(map(repr, findings))
    order = [one.rule.severity for one in report.findings]
    assert order == sorted(order, key=list(Severity).index)
    felt = {one.rule.severity for one in findings}
    assert report.passes(None)
    assert report.passes(Severity.ERROR) is (holds and Severity.ERROR not in felt)
    assert report.passes(Severity.WARNING) is (holds and felt <= {Severity.NOTE})


def test_every_rule_has_a_name_of_its_own_and_says_what_to_do() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.help.endswith(".") and not rule.title.endswith(".") for rule in RULES)
