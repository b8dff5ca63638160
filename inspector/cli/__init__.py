"""The `toolsight` command: the composition root, the app, and a headless twin of everything the app does."""

import sys
from collections.abc import Sequence

__all__ = ["main"]

_TAP_OPTIONS = frozenset({"--name", "--db", "--redact"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, or `arguments`. A tap starts at once: its client waits for a server."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["tap"] and "--" in words:
        before, command = words[1 : words.index("--")], words[words.index("--") + 1 :]
        if command and len(before) % 2 == 0 and _TAP_OPTIONS.issuperset(before[::2]):
            _tap(list(zip(before[::2], before[1::2], strict=True)), command)
    from inspector.cli.root import main as run

    run(arguments)


def _tap(given: Sequence[tuple[str, str]], command: Sequence[str]) -> None:
    from inspector.features.agents.tap.tap import run

    def record(source: int) -> None:
        from inspector.features.agents.tap.command import record

        named, secrets = dict(given), [value for option, value in given if option == "--redact"]
        name, database = named.get("--name", ""), named.get("--db", "")
        record(source, command, name=name, database=database, secrets=secrets)

    run(command, record)
