"""A group of commands that imports each of them on use, and takes their options before their name too."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from inspector.cli.options import common_note
from inspector.core.closest import closest

# These stay with the group instead of moving to a command.
_ABOUT = frozenset({"--help", "-h", "--version"})


class CommandGroup(click.Group):
    """A group whose commands are imported on use, so that the app's first frame waits for none of them.

    An option before a command's name counts as if it stood behind it: `toolsight --json sessions unmet`.
    """

    def __init__(self, *, modules: Mapping[str, str], **extra: Any) -> None:
        """`modules` maps a command's name to `module:attribute` below `inspector.cli`.

        The attribute may be left out if it is the command's name.
        """
        super().__init__(**extra)
        self._modules = modules

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give a command the options that stand before its name."""
        try:
            rest = self.make_parser(ctx).parse_args(list(args))[1]
        except click.UsageError:
            return super().parse_args(ctx, args)
        given = args[: len(args) - len(rest)]
        if given and rest and not _ABOUT.intersection(given):
            name = self._words_of_name(ctx, rest)
            args = [*rest[:name], *given, *rest[name:]]
        return super().parse_args(ctx, args)

    def _words_of_name(self, ctx: click.Context, words: Sequence[str]) -> int:
        """How many of the words name a command: two if the first is a group and the second one of it."""
        command = self.get_command(ctx, words[0])
        is_group = isinstance(command, CommandGroup) and len(words) > 1
        return 1 + (is_group and words[1] in command.list_commands(ctx))  # type: ignore[union-attr]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one names the nearest."""
        if args[0] not in self._modules:
            raise click.UsageError(f"There is no command '{args[0]}'. {self.hint(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def hint(self, word: str) -> str:
        """What to try instead of a command that does not exist."""
        near = closest(word, list(self._modules), limit=1)
        return f"Did you mean `{near[0]}`?" if near else f"Commands: {', '.join(self._modules)}."

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._modules:
            return None
        module, _, attribute = self._modules[cmd_name].partition(":")
        command = getattr(import_module(f"inspector.cli.{module}"), attribute or cmd_name)
        assert isinstance(command, click.Command)
        command.epilog = common_note(command)
        return command
