"""The command group: without a command it opens the app. A command is imported when it is used."""

import gc
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from inspector import __version__
from inspector.cli.options import COMMON, TYPED_SERVER, CommandGroup, Options, common_options
from inspector.cli.run import MEANINGS, Exit, give_up, is_of_output, written
from inspector.core.error import ConfigError, ConnectError, ToolsightError
from inspector.core.text import closest
from inspector.features.feature_list import commands_of

_SECTIONS = ("See", "Find", "Cost", "Talk", "More")
_COMMON = "Common options, before or after the command's name"

# How many objects are made between two looks for garbage: more than a start makes, in 1,000 modules.
_NEW_OBJECTS = 200_000
# Commands whose words are files of other kinds: a server follows `--`.
_TAKE_FILES = frozenset({"label", "import"})
# Commands whose own words may be left out, and are never files: a last word that is one is the server.
_MAY_LACK_WORDS = frozenset({"tools", "call"})


def _split(args: Sequence[str]) -> tuple[list[str], bool, list[str]]:
    """The words before and after the first `--`, and whether there is one."""
    if "--" not in args:
        return list(args), False, []
    at = list(args).index("--")
    return list(args[:at]), True, list(args[at + 1 :])


def _optional_words(command: click.Command, read: Mapping[str, Any]) -> list[str]:
    """The words that a parser gave to arguments which may be left out."""
    optional = (one for one in command.params if isinstance(one, click.Argument) and not one.required)
    named = [read.get(one.name or "") for one in optional]
    words = [word for value in named for word in (value if isinstance(value, tuple) else (value,))]
    return [word for word in words if isinstance(word, str)]


class Program(CommandGroup):
    """The program: takes out the server that a person typed, and lists the commands in sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take out a typed server: what follows `--`, or a bare address or file."""
        before, dashes, after = _split(args)
        if dashes and not after:
            raise click.UsageError("no server after --: write the command that starts it", ctx)
        if not dashes:
            before, after = self._bare_server(ctx, before)
        if after:
            ctx.meta[TYPED_SERVER] = tuple(after)
        return super().parse_args(ctx, before)

    def _bare_server(self, ctx: click.Context, args: list[str]) -> tuple[list[str], list[str]]:
        """The other words, and the server among them: all words without a command, else the last one."""
        try:
            words = self.make_parser(ctx).parse_args(list(args))[1]
        except click.UsageError:
            return args, []
        if not words:
            return args, []
        from inspector.config.file import is_server, names_a_server

        if words[0] not in self.modules:
            return (args[: len(args) - len(words)], words) if names_a_server(words) else (args, [])
        last = self._last_word(ctx, words)
        if not last or not is_server(last):
            return args, []
        at = len(args) - 1 - args[::-1].index(last)
        return [*args[:at], *args[at + 1 :]], [last]

    def _last_word(self, ctx: click.Context, words: list[str]) -> str:
        """The last word of a command that belongs to no option; "" if no server can stand there."""
        size = self._words_of_name(ctx, words)
        command = self.get_command(ctx, words[0])
        if size > 1 and isinstance(command, click.Group):
            command = command.get_command(ctx, words[1])
        if command is None or words[size - 1] in _TAKE_FILES or not common_options(command):
            return ""
        try:
            read, own, _ = command.make_parser(click.Context(command)).parse_args(words[size:])
        except click.UsageError:
            return ""
        if not own and command.name in _MAY_LACK_WORDS:
            own = _optional_words(command, read)
        if isinstance(command, click.Group) and len(own) > 1:
            return ""
        return own[-1] if len(own) > (command.name == "chat") else ""

    @property
    def above(self) -> str:
        return ""

    def hint(self, word: str) -> str:
        near = closest(word, list(self.modules), limit=1, cutoff=0.7)
        other = f"If it is a file, check its name; if a server's command, use `toolsight -- {word}`."
        return f"Did you mean `{near[0]}`?" if near else other

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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands in sections."""
        for title in _SECTIONS:
            rows = [
                (name, self.said(name)) for name, info, _ in commands_of(self.above) if info.section == title
            ]
            with formatter.section(title):
                formatter.write_dl(rows, col_max=max(map(len, self.modules)))


@click.group(
    cls=Program,
    takes=COMMON,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="toolsight")
@click.option("--watch", is_flag=True, help="In the app: restart a server when its files change.")
@click.option("--web", is_flag=True, help="The app in a browser on this machine, until ctrl+c.")
@click.pass_context
def cli(context: click.Context, /, watch: bool, web: bool, chosen: Options) -> None:
    """See which tools an LLM agent sees, what they cost, and why a search finds them or not.

    Without a command, opens the app on the server after `--` (a command, script, address or stored tools/list
    answer), on --config, or on this folder's configuration.

    \b
    toolsight --watch server.py         open the app on a server you are working on
    toolsight -- npx -y @scope/server   the same, for any command
    toolsight search "late orders" server.py
    """
    if context.invoked_subcommand is None and web:
        from inspector.cli.web import serve

        words = sys.argv[1:]
        words.remove("--web")
        serve(words)
    elif context.invoked_subcommand is None:
        from inspector.cli.open_app import open_app

        open_app(chosen, watch=watch)


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
    from inspector.cli.table import say

    say(f"error: {error.message}", err=True)
    if error.hint:
        say(f"hint:  {error.hint}", err=True)
    if isinstance(error, ConnectError) and error.stderr_tail:
        say(error.stderr_tail, err=True)
