"""`toolsight check`: expectations and findings about definitions, for people and for CI."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli.client_option import as_clients
from inspector.cli.composition import chosen_model
from inspector.cli.launch import run_headless
from inspector.cli.options import COMMON, DEMO_MODEL, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import is_json, say, say_json, say_raw, say_report
from inspector.clients.client import Client, all_clients, find_client
from inspector.core.number import count, money, percent, tokens
from inspector.core.ports import ChatModel
from inspector.core.report import NAME, NOTHING, NUMBER, TWO, Column, Table, selected
from inspector.core.server import STDERR_LINES
from inspector.features.check.check_file import find_check
from inspector.features.check.checking import (
    RULES,
    CheckReport,
    Demands,
    check as check_session,
    snapshot_of,
    with_proposals,
)
from inspector.features.check.expectation import parse, read_expectations
from inspector.features.check.finding import Effect, Finding, Proposal, Severity
from inspector.features.check.format import github, junit, sarif
from inspector.features.check.lock import Snapshot
from inspector.features.check.proposal import is_first
from inspector.session.workbench import Workbench

if TYPE_CHECKING:
    from inspector.features.check.model_proof import Share

_EFFECT = "effects{ranker client ranks confidence tokens losers{tool_id query}}"
_PROOF = (
    "proof{model planned tokens dollars priced_as:prices.model chosen{mean low high} "
    "runs{text:expectation.text chosen problem checked searches input_tokens output_tokens error} "
    "requests{text:expectation.text chosen{times of interval} called{times of interval} errors told}}"
)
_REPORT = (
    "servers{name tools tokens failure hint stderr lost} tokens tokenizer budget ranker note "
    "expectations{text:expectation.text query:expectation.query tools:expectation.tools "
    "within:expectation.within least:expectation.confidence tool rank confidence first holds problem} "
    "findings{rule:rule.name title:rule.title severity:rule.severity stage:rule.stage server tool message "
    f"proof client place{{path line column}} {_EFFECT}}} "
    f"proposals{{tool_id sentence description {_EFFECT}}} disabled{{rule reason findings}} {_PROOF}"
)
_EFFECTS_SHOWN = 3
# Of more expectations only those that do not hold.
_EXPECTATIONS_SHOWN = 20
_EXPECTATIONS = (
    Column("", lambda one: "ok" if one.holds else "no", NAME),
    Column("expectation", "expectation.text"),
    Column("rank", "rank", NUMBER),
    Column("confidence", "confidence", TWO),
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
    Column("chosen", lambda one: _share(one.chosen), NAME),
    Column("called right", lambda one: _share(one.called), NAME),
    Column("errors", kind=NUMBER),
    Column("what went wrong", "told"),
)

_FORMATS: dict[str, Callable[[CheckReport, Severity | None], str]] = {
    "sarif": lambda report, _: sarif(report),
    "junit": junit,
    "github": lambda report, _: github(report),
}


@session_command(takes=COMMON)
@click.option(
    "--expect",
    "expected",
    multiple=True,
    metavar="'REQUEST -> TOOL'",
    help="The request has to find this tool first: `TOOL@5`: among five, `TOOL>=0.6`: with this confidence. "
    "May be repeated.",
)
@click.option(
    "--requests", type=click.Path(path_type=Path), help="A file of labelled requests that have to hold too."
)
@as_clients
@click.option("--budget", type=click.IntRange(min=1), help="The most tokens that all definitions may take.")
@click.option(
    "--snapshot",
    type=click.Path(path_type=Path),
    help="Tell what changed since this file was written: tools.lock.json.",
)
@click.option("--update", is_flag=True, help="Write the snapshot, which accepts what is there now.")
@click.option(
    "--runs",
    type=click.IntRange(min=0),
    default=0,
    help="Let the model of --model choose a tool for each expectation so many times. Nothing is called.",
)
@click.option("--no-model", is_flag=True, help="Rank by words alone, which is fast.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    help="The findings that fail the check, besides expectations. Default: error.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "junit", "github"]),
    default="text",
    show_default=True,
    help="Output for people or for programs: SARIF 2.1.0, JUnit XML, annotations of GitHub Actions.",
)
@click.option("--all", "in_full", is_flag=True, help="Show findings without effect and all expectations.")
@as_json
def check(
    expected: tuple[str, ...],
    requests: Path | None,
    clients: tuple[Client, ...],
    budget: int | None,
    snapshot: Path | None,
    fail_on: str | None,
    form: str,
    runs: int,
    *,
    update: bool,
    no_model: bool,
    in_full: bool,
    chosen: Options,
) -> None:
    """Check that requests find tools and clients get them.

    The exit code is 3 if an expectation does not hold or a finding is as severe as --fail-on, and 1 if a
    server failed, or a tool or a page of its list could not be read. The model of --model writes sentences
    for tools that are missed, too.

    \b
    toolsight check server.py --expect "show bill 77 -> get_invoice"
    """
    own, folder = find_check(Path.cwd(), [rule.name for rule in RULES])
    path = snapshot or (folder / own.snapshot if own.snapshot else None)
    if update and path is None:
        raise click.UsageError("--update needs --snapshot FILE, or a snapshot in the check's configuration.")
    files = [*([requests] if requests else []), *(folder / name for name in own.requests)]
    demands = Demands(
        (*map(parse, (*own.expect, *expected)), *(one for file in files for one in read_expectations(file))),
        clients or tuple(map(find_client, own.client)) or all_clients(),
        budget or own.budget or 0,
        Snapshot.read(path) if path and not update else None,
        own.disable,
    )
    found: list[CheckReport] = []

    async def work(bench: Workbench) -> None:
        report = check_session(bench, demands)
        if update and path:
            _write_snapshot(bench, path, report)
        found.append(report)
        await _ask(bench, chosen, runs, found)

    fails = fail_on or own.fail_on or "error"
    least = None if fails == "never" else Severity(fails)
    try:
        run_headless(chosen, work, listing=no_model, tell_problems=False)
    except KeyboardInterrupt as error:
        raise click.Abort from error
    finally:
        # Where a model fails or is stopped, what was found until then stays.
        if found:
            _print(found[-1], "json" if is_json() else form, least, in_full=in_full)
    report = found[-1]
    if code := Exit.FAILED if not report.is_whole else Exit.DONE if report.passes(least) else Exit.GATE:
        sys.exit(code)


def _write_snapshot(bench: Workbench, path: Path, report: CheckReport) -> None:
    """Accept what is there now, if that is all there is."""
    if report.is_whole:
        snapshot_of(bench).write(path)
    else:
        say(f"{path} was not written, because tools are missing.", err=True)


async def _ask(bench: Workbench, given: Options, runs: int, found: list[CheckReport]) -> None:
    """Add the report with sentences for what is missed, then with what a model does with each request."""
    writer = None if given.model == DEMO_MODEL else chosen_model(given.model, given)
    found.append(await with_proposals(bench, found[-1], writer))
    if runs and not found[-1].failed:
        await _prove(bench, chosen_model(given.model, given), runs, found)


async def _prove(bench: Workbench, model: ChatModel, times: int, found: list[CheckReport]) -> None:
    """Add to the report what the model does, also if this is stopped."""
    from inspector.features.check.model_proof import ModelProof, Run, prove

    report, runs, prices = found[-1], list[Run](), bench.accounting.prices(model.name)
    wanted = [one.expectation for one in report.expectations]
    try:
        async for run in prove(bench, model, wanted, times):
            runs.append(run)
    finally:
        proof = ModelProof(model.label, tuple(runs), times * len(wanted), prices)
        found[-1] = replace(report, proof=proof)


def _print(report: CheckReport, form: str, fail_on: Severity | None, *, in_full: bool) -> None:
    """Print the report in the form that was asked for."""
    if form == "json":
        say_json(selected(report, _REPORT))
    elif form in _FORMATS:
        say_raw(_FORMATS[form](report, fail_on))
        for line in (*filter(None, [report.note]), *_lost(report)):
            say(line, err=True)
    else:
        say_report(_text(report, in_full=in_full))


def _text(report: CheckReport, *, in_full: bool) -> Iterator[str | Table]:
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
    for rule, findings in groupby(shown, key=lambda one: one.rule):
        yield f"\n{rule.severity}: {rule.title} ({rule.name}; {rule.stage})"
        for one in findings:
            yield from _finding(one)
        yield f"  {rule.help}"
    if report.disabled:
        yield ""
    for off in report.disabled:
        yield f"turned off: {off.rule}, {count(off.findings, 'finding')}: {off.reason}"
    for server in report.failed:
        yield f"\n{server.name} failed, so its tools were not checked. {server.hint}".rstrip()
        yield from (f"  | {line}" for line in server.stderr.splitlines()[-STDERR_LINES:])
    yield from _lost(report)
    yield f"\n{_summary(report, len(shown))}"


def _lost(report: CheckReport) -> Iterator[str]:
    """What could not be read of the lists of servers, and so was not checked."""
    return (f"{server.name} lost {line}" for server in report.servers for line in server.lost)


def _proposals(proposals: Sequence[Proposal]) -> Iterator[str]:
    if proposals:
        yield "\nSentences for descriptions, with which no other tool loses a request:"
    for one in proposals:
        (effect,) = one.effects
        where = ", first" if is_first(one) else ""
        yield f"  {one.tool_id} ({effect.tokens:+,} tokens{where}): {one.sentence}"
        yield from _effect(effect)


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
    if (chosen := proof.chosen) is not None:
        between = f"[{percent(chosen.low)}, {percent(chosen.high)}]"
        yield f"It chooses right in {percent(chosen.mean)} {between} of the runs that it answers."


def _share(share: "Share") -> str:
    """How often, with the interval."""
    low, high = share.interval
    return f"{share.times} of {share.of} [{percent(low)}, {percent(high)}]" if share.of else NOTHING


def _finding(one: Finding) -> Iterator[str]:
    client = f" [{one.client}]" if one.client else ""
    yield f"  {one.subject}{client}: {one.message}"
    yield from (f"    {line}" for line in one.proof.splitlines())
    for effect in one.effects:
        yield from _effect(effect)


def _effect(effect: Effect) -> Iterator[str]:
    """What would change, request by request, as far as anything does."""
    by = f"{effect.ranker} as {effect.client}" if effect.client else effect.ranker
    changed = [(query, ranks) for query, ranks in effect.ranks.items() if ranks[0] != ranks[1]]
    for query, (before, after) in changed[:_EFFECTS_SHOWN]:
        yield f"    “{query}”: rank {before or 'none'} -> {after or 'none'} ({by})"
    if len(changed) > _EFFECTS_SHOWN:
        yield f"    and {count(len(changed) - _EFFECTS_SHOWN, 'more request')}"
    yield from (f"    {one.tool_id} would fall for “{one.query}”" for one in effect.losers)


def _summary(report: CheckReport, shown: int) -> str:
    holding = len(report.expectations) - len(report.broken)
    hold = f"{holding} of {count(len(report.expectations), 'expectation')} held"
    parts = [hold] if report.expectations else []
    parts += [count(shown, "finding")]
    if more := len(report.findings) - shown:
        parts.append(f"{more} more without effect: --all")
    if off := sum(one.findings for one in report.disabled):
        parts.append(f"{off} of rules that are turned off")
    return "; ".join(parts)
