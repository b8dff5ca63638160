"""The weather server as one that will not go: it ignores SIGTERM, SIGINT, SIGHUP and the end of its input."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

# A run that goes wrong leaves nothing for good.
_LIFE_SECONDS = 300


def main() -> None:
    """Serve, then stay. The arguments name a folder, where a file named for the process tells that it runs,
    and perhaps `helper`, for a helper that does the same, or `detached`, for one in a session of its own."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.alarm(_LIFE_SECONDS)
    folder, *more = sys.argv[1:]
    if more and os.fork() == 0:
        if "detached" in more:
            os.setsid()
        signal.alarm(_LIFE_SECONDS)
        _note(folder)
        _stay()
    _note(folder)
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.support import light_server

    # Whoever would read its answers may be gone.
    with suppress(OSError):
        light_server.main()
    _stay()


def _note(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()


def _stay() -> None:
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
