"""`toolsight audit`: what the servers of every MCP client on this machine cost. It only reads files."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

from inspector.app.draw.line import shown_path
from inspector.cli.options import COMMON, Options, as_json, require_nobody, session_command
from inspector.cli.run import Exit
from inspector.cli.table import show
from inspector.core.budget import budget_report
from inspector.core.number import count, money, percent, saving, tokens
from inspector.core.prompt_cache import Ttl
from inspector.core.report import COUNT, NOTHING, NUMBER, Column, Table, selected
from inspector.features.cost.assumption import assumed, assuming
from inspector.features.cost.audit.audit import server_table
from inspector.features.cost.audit.machine import run_audit
from inspector.features.cost.audit.result import NOT_APPROVED, Audit, Basis, ConfigurationAudit, ServerAudit
from inspector.features.cost.command import cost_table, session_json, terms_text
from inspector.session.verdict import PricedSession
from inspector.tokens.cost import Delivery

VERSION = 2
"""The format's version: it increases when a key changes its meaning or is removed."""


_PRICES = "{model input output cache_read cache_write cache_write_hour cache_minimum source date}"
_ASSUMED = (
    "calls calls_per_turn growth searches_per_call found search_tokens own_call gate_tools summary_tokens "
    "manifest_tokens meta_tokens call_tool_tokens seconds pause search_seconds output search_output seed"
)
_BASIS = (
    f"model tokenizer{{name exact}} window prices{_PRICES} assumed{{{_ASSUMED}}} "
    "terms{write read ttl_seconds minimum marked}"
)
_BUDGET = (
    "window parts{system instructions history tools meta output_reserve manifest pool searches} static_tools "
    "tokenizer{name exact} warn_at saved saved_fraction"
)
_CONFIGURATION = (
    "client scope source tokens estimate estimate_error:error window_share:share discovery_tokens:discovery "
    "saved saved_fraction suggestions{kind text tokens}"
)
_TOOL = (
    "id name:cost.name description:cost.description schema:cost.schema framing:cost.framing chars:cost.chars "
    "tokens:cost.tokens estimate:cost.estimate error:cost.error"
)
_SERVER = (
    "name measured:reading.is_measured snapshot_at:reading.at reason:reading.reason hint:reading.hint "
    f"left_out:reading.left_out definitions:tools{{{_TOOL}}}"
)
_COUNTED = "tokens estimate estimate_error:error window_share:share instruction_tokens:instructions"


def audit_json(audit: Audit) -> dict[str, Any]:
    """The whole audit."""
    return {
        "version": VERSION,
        **selected(audit.basis, _BASIS),
        "configurations": [_configuration(one) for one in audit.configurations],
        **selected(audit, f"problems{{client scope source error hint}} empty first_call{{{_BUDGET}}}"),
    }


def _configuration(one: ConfigurationAudit) -> dict[str, Any]:
    return {
        **selected(one, _CONFIGURATION),
        "tools": len(one.tools),
        "session": None if one.session is None else session_json(one.session, requests=False),
        "servers": [_server(server) for server in one.servers],
    }


def _server(server: ServerAudit) -> dict[str, Any]:
    """A server; what was not measured has no counts."""
    counted = {"tools": len(server.tools), **selected(server, _COUNTED)}
    if not server.reading.is_measured:
        counted = dict.fromkeys(counted)
    return {**selected(server, _SERVER), **counted}


@session_command(takes=COMMON)
@assuming
@as_json
def audit(assume: dict[str, Any], ttl: Ttl, chosen: Options) -> None:
    """Measure the servers of every MCP client on this machine.

    Reads the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI and
    Toolsight, or --config, and changes none of them. A server starts only with your consent, and only once
    even if several clients use it. Without consent, Toolsight measures the tools from the last connection,
    if there was one. Costs cover a whole session with its searches, as in `toolsight cost`. The exit code
    is 1 if every server failed.

    \b
    toolsight audit --config .mcp.json
    """
    require_nobody(chosen)
    terms = assumed(assume, ttl)
    found = run_audit(chosen, terms)
    show(audit_json(found), audit_report(found))
    readings = [server.reading for one in found.configurations for server in one.servers]
    if readings and not any(one.is_measured or one.reason == NOT_APPROVED for one in readings):
        sys.exit(Exit.FAILED)


def audit_report(audit: Audit) -> Iterator[str | Table]:
    """Each configuration's servers, both ways to bind and suggestions; then the basis of the counts."""
    for one in audit.configurations:
        yield from _configuration_report(one, audit.basis)
    if len(audit.configurations) > 1:
        yield "All configurations"
        yield Table.of(_SUMS, audit.configurations)
        yield ""
    if audit.first_call is not None:
        yield "What the first model call costs with the configuration's settings"
        yield from budget_report(audit.first_call)
        yield ""
    for problem in audit.problems:
        yield f"not audited: {problem.title}: {problem.error}"
        if problem.hint:
            yield f"  try: {problem.hint}"
    if audit.empty:
        yield f"no servers in: {', '.join(map(shown_path, audit.empty))}"
    yield from basis_lines(audit.basis)


def _configuration_report(one: ConfigurationAudit, basis: Basis) -> Iterator[str | Table]:
    yield f"{one.title}   {shown_path(one.source)}"
    yield server_table(one)
    yield from _first_call(one, basis)
    if one.session is not None:
        if one.verdict is not None:
            yield one.verdict.text
        yield f"\n{_session_line(one.session)}"
        yield cost_table(one.session, _both(one.session))
    yield from (f"{number}. {suggestion.text}" for number, suggestion in enumerate(one.suggestions, start=1))
    hints = (server.reading.hint for server in one.servers if not server.reading.is_measured)
    yield from (f"try: {hint}" for hint in dict.fromkeys(hints) if hint)
    yield ""


def _first_call(one: ConfigurationAudit, basis: Basis) -> Iterator[str]:
    """What the tools take of the first model call, before anything was searched for."""
    if one.tokens:
        share = one.discovery / basis.window if basis.window > 0 else 0.0
        yield (
            f"first model call: {one.tokens:,} tokens with every tool bound ({percent(one.share, 1)} of the "
            f"window), {one.discovery:,} with every tool deferred ({percent(share, 1)})"
        )


def _session_line(session: PricedSession) -> str:
    searches = count(session.plan.searches, "search", "searches")
    return f"{session.plan.basis}, with {searches} under discovery"


def _both(session: PricedSession) -> tuple[Delivery, ...]:
    """Static binding, and the delivery that stands for discovery."""
    return Delivery.STATIC, session.discovery


def _measured(value: Callable[[ConfigurationAudit], Any]) -> Callable[[ConfigurationAudit], Any]:
    """The value of a configuration of which a server was measured."""
    return lambda one: value(one) if one.measured else None


_SUMS = (
    Column("configuration", lambda one: f"{one.title}  {shown_path(one.source)}"),
    Column("servers", lambda one: f"{len(one.measured)}/{len(one.servers)}", NUMBER),
    Column("tools", _measured(lambda one: len(one.tools)), COUNT),
    Column("tokens", _measured(lambda one: one.tokens), COUNT),
    Column("first call", _measured(lambda one: one.discovery), COUNT),
    Column("static", _measured(lambda one: _prices(one.session)[0]), NUMBER),
    Column("discovery", _measured(lambda one: _prices(one.session)[1]), NUMBER),
    Column("against static", _measured(lambda one: _prices(one.session)[2]), NUMBER),
)


def _prices(session: PricedSession | None) -> tuple[str, str, str]:
    """What a session costs with every tool bound and with discovery, and how they compare."""
    if session is None:
        return NOTHING, NOTHING, NOTHING
    costs = [session.of(delivery).cached for delivery in _both(session)]
    static, discovery = (
        tokens(round(cost.billed)) if cost.dollars is None else money(cost.dollars) for cost in costs
    )
    return static, discovery, NOTHING if session.saved is None else saving(session.saved)


def basis_lines(basis: Basis) -> Iterator[str]:
    """The tokenizer, the window and the prices that the counts are based on."""
    yield (
        f"Tokens counted with {basis.tokenizer.label}, compact JSON; window {tokens(basis.window)} "
        f"({basis.model}). chars/4 is a rule of thumb, shown with its error."
    )
    yield (
        "On the first call, every tool is deferred. Searches add tokens, so costs cover a whole session with "
        "its searches. `toolsight cost` shows every loading strategy and assumption."
    )
    assumed = basis.assumed
    yield f"Assumed: {count(assumed.calls, 'model call')}, {assumed.text}; --assume changes these."
    yield _price_line(basis)


def _price_line(basis: Basis) -> str:
    prices = basis.prices
    if prices is None:
        return "No price is known. Choose a model with --model or --set budget.priced_as=MODEL."
    source = ", ".join(part for part in (prices.source, prices.date) if part)
    return f"US dollars at {prices.model} prices ({source}); prompt cache: {terms_text(basis.terms)}."
