"""An audit as text, as Markdown and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from inspector.app.draw.line import shown_path
from inspector.cli.catalog import say_budget
from inspector.cli.cost.report import UNITS, cost_table, session_json, terms_text
from inspector.cli.table import say, say_table
from inspector.core.number import count, money, percent, tokens
from inspector.core.report import Report, Section, Table, markdown
from inspector.measure.audit.audit import NOTHING, Change, Key, Tokens, server_table
from inspector.measure.audit.result import Audit, Basis, ConfigurationAudit, ServerAudit, ToolAudit
from inspector.session.verdict import PricedSession
from inspector.tokens.cost import Delivery
from inspector.tokens.plan import Assumptions
from widgets import visible

_SUM_HEADERS = (
    "configuration",
    "servers",
    "tools",
    "tokens",
    "first call",
    "static",
    "discovery",
    "saved",
)
_SUM_NUMBERS = frozenset(range(1, 8))
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*[]<>#"})


def say_audit(audit: Audit) -> None:
    """Print each configuration's servers, both ways to bind and suggestions; then the basis of the counts."""
    for one in audit.configurations:
        _say_configuration(one, audit.basis)
    if len(audit.configurations) > 1:
        say("All configurations")
        say_table(_SUM_HEADERS, _sums(audit), right=_SUM_NUMBERS)
        say()
    if audit.first_call is not None:
        say("What the first model call costs with the configuration's settings")
        say_budget(audit.first_call)
        say()
    for problem in audit.problems:
        say(f"not audited: {problem.title}: {problem.error}")
        if problem.hint:
            say(f"  try: {problem.hint}")
    if audit.empty:
        say(f"no servers in: {', '.join(map(shown_path, audit.empty))}")
    for line in basis_lines(audit.basis):
        say(line)


def _say_configuration(one: ConfigurationAudit, basis: Basis) -> None:
    say(f"{one.title}   {shown_path(one.source)}")
    servers = server_table(one)
    say_table(servers.headers, servers.rows, right=servers.right)
    for line in _first_call(one, basis):
        say(line)
    if one.session is not None:
        if one.verdict is not None:
            say(one.verdict.text)
        say()
        say(_session_line(one.session))
        headers, rows = cost_table(one.session, _compared(one.session))
        say_table(headers, rows, right=frozenset(range(1, len(headers))))
    for number, suggestion in enumerate(one.suggestions, start=1):
        say(f"{number}. {suggestion.text}")
    for hint in dict.fromkeys(
        server.reading.hint for server in one.servers if not server.reading.is_measured
    ):
        if hint:
            say(f"try: {hint}")
    say()


def audit_markdown(audit: Audit) -> str:
    """The audit as Markdown."""
    sums = Table("", _SUM_HEADERS, _rows(_sums(audit)), _SUM_NUMBERS)
    notes = [
        *(f"Not audited: {problem.error} {problem.hint}" for problem in audit.problems),
        *(f"No servers: {path}" for path in audit.empty),
        *basis_lines(audit.basis),
    ]
    overview = Section("sums", "All configurations", "", "", (sums,))
    each = tuple(_section(one, audit.basis) for one in audit.configurations)
    sections = each if len(each) == 1 else (overview, *each)
    return markdown(Report("What MCP clients' tools cost", tuple(map(_inline, notes)), sections))


def _section(one: ConfigurationAudit, basis: Basis) -> Section:
    servers = server_table(one)
    tables = [replace(servers, rows=_rows(servers.rows))]
    if one.session is not None:
        headers, rows = cost_table(one.session, _compared(one.session))
        judged = [] if one.verdict is None else [one.verdict.text]
        notes = tuple(map(_inline, (*judged, *_first_call(one, basis), *UNITS)))
        title_ = _session_line(one.session)
        numbers = frozenset(range(1, len(headers)))
        tables.append(Table(title_, headers, _rows(rows), numbers, notes))
    if one.suggestions:
        advice = [(suggestion.text, f"{suggestion.tokens:,}") for suggestion in one.suggestions]
        tables.append(Table("", ("suggestion", "tokens"), _rows(advice), frozenset({1})))
    name = _inline(f"{one.title}: {shown_path(one.source)}")
    return Section(name, name, "", "", tuple(tables))


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


def _compared(session: PricedSession) -> tuple[Delivery, ...]:
    """Static binding, and the delivery that stands for discovery."""
    return Delivery.STATIC, session.discovery


def _sums(audit: Audit) -> list[tuple[str, ...]]:
    return [
        (
            f"{one.title}  {shown_path(one.source)}",
            f"{len(one.measured)}/{len(one.servers)}",
            f"{len(one.tools):,}",
            f"{one.tokens:,}",
            f"{one.discovery:,}",
            *_prices(one.session),
        )
        if one.measured
        else (
            f"{one.title}  {shown_path(one.source)}",
            f"0/{len(one.servers)}",
            *[NOTHING] * 6,
        )
        for one in audit.configurations
    ]


def _prices(session: PricedSession | None) -> tuple[str, str, str]:
    """What a session costs with every tool bound and with discovery, and what that saves."""
    if session is None:
        return NOTHING, NOTHING, NOTHING
    costs = [session.of(delivery).cached for delivery in _compared(session)]
    static, discovery = (
        tokens(round(cost.billed)) if cost.dollars is None else money(cost.dollars) for cost in costs
    )
    return static, discovery, NOTHING if session.saved is None else percent(session.saved)


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
    yield _assumptions_line(basis.assumed)
    yield _price_line(basis)


def _assumptions_line(assumed: Assumptions) -> str:
    return f"Assumed: {count(assumed.calls, 'model call')}, {assumed.text}; options change these."


def _price_line(basis: Basis) -> str:
    prices = basis.prices
    if prices is None:
        return "No price is known. Choose a model with --model or --set budget.priced_as=MODEL."
    source = ", ".join(part for part in (prices.source, prices.date) if part)
    return f"US dollars at {prices.model} prices ({source}); prompt cache: {terms_text(basis.terms)}."


def _rows(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_inline, row)) for row in rows)


def _inline(text: str) -> str:
    """Any text on one line, escaped for Markdown."""
    return visible(" ".join(text.split()), newlines=False).translate(_MARKDOWN)


VERSION = 2
"""The format's version: it increases when a key changes its meaning or is removed."""
_READ = frozenset({1, 2})


def audit_json(audit: Audit, moved: Sequence[Change] | None, limit: float) -> dict[str, Any]:
    """The whole audit; `growth` is present only if there is a baseline."""
    first = audit.first_call
    whole = {
        "version": VERSION,
        **asdict(audit.basis),
        "configurations": [_configuration(one) for one in audit.configurations],
        "problems": [asdict(problem) for problem in audit.problems],
        "empty": list(audit.empty),
        "first_call": None
        if first is None
        else {**asdict(first), "saved": first.saved, "saved_fraction": first.saved_fraction},
    }
    return whole if moved is None else {**whole, "growth": [_change(change, limit) for change in moved]}


def stored_totals(value: object) -> tuple[dict[Key, Tokens], str]:
    """The tokens and the tokenizer of a parsed `audit_json`. Raises ValueError for anything else."""
    if not isinstance(value, dict) or value.get("version") not in _READ:
        raise ValueError(f"expected audit version {VERSION}")
    try:
        tokenizer = str(value["tokenizer"]["name"])
        return {_key(one): dict(map(_tokens, one["servers"])) for one in value["configurations"]}, tokenizer
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"unexpected format: {error}") from error


def _key(one: dict[str, Any]) -> Key:
    return str(one["client"]), str(one["scope"]), str(one["source"])


def _tokens(server: dict[str, Any]) -> tuple[str, int | None]:
    tokens = server["tokens"]
    if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0):
        raise ValueError(f"{tokens!r} is not a token count")
    return str(server["name"]), tokens


def _configuration(one: ConfigurationAudit) -> dict[str, Any]:
    return {
        "client": one.client,
        "scope": one.scope,
        "source": one.source,
        "tools": len(one.tools),
        "tokens": one.tokens,
        "estimate": one.estimate,
        "estimate_error": one.error,
        "window_share": one.share,
        "discovery_tokens": one.discovery,
        "saved": one.saved,
        "saved_fraction": one.saved_fraction,
        "session": None if one.session is None else session_json(one.session, requests=False),
        "servers": [_server(server) for server in one.servers],
        "suggestions": [asdict(suggestion) for suggestion in one.suggestions],
    }


def _server(server: ServerAudit) -> dict[str, Any]:
    reading = server.reading
    measured = reading.is_measured
    return {
        "name": server.name,
        "measured": measured,
        "snapshot_at": reading.at,
        "reason": reading.reason,
        "hint": reading.hint,
        "tools": len(server.tools) if measured else None,
        "left_out": reading.left_out,
        "tokens": server.tokens if measured else None,
        "estimate": server.estimate if measured else None,
        "estimate_error": server.error if measured else None,
        "window_share": server.share if measured else None,
        "definitions": [_tool(tool) for tool in server.tools],
    }


def _tool(tool: ToolAudit) -> dict[str, Any]:
    cost = tool.cost
    return {
        "id": tool.id,
        **asdict(cost),
        "tokens": cost.tokens,
        "estimate": cost.estimate,
        "error": cost.error,
    }


def _change(change: Change, limit: float) -> dict[str, Any]:
    client, scope, source = change.key
    return {
        "client": client,
        "scope": scope,
        "source": source,
        "before": change.before,
        "after": change.after,
        "increase": change.increase if change.is_compared and change.before else None,
        "exceeds": change.exceeds(limit),
        "servers": [
            {"name": name, "before": before, "after": after} for name, before, after in change.servers
        ],
        "skipped": list(change.skipped),
    }
