"""The `toolsight` command: the composition root, the app, and a headless twin of everything the app does."""

import sys
from collections.abc import Sequence
from importlib import import_module

__all__ = ["main"]

# Found by name: of what else Toolsight can do a tap imports nothing, and the shell knows no feature.
_TAP, _SHARED = "inspector.features.agents.tap.tap", "inspector.features.agents.tap.shared"
_TAP_OPTIONS = frozenset({"--name", "--db", "--redact", "--header", "--bearer"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, or `arguments`. A tap starts at once: its client waits for a server."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["tap"] and "--" in words:
        before, command = words[1 : words.index("--")], words[words.index("--") + 1 :]
        if command and len(before) % 2 == 0 and _TAP_OPTIONS.issuperset(before[::2]):
            is_address = command[0].startswith(("http://", "https://"))
            given = list(zip(before[::2], before[1::2], strict=True))
            import_module(_SHARED if is_address else _TAP).start(given, command)
    from inspector.cli.root import main as run

    run(arguments)
