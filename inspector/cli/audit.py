"""`toolsight audit`: what the servers of every MCP client on this machine cost. It only reads files."""

# Long because it is one command: its options, what it prints, and its JSON.

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from inspector.app.draw import svg
from inspector.app.draw.line import shown_path
from inspector.cli.audit_run import run_audit
from inspector.cli.catalog import say_budget
from inspector.cli.cost import UNITS, assumed, assuming, cost_table, session_json, terms_text
from inspector.cli.options import as_json, owner_options, shared
from inspector.cli.run import Exit
from inspector.cli.table import say, say_json, say_raw, say_table
from inspector.config.file import read_text
from inspector.core.error import ConfigError
from inspector.core.number import count, money, percent, signed, signed_percent, tokens
from inspector.core.redaction import write
from inspector.core.report import Report, Section, Table, markdown
from inspector.measure.audit.audit import NOTHING, Change, Key, Tokens, changes, server_table, totals
from inspector.measure.audit.result import Audit, Basis, ConfigurationAudit, ServerAudit, ToolAudit, title
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
        return {
            _stored_key(one): dict(map(_tokens, one["servers"])) for one in value["configurations"]
        }, tokenizer
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"unexpected format: {error}") from error


def _stored_key(one: dict[str, Any]) -> Key:
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


# An audit as a slide: one bar per configuration, one segment per server, and discovery beside it.

_MARGIN = 64
_TOP, _BOTTOM = 190, 600
_MOST_ROWS = 6
_WIDEST_PITCH = 118.0
_COLORS = (svg.BLUE, svg.YELLOW, "#bb9af7", "#7dcfff", "#f7768e", "#73daca", "#ff9e64", "#c0caf5")


def slide(audit: Audit) -> str:
    """The audit as SVG."""
    measured = sorted((one for one in audit.configurations if one.measured), key=lambda one: -one.tokens)
    rows = measured[:_MOST_ROWS]
    parts = [
        _text(_MARGIN, 92, "What MCP clients' tools cost", 40, weight=700),
        _text(_MARGIN, 134, _subtitle(audit, measured), 20, svg.DIM),
        *_legend(),
        *_bars(rows),
        *_advice(rows),
        *_footer(audit, len(measured) - len(rows)),
    ]
    return svg.slide(parts)


def _subtitle(audit: Audit, measured: Sequence[ConfigurationAudit]) -> str:
    if not measured:
        return "No server was measured."
    servers = sum(len(one.measured) for one in measured)
    without = sum(len(one.servers) for one in audit.configurations) - servers
    left = f", {without} not measured" if without else ""
    tools = sum(len(one.tools) for one in measured)
    what = (
        f"{count(len(measured), 'configuration')}, {count(servers, 'server')}{left}, {count(tools, 'tool')}"
    )
    return f"{what}: definition tokens per model call"


def _legend() -> Iterator[str]:
    for number in range(3):
        yield _box(_MARGIN + number * 12, 156, 10, 14, _COLORS[number])
    yield _text(_MARGIN + 44, 168, "every tool bound, by server", 15, svg.DIM)
    yield _box(_MARGIN + 290, 156, 34, 14, svg.GOOD)
    yield _text(_MARGIN + 334, 168, "every tool deferred: first call, before any search", 15, svg.DIM)


def _bars(rows: Sequence[ConfigurationAudit]) -> Iterator[str]:
    widest = max((max(one.tokens, one.discovery) for one in rows), default=0)
    room = svg.WIDTH - 2 * _MARGIN - 150
    names = dict.fromkeys(server.name for one in rows for server in one.servers if server.tokens)
    colors = {name: _COLORS[number % len(_COLORS)] for number, name in enumerate(names)}
    for number, one in enumerate(rows):
        top = _TOP + 14 + number * _pitch(rows)
        yield from _row(one, top, _pitch(rows), room / widest if widest else 0.0, colors)


def _pitch(rows: Sequence[ConfigurationAudit]) -> float:
    """Pixels from one bar to the next."""
    return min(_WIDEST_PITCH, (_BOTTOM - _TOP) / max(len(rows), 1))


def _advice(rows: Sequence[ConfigurationAudit]) -> Iterator[str]:
    """The suggestions for the largest configuration, if there is room for them."""
    top = _TOP + 14 + len(rows) * _pitch(rows) + 20
    if not rows or not rows[0].suggestions or top + 30 * (len(rows[0].suggestions) + 1) > _BOTTOM:
        return
    first = rows[0]
    yield _text(_MARGIN, top + 14, f"What to do about {first.title}", 18, weight=700)
    for number, suggestion in enumerate(first.suggestions, start=1):
        yield _text(_MARGIN, top + 14 + number * 30, f"{number}. {suggestion.text}", 16)


def _row(
    one: ConfigurationAudit, top: float, pitch: float, scale: float, colors: Mapping[str, str]
) -> Iterator[str]:
    thick, thin = pitch * 0.34, max(5.0, pitch * 0.1)
    size = min(18.0, pitch * 0.22)
    yield _text(_MARGIN, top + size * 0.8, f"{one.title}   {shown_path(one.source)}", size)
    bar = top + size * 1.25
    yield from _segments(one, bar, thick, scale, colors)
    end = _MARGIN + one.tokens * scale + 12
    yield _text(end, bar + thick * 0.5 + size * 0.4, f"{one.tokens:,}", size * 1.15, weight=700)
    below = bar + thick + 4
    yield _box(_MARGIN, below, max(2.0, one.discovery * scale), thin, svg.GOOD)
    less = f"{one.discovery:,} in the first call with discovery{_money(one)}"
    yield _text(
        _MARGIN + one.discovery * scale + 12, below + thin * 0.5 + size * 0.3, less, size * 0.82, svg.GOOD
    )


def _segments(
    one: ConfigurationAudit, top: float, thick: float, scale: float, colors: Mapping[str, str]
) -> Iterator[str]:
    start = float(_MARGIN)
    for server in (server for server in one.servers if server.tokens):
        width = server.tokens * scale
        yield _box(start, top, max(1.0, width - 1.5), thick, colors[server.name])
        size = min(15.0, thick * 0.5)
        room = (width - 16) * svg.LETTER / svg.BOLD_LETTER
        both, name = f"{server.name}  {server.tokens:,}", svg.fitted(server.name, room, size)
        label = both if svg.fitted(both, room, size) == visible(both, newlines=False) else name
        if label:
            yield _text(start + 8, top + thick * 0.5 + size * 0.36, label, size, svg.BACKGROUND, weight=600)
        start += width


def _money(one: ConfigurationAudit) -> str:
    """What a whole session costs both ways, with its searches."""
    session = one.session
    if session is None or session.saved is None:
        return ""
    costs = [session.of(delivery).cached.dollars for delivery in (Delivery.STATIC, session.discovery)]
    static, discovery = (None if dollars is None else money(dollars) for dollars in costs)
    priced = "" if static is None or discovery is None else f" {discovery} instead of {static},"
    change = f"{percent(abs(session.saved))} {'less' if session.saved >= 0 else 'more'}"
    return f"; a session, searches included, costs{priced} {change}"


def _footer(audit: Audit, hidden: int) -> Iterator[str]:
    more = [f"{hidden} smaller configurations are not shown."] if hidden > 0 else []
    for number, line in enumerate((*more, *basis_lines(audit.basis))):
        yield _text(_MARGIN, _BOTTOM + 36 + number * 20, line, 13, svg.DIM)


def _text(x: float, y: float, words: str, size: float, fill: str = svg.INK, *, weight: int = 400) -> str:
    """A text, cut at the slide's edge."""
    return svg.text(x, y, svg.fitted(words, svg.WIDTH - 40 - x, size), size, fill, weight=weight)


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return svg.box(x, y, width, height, fill, corner=3)


# Reports as text what grew since a stored audit.


def say_growth(moved: Sequence[Change], limit: float, *, err: bool) -> None:
    """Print what grew by more than the limit, by server, and what is new, gone or not comparable."""
    grown = [change for change in moved if change.exceeds(limit)]
    for change in moved:
        for line in _remarks(change):
            say(line, err=err)
    if not grown:
        say(f"No configuration grew by more than {percent(limit, 1)}.", err=err)
        return
    rows = [row for change in grown for row in _grown(change)]
    say(f"Grew by more than {percent(limit, 1)}:", err=err)
    if err:
        for row in rows:
            say("  ".join(row), err=True)
        return
    say_table(("configuration or server", "before", "now", "change"), rows, right=frozenset({1, 2, 3}))


def _remarks(change: Change) -> Iterator[str]:
    name = _key(change.key)
    if change.before is None:
        yield f"new: {name}, {count(change.after or 0, 'token')}"
    elif change.after is None:
        yield f"gone: {name}, was {count(change.before, 'token')}"
    elif not change.is_compared:
        yield f"not compared: {name} (no server was measured both times)"
    elif change.skipped:
        yield f"not compared: {', '.join(change.skipped)} in {name} (not measured both times)"


def _grown(change: Change) -> Iterator[tuple[str, str, str, str]]:
    before, after = change.before or 0, change.after or 0
    yield (
        _key(change.key),
        f"{before:,}",
        f"{after:,}",
        signed_percent(change.increase, 1) if before else "new",
    )
    for name, former, now in change.servers:
        yield f"  {name}", f"{former:,}", f"{now:,}", signed(now - former)


def _key(key: Key) -> str:
    client, scope, source = key
    return f"{title(client, scope)}  {shown_path(source)}"


_MAKE = "Create one with `toolsight audit --json`."
_Path = click.Path(path_type=Path)


def _share(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    """Parse `5%` or `5` as a fraction."""
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise click.BadParameter(f"{text!r} is not a percentage such as 5%")
    return value / 100


@click.command()
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--svg", type=_Path, metavar="FILE", help="Also write a slide to this file.")
@click.option(
    "--baseline",
    type=_Path,
    metavar="FILE",
    help="Compare with an earlier --json output; exit with 3 if a configuration grew.",
)
@click.option(
    "--max-increase",
    default="5%",
    show_default=True,
    metavar="PERCENT",
    callback=_share,
    help="With --baseline: the token growth to allow.",
)
@assuming
@shared
@as_json
def audit(
    as_markdown: bool,
    svg: Path | None,
    baseline: Path | None,
    max_increase: float,
    as_json: bool,
    **values: Any,
) -> None:
    """Measure the servers of every MCP client on this machine.

    Reads the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI and
    Toolsight, or --config, and changes none of them. A server starts only with your consent, and only once
    even if several clients use it. Without consent, Toolsight measures the tools from the last connection,
    if there was one. Costs cover a whole session with its searches, as in `toolsight cost`.

    \b
    toolsight audit --baseline audit.json --max-increase 5%
    """
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown cannot be used together")
    previous = None if baseline is None else _read_baseline(baseline)
    terms = assumed(values)
    found = run_audit(owner_options(**values), terms)
    moved = None if previous is None else _grown_since(found, previous)
    if as_json:
        say_json(audit_json(found, moved, max_increase))
    elif as_markdown:
        say_raw(audit_markdown(found))
    else:
        say_audit(found)
    if svg is not None:
        _write(svg, slide(found))
    if moved is not None:
        say_growth(moved, max_increase, err=as_json or as_markdown)
        if any(change.exceeds(max_increase) for change in moved):
            sys.exit(Exit.GATE)


def _read_baseline(path: Path) -> tuple[dict[Key, Tokens], str]:
    """Read an earlier audit's totals and tokenizer. Raises ConfigError."""
    try:
        return stored_totals(json.loads(read_text(path, "baseline", missing=_MAKE)))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not an audit: {error}", hint=_MAKE) from error


def _grown_since(audit: Audit, previous: tuple[dict[Key, Tokens], str]) -> Sequence[Change]:
    """Compare the audit with the baseline. Raises ConfigError if there is nothing to compare."""
    before, tokenizer = previous
    if tokenizer != audit.basis.tokenizer.name:
        raise ConfigError(
            f"the baseline was counted with {tokenizer}, not with {audit.basis.tokenizer.name}",
            hint="Use the same --model, or create a new baseline.",
        )
    moved = changes(totals(audit.configurations), before)
    if not any(change.is_compared for change in moved):
        for change in moved:
            say(f"{'gone' if change.after is None else 'not compared'}: {', '.join(change.key)}", err=True)
        raise ConfigError(
            "the baseline has nothing in common with this audit",
            hint="Use the same files, and add --approve if servers have to start.",
        )
    return moved


def _write(path: Path, text: str) -> None:
    try:
        write(path, text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
