"""The command group: without a command it opens the app. A command is imported when it is used."""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from inspector import __version__
from inspector.cli.options import TYPED_SERVER, common_note, common_options, options, shared
from inspector.cli.outcome import MEANINGS, Exit, give_up, is_of_output, written
from inspector.domain.closest import closest
from inspector.domain.error import ConfigError, ConnectError, ToolsightError

# Each command's module by what people want, and its name in the module if it differs.
_SECTIONS = {
    "Look": {
        "servers": "catalog.inspect",
        "tools": "catalog.inspect",
        "manifest": "catalog.inspect",
        "call": "catalog.call",
        "settings": "settings",
        "access": "access.command",
        "clients": "client.clients",
        "breakers": "breaker",
        "leftovers": "leftover",
        "marketplace": "marketplace.command",
        "keys": "keys",
    },
    "Find": {
        "search": "search.search",
        "whatif": "search.whatif",
        "confusable": "search.confusable",
        "registry": "registry.command",
    },
    "Cost": {
        "budget": "audit.command",
        "cost": "cost.command",
        "race": "scenario.race",
    },
    "Talk": {
        "demo": "chat.demo",
        "chat": "chat.command",
        "models": "chat.models",
        "scenario": "scenario.command",
        "compare": "scenario.compare",
    },
    "Trace": {
        "sessions": "record.record",
        "events": "record.record",
        "timeline": "record.timeline",
        "agents": "agents.command",
        "stats": "telemetry.stats",
        "backlog": "telemetry.backlog",
        "inertia": "inertia.command",
    },
    "Measure": {
        "bench": "bench.command",
        "calibrate": "bench.calibrate:command",
        "eval": "bench.evaluate:evaluate",
        "runs": "runs.command",
        "reproduce": "research.command",
    },
}
_MODULES = {name: module for section in _SECTIONS.values() for name, module in section.items()}

_COMMON = "Common options, before or after the command's name"

# How many objects are made between two looks for garbage; Python's own 700 are few for 1,000 modules.
_NEW_OBJECTS = 50_000
# These stay with the program instead of moving to a command.
_ABOUT = frozenset({"--help", "-h", "--version"})


def _split(args: Sequence[str]) -> tuple[list[str], bool, list[str]]:
    """The words before and after the first `--`, and whether there is one."""
    if "--" not in args:
        return list(args), False, []
    at = list(args).index("--")
    return list(args[:at]), True, list(args[at + 1 :])


def _names_a_server(words: Sequence[str]) -> bool:
    from inspector.adapters.files.typed_server import names_a_server

    return names_a_server(words)


class LazyGroup(click.Group):
    """Imports each command on use, so that the app's first frame does not wait for the headless ones."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take out a typed server, and give a command the shared options that stand before its name."""
        before, dashes, after = _split(args)
        try:
            rest = self.make_parser(ctx).parse_args(list(before))[1]
        except click.UsageError:
            return super().parse_args(ctx, args)
        given = before[: len(before) - len(rest)]
        if rest and not dashes and rest[0] not in _MODULES and _names_a_server(rest):
            rest, after = [], rest
        if dashes and not after:
            raise click.UsageError("nothing stands after --: name a server as you would start it", ctx)
        if after:
            ctx.meta[TYPED_SERVER] = tuple(after)
        if given and rest and not _ABOUT.intersection(given):
            name = 1 + self._has_subcommand(ctx, rest)
            given, rest = [], [*rest[:name], *given, *rest[name:]]
        return super().parse_args(ctx, [*given, *rest])

    def _has_subcommand(self, ctx: click.Context, words: Sequence[str]) -> bool:
        command = self.get_command(ctx, words[0])
        return isinstance(command, click.Group) and len(words) > 1 and words[1] in command.commands

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one says what was meant."""
        if args[0] not in _MODULES:
            near = closest(args[0], list(_MODULES), limit=1)
            meant = f"Did you mean `{near[0]}`?" if near else f"For a server, write `toolsight -- {args[0]}`."
            raise click.UsageError(f"There is no command '{args[0]}'. {meant}", ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_MODULES)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, the options that most of them share, and those of the app alone."""
        self.format_commands(ctx, formatter)
        common = common_options(self)
        others = [option for option in self.get_params(ctx) if option not in common]
        for title, listed in ((_COMMON, common), ("Options", others)):
            records = [record for option in listed if (record := option.get_help_record(ctx)) is not None]
            with formatter.section(title):
                formatter.write_dl(records)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in MEANINGS.items()])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections."""
        width = formatter.width - 6 - max(map(len, _MODULES))
        for title, names in _SECTIONS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, found.get_short_help_str(width)) for name, found in commands if found is not None]
            with formatter.section(title):
                formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _MODULES:
            return None
        module, _, attribute = _MODULES[cmd_name].partition(":")
        command = getattr(import_module(f"inspector.cli.{module}"), attribute or cmd_name)
        assert isinstance(command, click.Command)
        for each in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            each.epilog = common_note(each)
        return command


@click.group(
    cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="toolsight")
@click.option("--watch", is_flag=True, help="In the app: start a server again when its files change.")
@shared
@click.pass_context
def cli(context: click.Context, /, watch: bool, **values: Any) -> None:
    """See what tools an LLM agent sees, what they cost, and why a search finds them or not.

    Without a command, open the app: on the server after `--` (a command, a script, an address, or a stored
    answer to tools/list), on --config, or on this folder's configuration.

    \b
    toolsight --watch server.py         open the app on a server that you work on
    toolsight -- npx -y @scope/server   the same, for any command
    toolsight search "late orders" -- python server.py
    """
    if context.invoked_subcommand is None:
        from inspector.cli.open_app import open_app

        open_app(options(**values), watch=watch)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, or `arguments`; an expected error prints a message and hint. See `Exit`."""
    # What is imported stays: looking for garbage in it over and over takes a tenth of a start.
    gc.set_threshold(_NEW_OBJECTS)
    try:
        _run(arguments)
    except OSError as error:
        if not is_of_output(error):
            raise
        give_up(error)


def _run(arguments: Sequence[str] | None) -> None:
    try:
        cli(arguments, standalone_mode=False)
    except click.exceptions.Abort:
        with written(err=True):
            click.echo("cancelled", err=True)
        sys.exit(Exit.INTERRUPTED)
    except click.ClickException as error:
        with written(err=True):
            error.show()
        sys.exit(error.exit_code)
    except ToolsightError as error:
        _show(error)
        sys.exit(Exit.USAGE if isinstance(error, ConfigError) else Exit.FAILED)


def _show(error: ToolsightError) -> None:
    from inspector.cli.render import say

    say(f"error: {error.message}", err=True)
    if error.hint:
        say(f"hint:  {error.hint}", err=True)
    if isinstance(error, ConnectError) and error.stderr_tail:
        say(error.stderr_tail, err=True)
