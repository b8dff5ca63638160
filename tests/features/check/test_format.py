"""A check's report as SARIF, as JUnit and as annotations: what is in it, its limits, and hostile texts."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from inspector.features.check.checking import CheckedServer, CheckReport, Disabled
from inspector.features.check.finding import Finding, Place, Rule, Severity, Stage
from inspector.features.check.format import EXPECTATION, FAILED, github, junit, sarif
from inspector.search.answer.expectation import Expectation, ExpectationResult
from tests.support.hostile import by_hostile_kind
from widgets import visible

WORDS = Rule("no-when", "No word on when to use it", Severity.WARNING, Stage.CHOSEN, "Say when to use it.")
NAMED = Rule(
    "same-name", "Two servers have a tool of the same name", Severity.NOTE, Stage.TRUST, "Rename one."
)
HOLDS = ExpectationResult(Expectation("read a note", frozenset({"shop:read"})), "shop:read", 1)
BROKEN = ExpectationResult(
    Expectation("show bill 77", frozenset({"shop:pay"})), "shop:pay", 3, problem="shop:pay has rank 3"
)


def _report(place: Place | None = None) -> CheckReport:
    return CheckReport(
        (CheckedServer("shop", 2, 90), CheckedServer("bank", failure="it ended", hint="Start it by hand.")),
        (HOLDS, BROKEN),
        (Finding(WORDS, "shop", "pay", "It does not say when.", "Pays.", place=place),),
        disabled=(Disabled("same-name", "we prefix names", 1),),
        suppressed=(Finding(NAMED, "shop", "pay", "1 other server has it."),),
        places={"shop:pay": place} if place else {},
    )


def _many(number: int, rule: Rule = WORDS) -> CheckReport:
    findings = tuple(Finding(rule, "shop", f"t{one}", "It does not say when.") for one in range(number))
    return replace(_report(), findings=findings)


def _run(report: CheckReport) -> dict[str, Any]:
    (run,) = json.loads(sarif(report))["runs"]
    return dict(run)


def test_sarif_has_failed_servers_expectations_and_findings_with_their_rules() -> None:
    run = _run(_report())
    rules = run["tool"]["driver"]["rules"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("server-failed", "error"),
        ("expectation", "error"),
        ("no-when", "warning"),
        ("same-name", "note"),
    ]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [one["id"] for one in rules]
    assert rules[2]["help"] == {"text": "Say when to use it."}
    assert run["results"][1]["message"]["text"] == "shop:pay has rank 3\nshow bill 77 -> shop:pay"


def test_a_rule_that_is_turned_off_is_suppressed_with_its_reason() -> None:
    last = _run(_report())["results"][-1]
    assert last["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "we prefix names"}
    ]
    assert not [one for one in _run(_report())["results"][:-1] if "suppressions" in one]


def test_a_place_is_told_from_the_folder_of_the_check_and_else_the_tool_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.py").symlink_to(tmp_path / "a b.py")
    location = _run(_report(Place(Path("link.py"), 7, 5)))["results"][2]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "a%20b.py"}
    assert location["physicalLocation"]["region"]["startLine"] == 7
    assert location["logicalLocations"] == [{"fullyQualifiedName": "shop:pay", "kind": "function"}]
    assert "physicalLocation" not in _run(_report())["results"][2]["locations"][0]
    outside = _run(_report(Place(tmp_path.parent / "x.py", 1)))["results"][2]["locations"][0]
    assert outside["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")


def test_a_fingerprint_stays_when_lines_and_numbers_move_and_differs_otherwise() -> None:
    def prints(report: CheckReport) -> list[str]:
        return [one["partialFingerprints"]["primaryLocationLineHash"] for one in _run(report)["results"]]

    moved = _report(Place(Path("x.py"), 9))
    other = replace(moved, expectations=(replace(BROKEN, problem="shop:pay has rank 4"),))
    assert prints(_report()) == prints(moved) == prints(other)
    twice = replace(_report(), findings=_report().findings * 2)
    assert len(set(prints(twice))) == len(prints(twice))


def test_texts_and_tags_keep_to_the_limits_of_github() -> None:
    long = replace(_report(), findings=(Finding(WORDS, "shop", "x" * 5_000, "y" * 5_000, "z" * 5_000),))
    run = _run(long)
    assert max(len(one["message"]["text"]) for one in run["results"]) == 1_024
    for rule in (EXPECTATION, FAILED):
        assert max(map(len, (rule.title, rule.help))) <= 1_024
    assert all(len(one["properties"]["tags"]) == 1 for one in run["tool"]["driver"]["rules"])


def test_junit_has_a_case_for_each_server_expectation_and_finding() -> None:
    suites = {one.get("name"): one for one in ElementTree.fromstring(junit(_report()))}
    counts = {
        name: [one.get(key) for key in ("tests", "failures", "errors", "skipped")]
        for name, one in suites.items()
    }
    assert counts == {
        "servers": ["2", "0", "1", "0"],
        "expectations": ["2", "1", "0", "0"],
        "findings": ["2", "0", "0", "1"],
    }
    failure = suites["expectations"].findall("testcase")[1].find("failure")
    assert failure is not None
    assert failure.get("message") == "shop:pay has rank 3"


@pytest.mark.parametrize(("fail_on", "failures"), [(Severity.ERROR, 1), (Severity.WARNING, 2), (None, 0)])
def test_in_junit_findings_fail_from_the_severity_that_fails_the_check(
    fail_on: Severity | None, failures: int
) -> None:
    assert junit(_report(), fail_on).count("<failure") == failures
    assert "It does not say when." in junit(_report(), fail_on)


def test_annotations_are_commands_with_file_and_line_the_worst_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = github(_report(Place(tmp_path / "a,b.py", 7, 5))).splitlines()
    assert [line.split()[0] for line in lines] == ["::error", "::error", "::warning"]
    assert lines[2] == (
        "::warning file=a%2Cb.py,line=7,col=5,title=No word on when to use it (no-when)"
        "::shop:pay: It does not say when.%0APays."
    )


def test_annotations_that_github_would_not_show_are_counted() -> None:
    lines = github(_many(14)).splitlines()
    assert len([line for line in lines if line.startswith("::warning ")]) == 10
    assert lines[-1] == "4 warnings more; GitHub shows 10 of each level."
    assert "more" not in github(_many(10))


_COMMAND = re.compile(r"::(error|warning|notice) [a-z]+=[^:,\r\n]*(,[a-z]+=[^:,\r\n]*)*::[^\r\n]*")


@by_hostile_kind
def test_hostile_texts_break_no_format(text: str) -> None:
    text = f"{text}]]>\n::error::x\r::set-output name=x::%0A<a>&\ud800\x00,{text}"
    query = Expectation(text, frozenset({text}))
    report = CheckReport(
        (CheckedServer(text, failure=text, hint=text),),
        (ExpectationResult(query, text, problem=text),),
        (Finding(WORDS, text, text, text, text, client=text, place=Place(Path("a\n::b,\udcff"), 1)),),
        disabled=(Disabled("same-name", text, 1),),
        suppressed=(Finding(NAMED, text, text, text),),
    )
    run = _run(report)
    assert len(run["results"]) == 4
    sarif(report).encode()
    assert len(ElementTree.fromstring(junit(report).encode()).findall(".//testcase")) == 4
    lines = github(report).split("\n")
    assert lines.pop() == ""
    assert len(lines) == 3
    assert all(_COMMAND.fullmatch(line) and visible(line) == line for line in lines)
