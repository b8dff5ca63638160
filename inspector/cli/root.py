"""The command group: without a command it opens the app."""

import sys
from typing import Any

import click

from inspector import __version__
from inspector.cli import chat, demo, inspect, record
from inspector.cli.launch import open_app
from inspector.cli.option import options, shared
from inspector.cli.render import say
from inspector.domain.error import ConnectError, ToolsightError


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="toolsight")
@shared
@click.pass_context
def cli(context: click.Context, /, **values: Any) -> None:
    """See what tools an LLM agent sees, what they cost, and why a search finds them or not.

    Without a command: open the app on --config, or on the configuration of this folder.
    """
    if context.invoked_subcommand is None:
        open_app(options(**values))


for command in (*inspect.COMMANDS, *chat.COMMANDS, *record.COMMANDS, *demo.COMMANDS):
    cli.add_command(command)


def main() -> None:
    """Run the command line; an expected error is a message with a hint and exit code 1."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        say("cancelled", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ToolsightError as error:
        _show(error)
        sys.exit(1)


def _show(error: ToolsightError) -> None:
    say(f"error: {error.message}", err=True)
    if error.hint:
        say(f"hint:  {error.hint}", err=True)
    if isinstance(error, ConnectError) and error.stderr_tail:
        say(error.stderr_tail, err=True)
