"""The command palette, fed from the registry of commands."""

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.types import IgnoreReturnCallbackType

from inspector.app.command import COMMANDS, Command, shown_keys


class CommandSource(Provider):
    """Every command with its keys and its help. All text is Toolsight's own."""

    async def discover(self) -> Hits:
        for command, run in self._commands():
            yield DiscoveryHit(self._title(command), run, help=command.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command, run in self._commands():
            title = self._title(command)
            score = matcher.match(f"{title} {command.help}")
            if score > 0:
                yield Hit(score, title, run, help=command.help)

    def _commands(self) -> Iterator[tuple[Command, IgnoreReturnCallbackType]]:
        for command in COMMANDS:
            yield command, partial(self.app.run_action, command.action)

    @staticmethod
    def _title(command: Command) -> str:
        return f"{command.title}   {shown_keys(command)}"
