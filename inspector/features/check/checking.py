"""Checks a session's catalog: what is expected, what is found about its definitions, what it costs."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.access.reach import EvalCase
from inspector.cli.composition import lent
from inspector.clients.client import Client
from inspector.config.program import source_files
from inspector.core.number import count
from inspector.core.ports import ChatModel
from inspector.core.server import ServerPhase, ServerSpec, skipped_lines
from inspector.core.tool import Catalog
from inspector.features.check import definition_rule, lock, trust_rule
from inspector.features.check.definition_rule import definition_findings
from inspector.features.check.finding import Finding, Place, Proposal, Rule, Severity, Stage, folded
from inspector.features.check.lock import Snapshot
from inspector.features.check.proposal import ProposalTrial
from inspector.features.check.schema_repair import SchemaRepair, repairs_of
from inspector.features.check.source_text import place_of_tool
from inspector.features.check.trust_rule import trust_findings
from inspector.search.answer.expectation import (
    Expectation,
    ExpectationResult,
    as_case,
    missed,
    resolved,
    results,
)
from inspector.session.client_view import instructions_of, listed_in
from inspector.session.view import SessionView
from inspector.store.saved_call import SavedCall

if TYPE_CHECKING:
    from inspector.features.check.model_proof import ModelProof

OVER_BUDGET = Rule(
    "over-budget",
    "Definitions take more tokens than the budget",
    Severity.ERROR,
    Stage.COST,
    "A client without a search sends every definition with each request. Shorten the longest ones, or raise "
    "the budget.",
)
NOISE = Rule(
    "stdout-noise",
    "The server prints to stdout what is no message",
    Severity.WARNING,
    Stage.FOUND,
    "Stdout is for protocol messages alone, and some clients drop the connection. Print to stderr instead.",
)
SKILL_GONE = Rule(
    "skill-gone",
    "Clients leave out a skill",
    Severity.WARNING,
    Stage.FOUND,
    "Their models never learn of it, and most clients do not say so. Correct the line.",
)
SKILL_TWICE = Rule(
    "skill-twice",
    "Skills share a name",
    Severity.NOTE,
    Stage.FOUND,
    "Which of them is shown differs from client to client. Keep one, or rename the others.",
)
RULES = (
    *(*definition_rule.RULES, *trust_rule.RULES, *lock.RULES),
    *(NOISE, OVER_BUDGET, SKILL_GONE, SKILL_TWICE),
)


class CheckedServer(Struct, frozen=True):
    """A server, how many tools it has and the tokens of their definitions; `failure` is "" if it is ready.

    `stderr` is the end of what a failed server wrote there. `lost` has a line for each reason why tools, or a
    page of its list, could not be read.
    """

    name: str
    tools: int = 0
    tokens: int = 0
    failure: str = ""
    hint: str = ""
    stderr: str = ""
    lost: tuple[str, ...] = ()


class Disabled(Struct, frozen=True):
    """A rule that was turned off, why, and how many findings that left out."""

    rule: str
    reason: str
    findings: int = 0


class Demands(Struct, frozen=True):
    """What is checked. `clients` are those whose rules count, `budget` is in tokens, 0 for any number.

    `snapshot` is what was accepted before. `disabled` maps rules that are turned off to the reason.
    `saved` are calls that were kept with their results.
    """

    expectations: tuple[Expectation, ...] = ()
    clients: tuple[Client, ...] = ()
    budget: int = 0
    snapshot: Snapshot | None = None
    disabled: Mapping[str, str] = field(default_factory=dict)
    saved: Sequence[SavedCall] = ()


class CheckReport(Struct, frozen=True):
    """What a check found: the worst findings first.

    `suppressed` are those of rules that are turned off. `places` say by id where tools stand in source files.
    `repairs` are of schemas that findings are about, by id; `proposals` for tools that an expectation misses.
    `tokenizer` says how tokens were counted. `proof` is None unless a model was asked. `note` says what the
    ranker had to do without.
    """

    servers: tuple[CheckedServer, ...]
    expectations: tuple[ExpectationResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    repairs: Mapping[str, SchemaRepair] = field(default_factory=dict)
    disabled: tuple[Disabled, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    budget: int = 0
    tokenizer: str = ""
    ranker: str = ""
    note: str = ""
    proof: "ModelProof | None" = None

    @property
    def tokens(self) -> int:
        return sum(server.tokens for server in self.servers)

    @property
    def failed(self) -> tuple[CheckedServer, ...]:
        """The servers whose tools are missing."""
        return tuple(server for server in self.servers if server.failure)

    @property
    def is_whole(self) -> bool:
        """Whether every tool of every server was checked."""
        return not any(server.failure or server.lost for server in self.servers)

    @property
    def broken(self) -> tuple[ExpectationResult, ...]:
        """The expectations that do not hold."""
        return tuple(one for one in self.expectations if not one.holds)

    def passes(self, fail_on: Severity | None) -> bool:
        """Whether every expectation holds and no finding is as severe; None: whatever was found."""
        if fail_on is None:
            return True
        return not self.broken and not any(o.rule.severity.is_at_least(fail_on) for o in self.findings)


def check(session: SessionView, demands: Demands) -> CheckReport:
    """Check the session's tools.

    Raises ConfigError if an expectation names no tool, ModelError if a query cannot be embedded.
    """
    servers = tuple(_servers(session))
    is_whole = CheckReport(servers).is_whole
    retrieval = session.retrieval
    wanted = [resolved(one, session.catalog, is_whole=is_whole) for one in demands.expectations]
    tried = tuple(results(wanted, retrieval.rankers, retrieval.ranker_name, retrieval.rules))
    findings = [
        *_over_budget(servers, demands.budget),
        *_drift(session, servers, demands.snapshot),
        *findings_of(session, demands.clients, demands.saved),
    ]
    left_out = Counter(one.rule.name for one in findings)
    told_of = {*(one.first for one in findings), *(one.tool for one in tried if not one.holds)}
    places = places_of(session.configuration.servers, session.catalog, told_of)
    findings = [replace(one, place=one.place or places.get(one.first)) for one in findings]
    kept = [one for one in findings if one.rule.name not in demands.disabled]
    return CheckReport(
        servers,
        tried,
        by_severity(kept),
        repairs=repairs_of(session, kept, demands.clients, session.configuration.servers),
        disabled=tuple(Disabled(rule, reason, left_out[rule]) for rule, reason in demands.disabled.items()),
        suppressed=tuple(one for one in findings if one.rule.name in demands.disabled),
        places=places,
        budget=demands.budget,
        tokenizer=session.accounting.meter.tokenizer.label,
        ranker=retrieval.ranker_name,
        note=retrieval.ranker.rank(wanted[0].query).note if wanted else "",
    )


def snapshot_of(session: SessionView) -> Snapshot:
    """What the session's servers declare now."""
    return Snapshot.of(session.catalog.tools, instructions_of(session.state))


def _drift(
    session: SessionView, servers: Sequence[CheckedServer], before: Snapshot | None
) -> Iterator[Finding]:
    """What changed since the snapshot; nothing is said of servers that failed."""
    if before is not None:
        failed = {server.name for server in servers if server.failure}
        yield from lock.drift(before.without(failed), snapshot_of(session).without(failed))


def findings_of(
    session: SessionView, clients: Sequence[Client], saved: Sequence[SavedCall] = ()
) -> Iterator[Finding]:
    """What is found across servers, of definitions as they are, and as clients get them; quickest first."""
    yield from folded(trust_findings(session.catalog.seen, instructions_of(session.state)))
    yield from _noise(session)
    yield from _skills(session, clients)
    yield from definition_findings(listed_in(session, saved), clients)


async def with_proposals(
    session: SessionView, report: CheckReport, model: ChatModel | None = None
) -> CheckReport:
    """The report with sentences for the tools that its expectations miss. Raises ModelError.

    What a `model` writes is tried beside what is made of the requests.
    """
    retrieval, tokens = session.retrieval, session.accounting.meter.tool
    cases, found = _cases(session, [one.expectation for one in report.expectations]), list[Proposal]()
    for tool_id, queries in missed(report.expectations).items():
        trial = ProposalTrial(retrieval.rankers, retrieval.ranker_name, tool_id, queries, cases, tokens)
        found += (trial if model is None else await trial.written_by(model)).all()
    return replace(report, proposals=tuple(found))


def _cases(session: SessionView, expectations: Sequence[Expectation]) -> list[EvalCase]:
    """The session's labelled requests, and what is expected."""
    wanted = (as_case(one, number) for number, one in enumerate(expectations, 1))
    return [*session.retrieval.given(), *wanted]


def by_severity(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, the worst first, those of a rule together."""
    order, rules = list(Severity), {rule.name: place for place, rule in enumerate(RULES)}
    return tuple(
        sorted(findings, key=lambda one: (order.index(one.rule.severity), rules.get(one.rule.name, 0)))
    )


def places_of(servers: Sequence[ServerSpec], catalog: Catalog, ids: Collection[str]) -> dict[str, Place]:
    """Where the tools stand in the files that their servers are started from."""
    files = {spec.name: source_files(spec).files for spec in servers}
    tools = (tool for tool in catalog.seen if tool.id in ids)
    found = ((tool.id, place_of_tool(files.get(tool.server, ()), tool)) for tool in tools)
    return {id_: place for id_, place in found if place is not None}


def _servers(session: SessionView) -> Iterator[CheckedServer]:
    tools, tokens = Counter[str](), Counter[str]()
    for tool in session.catalog.seen:
        tools[tool.server] += 1
        tokens[tool.server] += session.accounting.meter.tool(tool)
    folders = {spec.name for spec in session.configuration.servers if spec.is_skills}
    for name, state in session.state.servers.items():
        if name in folders:
            continue
        is_failed = state.phase is ServerPhase.FAILED
        told = (state.reason or "it failed", state.hint, state.stderr_tail) if is_failed else ("", "", "")
        yield CheckedServer(name, tools[name], tokens[name], *told, tuple(skipped_lines(state.skipped)))


def _skills(session: SessionView, clients: Sequence[Client]) -> Iterator[Finding]:
    """What keeps skills out of clients, where the session has folders of them."""
    for spec in filter(lambda one: one.is_skills, session.configuration.servers):
        for path, line, message, proof in lent("skill findings")(
            Path(spec.listing), {one.name for one in clients}
        ):
            place = Place(path, max(line, 1)) if path else None
            yield Finding(SKILL_GONE if path else SKILL_TWICE, spec.name, "", message, proof, place=place)


def _noise(session: SessionView) -> Iterator[Finding]:
    """What servers print to stdout that is no message."""
    for spec in session.configuration.servers:
        log = None if spec.is_http else session.wire(spec.name)
        for flaw in log.flaws() if log else ():
            if flaw.first:
                message = f"It printed {count(flaw.count, 'line')} to stdout."
                yield Finding(NOISE, spec.name, "", message, f"first: “{flaw.first}”")


def _over_budget(servers: Sequence[CheckedServer], budget: int) -> Iterator[Finding]:
    taken = sum(server.tokens for server in servers)
    if not budget or taken <= budget:
        return
    largest = max(servers, key=lambda server: server.tokens)
    proof = ", ".join(f"{server.name} {server.tokens:,}" for server in servers)
    message = (
        f"{count(taken, 'token')} of definitions, {taken - budget:,} more than the budget of {budget:,}."
    )
    yield Finding(OVER_BUDGET, largest.name, "", message, proof)
