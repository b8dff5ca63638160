"""The options that every command shares."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.options import DEMO_MODEL, Options

F = TypeVar("F", bound=Callable[..., Any])


def _inputs(_context: click.Context, _parameter: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise click.BadParameter(f"{pair!r} is not ID=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


_SHARED = (
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        help="A Toolsight, Claude Desktop, Claude Code, Cursor or VS Code configuration.",
    ),
    click.option(
        "--model",
        default=DEMO_MODEL,
        show_default=True,
        help="Any litellm model (openai/…, anthropic/…, ollama/…), demo/planner or demo/script:FILE.",
    ),
    click.option("--api-base", default="", help="Where the model is served, for local servers."),
    click.option("--toolset", default="", help="A toolset of the configuration; all tools without it."),
    click.option(
        "--db",
        "database",
        type=click.Path(path_type=Path),
        help="The SQLite file; TOOLSIGHT_DB also names it.",
    ),
    click.option(
        "--input",
        "inputs",
        multiple=True,
        metavar="ID=VALUE",
        callback=_inputs,
        help="The value of a VS Code ${input:ID}; TOOLSIGHT_INPUT_ID also gives it. May be repeated.",
    ),
    click.option(
        "--approve",
        is_flag=True,
        help="Start this configuration's servers without asking, and remember that.",
    ),
    click.option("--yes", is_flag=True, help="Allow tool calls that may change something without asking."),
)


def shared(function: F) -> F:
    """Add the shared options; the command receives them as keyword arguments, see `options`."""
    for option in reversed(_SHARED):
        function = option(function)
    return function


def options(**values: Any) -> Options:
    """The shared options of a command, gathered."""
    return Options(**values)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
