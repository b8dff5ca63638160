"""A check's report for CI: SARIF 2.1.0, JUnit XML, and annotations of GitHub.

Texts of servers are made visible first, so none can break a format or pass for a command. The limits are
GitHub's, as its documentation on SARIF support and workflow commands states them (read 2026-11-26).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import inspector
from inspector.core.number import count
from inspector.core.redaction import clean
from inspector.features.check.checking import CheckReport
from inspector.features.check.finding import Finding, Place, Rule, Severity, Stage, rules
from inspector.search.answer.expectation import ExpectationResult
from widgets import visible

EXPECTATION, FAILED = rules(
    Stage.FOUND,
    """
    expectation | error | An expectation does not hold
      A search does not find the tool that this request is for. Say in its description when to use it.
    server-failed | error | A server failed
      Its tools were not checked. Start it by hand to see why it fails.
    """,
)

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_RESULTS = 5_000
"""GitHub includes no more results of a run; from 25,000 on it refuses the file."""
_LONGEST_TEXT = 1_024
_MOST_ANNOTATIONS = 10
"""GitHub shows so many annotations of each level of one step."""


def problems(report: CheckReport) -> tuple[Finding, ...]:
    """All that a check found as findings, the worst first: failed servers, expectations, and what is felt."""
    failed = [Finding(FAILED, one.name, "", one.failure, one.stderr or one.hint) for one in report.failed]
    return (*failed, *_broken(report), *(one for one in report.findings if one.is_felt))


def _broken(report: CheckReport) -> Iterator[Finding]:
    for one in report.broken:
        tool_id = one.tool or min(one.expectation.tools, default="")
        server, _, tool = tool_id.partition(":")
        place = report.places.get(tool_id)
        yield Finding(EXPECTATION, server, tool, _advised(report, one), one.expectation.text, place=place)


def _advised(report: CheckReport, one: ExpectationResult) -> str:
    """Why an expectation does not hold, with the sentence that brings its tool furthest."""
    sentences = [each.sentence for each in report.proposals if each.tool_id == one.tool]
    return f"{one.problem}. Add to its description: “{sentences[-1]}”" if sentences else one.problem


def _shown(text: str, limit: int = _LONGEST_TEXT) -> str:
    """A text without secrets, with its hidden characters as codes, and no longer than the limit."""
    shown = visible(clean(text), limit=limit)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _said(one: Finding) -> str:
    """What a finding says, with its client and its proof."""
    of = "" if one.message.startswith(one.subject) else f"{one.subject}: "
    client = f" [{one.client}]" if one.client else ""
    return _shown("\n".join(filter(None, (f"{of}{one.message}{client}", one.proof))))


def _file(place: Place) -> str:
    """A file as a program in CI finds it: from the folder that it runs in, its links resolved."""
    path = place.path.resolve()
    here = Path.cwd().resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


# SARIF 2.1.0 (OASIS, 2020)


def sarif(report: CheckReport) -> str:
    """The report as a SARIF log with one run; of more results than GitHub takes, the worst."""
    found = problems(report)
    reasons = {one.rule: one.reason for one in report.disabled}
    results = [*((one, "") for one in found), *((one, reasons[one.rule.name]) for one in report.suppressed)]
    known = list(dict.fromkeys(one.rule for one, _ in results))
    driver = {"name": "Toolsight", "version": inspector.__version__, "rules": list(map(_rule, known))}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(results[:_MOST_RESULTS], known)),
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.help},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": str(rule.severity)},
        "properties": {"tags": [str(rule.stage)]},
    }


def _results(found: Sequence[tuple[Finding, str]], known: Sequence[Rule]) -> Iterator[dict[str, Any]]:
    positions = {rule: position for position, rule in enumerate(known)}
    seen = Counter[str]()
    for one, reason in found:
        print_ = _fingerprint(one)
        seen[print_] += 1
        result = {
            "ruleId": one.rule.name,
            "ruleIndex": positions[one.rule],
            "level": str(one.rule.severity),
            "message": {"text": _said(one)},
            "locations": [_location(one)],
            "partialFingerprints": {"primaryLocationLineHash": f"{print_}:{seen[print_]}"},
        }
        if reason:
            suppression = {"kind": "external", "status": "accepted", "justification": _shown(reason)}
            result["suppressions"] = [suppression]
        yield result


def _fingerprint(one: Finding) -> str:
    """What makes a finding the same in another run: not its line, nor the numbers that it tells."""
    what = one.proof if one.rule is EXPECTATION else ""
    key = "\0".join((one.rule.name, one.subject, one.client, what))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _location(one: Finding) -> dict[str, Any]:
    logical = {"fullyQualifiedName": _shown(one.subject), "kind": "function" if one.tool else "module"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if (place := one.place) is not None:
        uri = quote(_file(place).encode("utf-8", "surrogateescape"))
        start, end = {"startLine": place.line, "startColumn": place.column}, {"endLine": place.line}
        location["physicalLocation"] = {
            "artifactLocation": {"uri": f"file://{uri}" if uri.startswith("/") else uri},
            "region": {**start, **end, "endColumn": place.column + 1},
        }
    return location


# JUnit XML, as Jenkins and others read it

_Case = tuple[str, str, str, str, str]
"""A suite, a case, what it tells (failure, error, skipped, system-out or nothing), in short and in full."""


def junit(report: CheckReport, fail_on: Severity | None = Severity.ERROR) -> str:
    """The report as test cases: one for each server, expectation and finding.

    Findings fail that are as severe as `fail_on`; None: only failed servers are told as errors.
    """
    root = Element("testsuites", name="toolsight check")
    for name, group in groupby(_cases(report, fail_on), key=lambda case: case[0]):
        cases = list(group)
        kinds = Counter(case[2] for case in cases)
        suite = SubElement(root, "testsuite", name=name, tests=str(len(cases)))
        for key, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(key, str(kinds[kind]))
        for _, case_name, kind, brief, full in cases:
            case = SubElement(suite, "testcase", classname=f"toolsight.{name}", name=_line(case_name))
            if kind:
                said = {} if kind == "system-out" else {"message": _line(brief)}
                SubElement(case, kind, said).text = _shown(full)
    indent(root, " ")
    return tostring(root, encoding="unicode") + "\n"


def _cases(report: CheckReport, fail_on: Severity | None) -> Iterator[_Case]:
    for server in report.servers:
        yield (
            "servers",
            server.name,
            "error" * bool(server.failure),
            server.failure,
            server.stderr or server.hint,
        )
    missed = "failure" if fail_on else "system-out"
    for one in report.expectations:
        yield (
            "expectations",
            one.expectation.text,
            missed * bool(one.problem),
            one.problem,
            _advised(report, one),
        )
    for found in report.findings:
        fails = fail_on is not None and found.rule.severity.is_at_least(fail_on)
        where = f"\n{_file(found.place)}:{found.place.line}" if found.place else ""
        brief, full = f"{found.rule.severity}: {found.message}", _said(found) + where
        yield "findings", _named(found), "failure" if fails else "system-out", brief, full
    reasons = {one.rule: one.reason for one in report.disabled}
    for found in report.suppressed:
        yield "findings", _named(found), "skipped", reasons[found.rule.name], _said(found)


def _named(found: Finding) -> str:
    return f"{found.rule.name}: {found.subject}"


def _line(text: str) -> str:
    """A text on one line."""
    return _shown(text).replace("\n", " ")


# Annotations of GitHub: workflow commands on standard output


def github(report: CheckReport) -> str:
    """The report as annotations, the worst first; those that GitHub would not show are counted."""
    told = Counter[Severity]()
    lines: list[str] = []
    for one in problems(report):
        severity, place = one.rule.severity, one.place
        told[severity] += 1
        if told[severity] <= _MOST_ANNOTATIONS:
            at = {"file": _file(place), "line": str(place.line), "col": str(place.column)} if place else {}
            properties = {**at, "title": f"{one.rule.title} ({one.rule.name})"}.items()
            named = ",".join(f"{key}={_escaped(value, in_property=True)}" for key, value in properties)
            command = "notice" if severity is Severity.NOTE else str(severity)
            lines.append(f"::{command} {named}::{_escaped(_said(one))}")
    left = ((severity, number - _MOST_ANNOTATIONS) for severity, number in told.items())
    if more := [count(number, severity) for severity, number in left if number > 0]:
        lines.append(f"{' and '.join(more)} more; GitHub shows {_MOST_ANNOTATIONS} of each level.")
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str, *, in_property: bool = False) -> str:
    """A text within a workflow command, as the runner reads it back."""
    codes = {"%": "%25", "\r": "%0D", "\n": "%0A", **({":": "%3A", ",": "%2C"} if in_property else {})}
    return "".join(codes.get(one, one) for one in _shown(text))
