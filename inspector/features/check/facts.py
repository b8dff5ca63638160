"""What a check found, said once: for the terminal, for programs, and the lines that the page draws too."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from inspector.core.number import Share, count, money, tokens
from inspector.core.report import NAME, NOTHING, NUMBER, Column, Table
from inspector.core.server import STDERR_LINES
from inspector.features.check.checking import CheckReport
from inspector.features.check.finding import Effect, Finding, Proposal
from inspector.features.check.proposal import is_first
from inspector.features.check.schema_repair import SchemaRepair, repair_lines
from inspector.search.answer.expectation import ExpectationResult

if TYPE_CHECKING:
    from inspector.features.check.model_proof import ModelProof

RISES, FALLS, LOSES = "▲", "▼", "✕"
"""What a line of an effect begins with: a rank that rises, one that falls, a tool that loses a request."""
MOST_REQUESTS = 8
# Of each effect the terminal shows fewer: there may be hundreds.
_REQUESTS_SHOWN, _REPAIR_SHOWN = 3, 50
# Of more expectations only those that do not hold.
_EXPECTATIONS_SHOWN = 20
_EXPECTATIONS = (
    Column("", lambda one: "ok" if one.holds else "no", NAME),
    Column("expectation", "expectation.text"),
    Column("rank", "rank", NUMBER),
    Column("what happened", lambda one: one.problem.removeprefix(f"{one.tool} ") or "as expected"),
)
_SERVERS = (
    Column("server", "name", NAME),
    Column("tools", kind=NUMBER),
    Column("tokens", kind=NUMBER),
    Column("", lambda one: f"failed: {one.failure}" if one.failure else ""),
)

_PROVED = (
    Column("request", "expectation.text"),
    Column("chosen", lambda one: NOTHING if one.chosen is None else one.chosen.text, NAME),
    Column("called right", lambda one: NOTHING if one.called is None else one.called.text, NAME),
    Column("errors", kind=NUMBER),
    Column("what went wrong", "told"),
)


def report_json(report: CheckReport) -> dict[str, Any]:
    """Everything that a check found."""
    return {
        "servers": [to_builtins(one, enc_hook=str) for one in report.servers],
        "tokens": report.tokens,
        "tokenizer": report.tokenizer,
        "budget": report.budget,
        "ranker": report.ranker,
        "note": report.note,
        "expectations": [_expectation_json(one) for one in report.expectations],
        "findings": [finding_json(one) for one in report.findings],
        "proposals": [to_builtins(one, enc_hook=str) for one in report.proposals],
        "repairs": [to_builtins(one, enc_hook=str) for one in report.repairs.values()],
        "disabled": [to_builtins(one, enc_hook=str) for one in report.disabled],
        "proof": None if report.proof is None else _proof_json(report.proof),
    }


def _expectation_json(one: ExpectationResult) -> dict[str, Any]:
    wanted = one.expectation
    asked = {
        "query": wanted.query,
        "tools": wanted.tools,
        "within": wanted.within,
        "least": wanted.confidence,
    }
    return {"text": wanted.text, **asked, **_without("expectation", one), "holds": one.holds}


def _without(key: str, one: Any) -> dict[str, Any]:
    """What a Struct has besides one of its fields."""
    return {name: value for name, value in to_builtins(one, enc_hook=str).items() if name != key}


def finding_json(one: Finding) -> dict[str, Any]:
    """One finding, with its rule."""
    rule = one.rule
    named = {"rule": rule.name, "title": rule.title, "severity": rule.severity, "stage": rule.stage}
    return {**named, **_without("rule", one)}


def _proof_json(proof: "ModelProof") -> dict[str, Any]:
    """What a model did, run by run and request by request."""
    return {
        "model": proof.model,
        "planned": proof.planned,
        "tokens": proof.tokens,
        "dollars": proof.dollars,
        "priced_as": None if proof.prices is None else proof.prices.model,
        "runs": [{"text": run.expectation.text, **_without("expectation", run)} for run in proof.runs],
        "requests": [
            {
                "text": one.expectation.text,
                "chosen": _share_json(one.chosen),
                "called": _share_json(one.called),
                "errors": one.errors,
                "told": one.told,
            }
            for one in proof.requests
        ],
    }


def _share_json(share: Share | None) -> dict[str, Any] | None:
    return (
        None
        if share is None
        else {"times": share.count, "of": share.total, "interval": (share.low, share.high)}
    )


def report_blocks(report: CheckReport, *, in_full: bool) -> Iterator[str | Table]:
    """What was found, the findings by rule; `in_full` with mere notes."""
    yield Table.of(_SERVERS, report.servers)
    budget = f" of {report.budget:,}" if report.budget else ""
    yield f"{count(report.tokens, 'token')}{budget}, counted with {report.tokenizer}"
    is_short = in_full or len(report.expectations) <= _EXPECTATIONS_SHOWN
    if told := report.expectations if is_short else report.broken:
        yield ""
        yield Table.of(_EXPECTATIONS, told)
    if report.note:
        yield report.note
    yield from _proposals(report.proposals)
    yield from _proof(report)
    shown = [one for one in report.findings if in_full or one.is_felt]
    repairs = dict(report.repairs)
    for rule, findings in groupby(shown, key=lambda one: one.rule):
        yield f"\n{rule.severity}: {rule.title} ({rule.name}; {rule.stage})"
        for one in findings:
            yield from _finding(one)
            yield from (f"    {line}" for line in _repairs(one, repairs, in_full=in_full))
        yield f"  {rule.help}"
    if report.disabled:
        yield ""
    for off in report.disabled:
        yield f"turned off: {off.rule}, {count(off.findings, 'finding')}: {off.reason}"
    for server in report.failed:
        yield f"\n{server.name} failed, so its tools were not checked. {server.hint}".rstrip()
        yield from (f"  | {line}" for line in server.stderr.splitlines()[-STDERR_LINES:])
    yield f"\n{_summary(report, len(shown))}"


def _repairs(one: Finding, left: dict[str, SchemaRepair], *, in_full: bool) -> Iterator[str]:
    """The repairs of the tools that a finding is about, which are told once; in short, the first."""
    ids = [f"{one.server}:{name}" for name in one.tools] or [one.subject]
    made = [made for id_ in ids if (made := left.pop(id_, None)) is not None]
    for each in made if in_full else made[:1]:
        yield f"repair of {each.tool_id}:"
        yield from repair_lines(each, _REPAIR_SHOWN if in_full else _REQUESTS_SHOWN)
    if len(made) > 1 and not in_full:
        yield f"and {count(len(made) - 1, 'more repair')}: --all"


def _proposals(proposals: Sequence[Proposal]) -> Iterator[str]:
    if proposals:
        yield "\nSentences for descriptions, with which no other tool loses a request:"
    for one in proposals:
        yield f"  {one.tool_id}{', first' if is_first(one) else ''}: {one.sentence}"
        yield from (f"    {line}" for line in effect_lines(one.effect, _REQUESTS_SHOWN))


def _proof(report: CheckReport) -> Iterator[str | Table]:
    """What a model did with the requests, if one was asked."""
    if (proof := report.proof) is None:
        return
    yield ""
    yield Table.of(_PROVED, proof.requests)
    taken, made = proof.tokens
    cost, prices = proof.dollars, proof.prices
    paid = f"{money(cost)} as {prices.model}" if prices is not None and cost is not None else "price unknown"
    of = f" of {proof.planned:,}" if len(proof.runs) < proof.planned else ""
    yield f"{proof.model}: {len(proof.runs):,}{of} runs, {tokens(taken)} + {tokens(made)} tokens, {paid}"


def _finding(one: Finding) -> Iterator[str]:
    client = f" [{one.client}]" if one.client else ""
    yield f"  {one.subject}{client}: {one.message}"
    yield from (f"    {line}" for line in one.proof.splitlines())


def effect_lines(effect: Effect, most: int = MOST_REQUESTS) -> Iterator[str]:
    """What a sentence changes for one ranker: ranks request by request, tokens, and who loses a request."""
    moved = [(query, *ranks) for query, ranks in effect.ranks.items() if ranks[0] != ranks[1]]
    share = f"{len(moved):,} of {count(len(effect.ranks), 'request')}"
    cost = f"   {effect.tokens:+,} tokens" if effect.tokens else ""
    yield f"{effect.ranker}   rank changes in {share}{cost}"
    for query, old, new in moved[:most]:
        rises = new is not None and (old is None or new < old)
        yield f"  {RISES if rises else FALLS} {old or NOTHING:>4} → {new or NOTHING:<4}“{query}”"
    if len(moved) > most:
        yield f"    and {len(moved) - most:,} more"
    yield from (f"  {LOSES} {one.tool_id} loses “{one.query}”" for one in effect.losers[:most])


def _summary(report: CheckReport, shown: int) -> str:
    holding = len(report.expectations) - len(report.broken)
    hold = f"{holding} of {count(len(report.expectations), 'expectation')} held"
    parts = [hold] if report.expectations else []
    parts += [count(shown, "finding")]
    if more := len(report.findings) - shown:
        parts.append(f"{count(more, 'note')}: --all")
    if off := sum(one.findings for one in report.disabled):
        parts.append(f"{off} of rules that are turned off")
    return "; ".join(parts)
