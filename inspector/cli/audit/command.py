"""`toolsight budget`: what the servers of every MCP client on this machine cost; it changes no file."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from inspector.cli.audit.growth import say_growth
from inspector.cli.audit.json import audit_json, stored_totals
from inspector.cli.audit.report import audit_markdown, say_audit
from inspector.cli.audit.run import run_audit
from inspector.cli.audit.slide import slide
from inspector.cli.options import as_json, options, shared
from inspector.cli.render import say, say_json
from inspector.domain.error import ConfigError
from inspector.engine.tokens.audit.growth import Change, Key, Tokens, changes, totals
from inspector.engine.tokens.audit.result import Audit

GREW = 1
_MAKE = "Make one with `toolsight budget --json`."
_Path = click.Path(path_type=Path)


def _share(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    """`5%` or `5`, as a fraction."""
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise click.BadParameter(f"{text!r} is no percentage such as 5%")
    return value / 100


@click.command()
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--svg", type=_Path, metavar="FILE", help="Draw a slide into this file as well.")
@click.option(
    "--baseline",
    type=_Path,
    metavar="FILE",
    help="Compare with a former --json; exit code 1 where a configuration grew.",
)
@click.option(
    "--max-increase",
    default="5%",
    show_default=True,
    metavar="PERCENT",
    callback=_share,
    help="With --baseline: growth in tokens that passes.",
)
@shared
@as_json
def budget(
    as_markdown: bool,
    svg: Path | None,
    baseline: Path | None,
    max_increase: float,
    as_json: bool,
    **values: Any,
) -> None:
    """What the servers of every MCP client on this machine cost; of one file with --config.

    Looks into the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI and
    Toolsight, and changes none. A server is started with your consent only, and once however many clients
    have it; without it, the tools that it had when it was last connected are measured, if it ever was.
    """
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown exclude each other")
    former = None if baseline is None else _read_baseline(baseline)
    found = run_audit(options(**values))
    moved = None if former is None else _compared(found, former)
    if as_json:
        say_json(audit_json(found, moved, max_increase))
    elif as_markdown:
        click.echo(audit_markdown(found), nl=False)
    else:
        say_audit(found)
    if svg is not None:
        _write(svg, slide(found))
    if moved is not None:
        say_growth(moved, max_increase, err=as_json or as_markdown)
        if any(change.exceeds(max_increase) for change in moved):
            sys.exit(GREW)


def _read_baseline(path: Path) -> tuple[dict[Key, Tokens], str]:
    """Raises ConfigError."""
    try:
        return stored_totals(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}", hint=_MAKE) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no audit: {error}", hint=_MAKE) from error


def _compared(audit: Audit, former: tuple[dict[Key, Tokens], str]) -> Sequence[Change]:
    """Raises ConfigError where nothing can be compared: no growth would be seen."""
    before, tokenizer = former
    if tokenizer != audit.basis.tokenizer.name:
        raise ConfigError(
            f"the baseline was counted by {tokenizer}, not by {audit.basis.tokenizer.name}",
            hint="Name the same --model, or make a new baseline.",
        )
    moved = changes(totals(audit.configurations), before)
    if not any(change.is_compared for change in moved):
        for change in moved:
            say(f"{'gone' if change.after is None else 'not compared'}: {', '.join(change.key)}", err=True)
        raise ConfigError(
            "nothing that was measured now is in the baseline",
            hint="Name the same files, and add --approve where servers have to be started.",
        )
    return moved


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
