"""An audit as text and as Markdown."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from inspector.cli.catalog.inspect import say_budget
from inspector.cli.render import say, say_table
from inspector.domain.number import count, money, percent, signed_percent, tokens
from inspector.domain.price import Prices
from inspector.domain.report import Report, Section, Table, markdown
from inspector.engine.tokens.audit.result import TURNS, Audit, Basis, Bill, ConfigurationAudit, ServerAudit
from widgets import visible

NOTHING = "–"
_SERVER_HEADERS = ("server", "tools", "tokens", "chars/4", "error", "window", "")
_WAY_HEADERS = ("each turn", "tool tokens", "window", f"for {TURNS:,} turns", "with prompt cache")
_SUM_HEADERS = (
    "configuration",
    "servers",
    "tools",
    "tokens",
    "with discovery",
    "saved",
    f"for {TURNS:,} turns",
)
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
        say_table(_SUM_HEADERS, _sums(audit), right=frozenset({1, 2, 3, 4, 5, 6}))
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
    if one.tokens:
        say()
        say_table(_WAY_HEADERS, _ways(one, basis), right=frozenset({1, 2, 3, 4}))
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
    sums = Table("", _SUM_HEADERS, _rows(_sums(audit)), frozenset({1, 2, 3, 4, 5, 6}))
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
    if one.tokens:
        tables.append(Table("", _WAY_HEADERS, _rows(_ways(one, basis)), frozenset({1, 2, 3, 4})))
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


def _ways(one: ConfigurationAudit, basis: Basis) -> list[tuple[str, ...]]:
    share = one.discovery / basis.window if basis.window > 0 else 0.0
    saved = f"{one.saved:,} ({percent(one.saved_fraction)})"
    less = [("saved", saved, percent(one.share - share, 1), *_difference(one))]
    return [
        ("every tool bound", f"{one.tokens:,}", percent(one.share, 1), *_money(one.bill)),
        (
            "search_tools and manifest",
            f"{one.discovery:,}",
            percent(share, 1),
            *_money(one.discovery_bill),
        ),
        *less,
    ]


def _money(bill: Bill | None) -> tuple[str, str]:
    if bill is None:
        return NOTHING, NOTHING
    return money(bill.uncached), NOTHING if bill.cached is None else money(bill.cached)


def _difference(one: ConfigurationAudit) -> tuple[str, str]:
    static, discovery = one.bill, one.discovery_bill
    if static is None or discovery is None:
        return NOTHING, NOTHING
    cached = None
    if static.cached is not None and discovery.cached is not None:
        cached = static.cached - discovery.cached
    return _money(Bill(static.uncached - discovery.uncached, cached))


def _sums(audit: Audit) -> list[tuple[str, ...]]:
    return [
        (
            f"{title(one.client, one.scope)}  {shown_path(one.source)}",
            f"{len(one.measured)}/{len(one.servers)}",
            f"{len(one.tools):,}",
            f"{one.tokens:,}",
            f"{one.discovery:,}",
            percent(one.saved_fraction),
            _money(one.bill)[0],
        )
        if one.measured
        else (
            f"{title(one.client, one.scope)}  {shown_path(one.source)}",
            f"0/{len(one.servers)}",
            *[NOTHING] * 5,
        )
        for one in audit.configurations
    ]


def basis_lines(basis: Basis) -> Iterator[str]:
    """The tokenizer, the window and the prices that the counts are based on."""
    yield (
        f"Tokens by {basis.tokenizer.label}, compact JSON, against a window of {tokens(basis.window)} "
        f"({basis.model}). chars/4 is a rule of thumb, shown with its error. A turn is a model call."
    )
    yield "Discovery is the first call with every tool deferred; each search adds to it."
    yield _price_line(basis.prices)


def _price_line(prices: Prices | None) -> str:
    if prices is None:
        return "No price is known: name a model with --model or --set budget.priced_as=MODEL."
    cache = "" if prices.cache_read is not None else "; it has no price for a prompt cache"
    source = ", ".join(part for part in (prices.source, prices.date) if part)
    return (
        f"US dollars of input at the prices of {prices.model} ({source}){cache}. "
        "Cached: written once, then read in every turn."
    )


def _rows(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_inline, row)) for row in rows)


def _inline(text: str) -> str:
    """Any text on one line, escaped for Markdown."""
    return visible(" ".join(text.split()), newlines=False).translate(_MARKDOWN)
