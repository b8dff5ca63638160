"""An audit as text and as Markdown."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from inspector.cli.catalog.inspect import say_budget
from inspector.cli.cost.report import UNITS, cost_table, terms_text
from inspector.cli.render import say, say_table
from inspector.domain.number import count, money, percent, signed_percent, tokens
from inspector.domain.report import Report, Section, Table, markdown
from inspector.engine.tokens.audit.result import Audit, Basis, ConfigurationAudit, ServerAudit
from inspector.engine.tokens.cost.delivery_cost import Delivery
from inspector.engine.tokens.cost.plan import Assumptions
from inspector.engine.tokens.cost.priced_session import PricedSession
from widgets import visible

NOTHING = "–"
_SERVER_HEADERS = ("server", "tools", "tokens", "chars/4", "error", "window", "")
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
_NUMBERS = frozenset({1, 2, 3, 4, 5})
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*[]<>#"})


def title(client: str, scope: str) -> str:
    """The client and the scope of a configuration, in words."""
    return ", ".join(part for part in (client, scope) if part)


def shown_path(source: str) -> str:
    """A path for people, with `~` for the home folder."""
    home = f"{Path.home()}{os.sep}"
    return f"~{os.sep}{source.removeprefix(home)}" if source.startswith(home) else source


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
        say(f"not audited: {title(problem.client, problem.scope)}: {problem.error}")
        if problem.hint:
            say(f"  try: {problem.hint}")
    if audit.empty:
        say(f"no servers in: {', '.join(map(shown_path, audit.empty))}")
    for line in basis_lines(audit.basis):
        say(line)


def _say_configuration(one: ConfigurationAudit, basis: Basis) -> None:
    say(f"{title(one.client, one.scope)}   {shown_path(one.source)}")
    say_table(_SERVER_HEADERS, _servers(one), right=_NUMBERS)
    for line in _first_call(one, basis):
        say(line)
    if one.session is not None:
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
    return markdown(Report("What the tools of MCP clients cost", tuple(map(_inline, notes)), sections))


def _section(one: ConfigurationAudit, basis: Basis) -> Section:
    tables = [Table("", _SERVER_HEADERS, _rows(_servers(one)), _NUMBERS)]
    if one.session is not None:
        headers, rows = cost_table(one.session, _compared(one.session))
        notes = tuple(map(_inline, (*_first_call(one, basis), *UNITS)))
        title_ = _session_line(one.session)
        numbers = frozenset(range(1, len(headers)))
        tables.append(Table(title_, headers, _rows(rows), numbers, notes))
    if one.suggestions:
        advice = [(suggestion.text, f"{suggestion.tokens:,}") for suggestion in one.suggestions]
        tables.append(Table("", ("suggestion", "tokens"), _rows(advice), frozenset({1})))
    name = _inline(f"{title(one.client, one.scope)}: {shown_path(one.source)}")
    return Section(name, name, "", "", tuple(tables))


def _servers(one: ConfigurationAudit) -> list[tuple[str, ...]]:
    rows = [_server(server) for server in one.servers]
    if len(one.servers) > 1:
        known = len(one.measured)
        note = "" if known == len(one.servers) else f"{known} of {count(len(one.servers), 'server')} measured"
        whole = _counts(len(one.tools), one.tokens, one.estimate, one.error, one.share)
        rows.append(("together", *(whole if known else [NOTHING] * 5), note))
    return rows


def _server(server: ServerAudit) -> tuple[str, ...]:
    if not server.reading.is_measured:
        return (server.name, *[NOTHING] * 5, note(server))
    whole = _counts(len(server.tools), server.tokens, server.estimate, server.error, server.share)
    return (server.name, *whole, note(server))


def _counts(tools: int, counted: int, estimate: int, error: float, share: float) -> tuple[str, ...]:
    return (f"{tools:,}", f"{counted:,}", f"{estimate:,}", signed_percent(error), percent(share, 1))


def note(server: ServerAudit) -> str:
    """Why a server was not measured, or its snapshot's date and how many tools the client leaves out."""
    reading = server.reading
    if not reading.is_measured:
        return f"not measured: {reading.reason}"
    parts = [f"{reading.left_out} more left out by the client"] if reading.left_out else []
    if reading.at is not None:
        parts.insert(0, f"snapshot of {datetime.fromtimestamp(reading.at, UTC):%Y-%m-%d}")
    return ", ".join(parts)


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
            f"{title(one.client, one.scope)}  {shown_path(one.source)}",
            f"{len(one.measured)}/{len(one.servers)}",
            f"{len(one.tools):,}",
            f"{one.tokens:,}",
            f"{one.discovery:,}",
            *_prices(one.session),
        )
        if one.measured
        else (
            f"{title(one.client, one.scope)}  {shown_path(one.source)}",
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
        f"Tokens by {basis.tokenizer.label}, compact JSON, against a window of {tokens(basis.window)} "
        f"({basis.model}). chars/4 is a rule of thumb, shown with its error."
    )
    yield (
        "The first call has every tool deferred and nothing found yet; each search adds to it, so money is "
        "that of a whole session with its searches. `toolsight cost` has every delivery and assumption."
    )
    yield _assumptions_line(basis.assumed)
    yield _price_line(basis)


def _assumptions_line(assumed: Assumptions) -> str:
    return f"Assumed: {count(assumed.calls, 'model call')}, {assumed.text}; options change it."


def _price_line(basis: Basis) -> str:
    prices = basis.prices
    if prices is None:
        return "No price is known: name a model with --model or --set budget.priced_as=MODEL."
    source = ", ".join(part for part in (prices.source, prices.date) if part)
    return f"US dollars at the prices of {prices.model} ({source}); prompt cache: {terms_text(basis.terms)}."


def _rows(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_inline, row)) for row in rows)


def _inline(text: str) -> str:
    """Any text on one line, escaped for Markdown."""
    return visible(" ".join(text.split()), newlines=False).translate(_MARKDOWN)
