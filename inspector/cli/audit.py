"""`toolsight audit`: what the servers of every MCP client on this machine cost. It only reads files."""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from inspector.app.draw.line import shown_path
from inspector.cli.assumption import assumed, assuming
from inspector.cli.audit_run import run_audit
from inspector.cli.audit_slide import slide
from inspector.cli.audit_text import audit_markdown, audit_report, basis_lines
from inspector.cli.cost import session_json
from inspector.cli.options import as_json, owner_options, shared
from inspector.cli.run import Exit
from inspector.cli.table import is_json, say, say_raw, say_table, show, write_file
from inspector.config.file import read_text
from inspector.core.error import ConfigError
from inspector.core.number import count, percent, signed, signed_percent
from inspector.core.report import Table, selected
from inspector.measure.audit.audit import Change, Key, Tokens, changes, totals
from inspector.measure.audit.result import Audit, ConfigurationAudit, ServerAudit, title

VERSION = 2
"""The format's version: it increases when a key changes its meaning or is removed."""
_READ = frozenset({1, 2})


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


def audit_json(audit: Audit, moved: Sequence[Change] | None, limit: float) -> dict[str, Any]:
    """The whole audit; `growth` is present only if there is a baseline."""
    whole = {
        "version": VERSION,
        **selected(audit.basis, _BASIS),
        "configurations": [_configuration(one) for one in audit.configurations],
        **selected(audit, f"problems{{client scope source error hint}} empty first_call{{{_BUDGET}}}"),
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


# Reports as text what grew since a stored audit.


def _say_growth(moved: Sequence[Change], limit: float, *, err: bool) -> None:
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
    headers = ("configuration or server", "before", "now", "change")
    say_table(Table("", headers, tuple(rows), frozenset({1, 2, 3})))


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
    as_markdown: bool, svg: Path | None, baseline: Path | None, max_increase: float, **values: Any
) -> None:
    """Measure the servers of every MCP client on this machine.

    Reads the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI and
    Toolsight, or --config, and changes none of them. A server starts only with your consent, and only once
    even if several clients use it. Without consent, Toolsight measures the tools from the last connection,
    if there was one. Costs cover a whole session with its searches, as in `toolsight cost`.

    \b
    toolsight audit --baseline audit.json --max-increase 5%
    """
    if is_json() and as_markdown:
        raise click.UsageError("--json and --markdown cannot be used together")
    previous = None if baseline is None else _read_baseline(baseline)
    terms = assumed(values)
    found = run_audit(owner_options(**values), terms)
    moved = None if previous is None else _grown_since(found, previous)
    if as_markdown:
        say_raw(audit_markdown(found))
    else:
        show(audit_json(found, moved, max_increase), audit_report(found))
    if svg is not None:
        write_file(svg, slide(found, tuple(basis_lines(found.basis))))
    if moved is not None:
        _say_growth(moved, max_increase, err=is_json() or as_markdown)
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
