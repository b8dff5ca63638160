"""`toolsight audit`: what the servers of every MCP client on this machine cost. It only reads files."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from inspector.adapters.files import content
from inspector.cli.audit.growth import say_growth
from inspector.cli.audit.json import audit_json, stored_totals
from inspector.cli.audit.report import audit_markdown, say_audit
from inspector.cli.audit.run import run_audit
from inspector.cli.audit.slide import slide
from inspector.cli.cost.assumption import assumed, assuming
from inspector.cli.options import as_json, owner_options, shared
from inspector.cli.outcome import Exit
from inspector.cli.render import say, say_json, say_raw
from inspector.domain.error import ConfigError
from inspector.engine.sink import write
from inspector.engine.tokens.audit.growth import Change, Key, Tokens, changes, totals
from inspector.engine.tokens.audit.result import Audit

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
    moved = None if previous is None else _compared(found, previous)
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
        return stored_totals(json.loads(content.read_text(path, "baseline", missing=_MAKE)))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not an audit: {error}", hint=_MAKE) from error


def _compared(audit: Audit, previous: tuple[dict[Key, Tokens], str]) -> Sequence[Change]:
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
