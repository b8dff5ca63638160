"""What an audit found, said once for the page, the terminal and programs."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import to_builtins

from inspector.app.draw.line import shown_path
from inspector.core.number import count, percent, signed_percent, tokens
from inspector.core.report import COUNT, NOTHING, NUMBER, SAVING, Column, Table
from inspector.features.cost.audit.result import Audit, Basis, ConfigurationAudit, ServerAudit, ToolAudit
from inspector.features.cost.facts import cost_table, session_json, terms_text
from inspector.session.verdict import PricedSession
from inspector.tokens.cost import Delivery

_HEADERS = ("server", "tools", "tokens", "chars/4", "error", "window", "")
_NUMBERS = frozenset({1, 2, 3, 4, 5})


def server_table(one: ConfigurationAudit) -> Table:
    """The servers, each with its tokens or why it was not measured; and all of them together."""
    rows = [_server(server) for server in one.servers]
    if len(one.servers) > 1:
        known = len(one.measured)
        told = "" if known == len(one.servers) else f"{known} of {count(len(one.servers), 'server')} measured"
        whole = _counts(len(one.tools), one.tokens, one.estimate, one.error, one.share)
        rows.append(("together", *(whole if known else [NOTHING] * 5), told))
    return Table("", _HEADERS, tuple(rows), _NUMBERS)


def note(server: ServerAudit) -> str:
    """Why a server was not measured, or its snapshot's date, its instructions and the tools left out."""
    reading = server.reading
    if not reading.is_measured:
        return f"not measured: {reading.reason}"
    parts = [f"{count(server.instructions, 'token')} of instructions"] if server.instructions else []
    parts += [f"{reading.left_out} more left out by the client"] if reading.left_out else []
    if reading.at is not None:
        parts.insert(0, f"snapshot of {datetime.fromtimestamp(reading.at, UTC):%Y-%m-%d}")
    return ", ".join(parts)


def _server(server: ServerAudit) -> tuple[str, ...]:
    if not server.reading.is_measured:
        return (server.name, *[NOTHING] * 5, note(server))
    whole = _counts(len(server.tools), server.tokens, server.estimate, server.error, server.share)
    return (server.name, *whole, note(server))


def _counts(tools: int, counted: int, estimate: int, error: float, share: float) -> tuple[str, ...]:
    return (f"{tools:,}", f"{counted:,}", f"{estimate:,}", signed_percent(error), percent(share, 1))


VERSION = 3
"""The format's version: it increases when a key changes its meaning or is removed."""


def audit_json(audit: Audit) -> dict[str, Any]:
    """The whole audit."""
    return {
        "version": VERSION,
        **to_builtins(audit.basis),
        "configurations": [_configuration_json(one) for one in audit.configurations],
        "problems": [to_builtins(one) for one in audit.problems],
        "empty": audit.empty,
    }


def _configuration_json(one: ConfigurationAudit) -> dict[str, Any]:
    return {
        "client": one.client,
        "scope": one.scope,
        "source": one.source,
        "tokens": one.tokens,
        "estimate": one.estimate,
        "estimate_error": one.error,
        "window_share": one.share,
        "discovery_tokens": one.discovery,
        "saved": one.saved,
        "saved_fraction": one.saved_fraction,
        "suggestions": [to_builtins(each) for each in one.suggestions],
        "tools": len(one.tools),
        "session": None if one.session is None else session_json(one.session, requests=False),
        "servers": [_server_json(server) for server in one.servers],
    }


def _server_json(server: ServerAudit) -> dict[str, Any]:
    """A server; what was not measured has no counts."""
    reading = server.reading
    counted = {
        "tools": len(server.tools),
        "tokens": server.tokens,
        "estimate": server.estimate,
        "estimate_error": server.error,
        "window_share": server.share,
        "instruction_tokens": server.instructions,
    }
    return {
        "name": server.name,
        "measured": reading.is_measured,
        "snapshot_at": reading.at,
        "reason": reading.reason,
        "hint": reading.hint,
        "left_out": reading.left_out,
        "definitions": [_tool_json(tool) for tool in server.tools],
        **(counted if reading.is_measured else dict.fromkeys(counted)),
    }


def _tool_json(tool: ToolAudit) -> dict[str, Any]:
    cost = tool.cost
    counted = {"tokens": cost.tokens, "estimate": cost.estimate, "error": cost.error}
    return {"id": tool.id, **to_builtins(cost), **counted}


def audit_report(audit: Audit) -> Iterator[str | Table]:
    """Each configuration's servers, both ways to bind and suggestions; then the basis of the counts."""
    for one in audit.configurations:
        yield from _configuration_report(one, audit.basis)
    if len(audit.configurations) > 1:
        yield "All configurations"
        yield Table.of(_SUMS, audit.configurations)
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
        yield cost_table(one.session, (Delivery.STATIC, one.session.discovery))
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


def _measured(value: Callable[[ConfigurationAudit], Any]) -> Callable[[ConfigurationAudit], Any]:
    """The value of a configuration of which a server was measured."""
    return lambda one: value(one) if one.measured else None


def measured(one: ConfigurationAudit) -> str:
    """How many of a configuration's servers were measured."""
    return f"{len(one.measured)} of {len(one.servers)}"


_SUMS = (
    Column("configuration", lambda one: f"{one.title}  {shown_path(one.source)}"),
    Column("measured", measured, NUMBER),
    Column("tools", _measured(lambda one: len(one.tools)), COUNT),
    Column("all bound", _measured(lambda one: one.tokens), COUNT),
    Column("first call", _measured(lambda one: one.discovery), COUNT),
    Column("session against static", lambda one: one.session and one.session.saved, SAVING),
)


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
