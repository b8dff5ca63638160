"""A process that starts a clinging server as Toolsight does, then waits to be killed.

`python -m tests.support.run_of_servers DATABASE FOLDER WHEN [MORE]`: WHEN is `noted`, or `unknown` for a
process that is killed before it could note the server's pid.
"""

import signal
import subprocess
import sys
from pathlib import Path

from inspector.mcp.process.registry import ProcessRegistry, records_folder
from tests.support import clinging_server


def main() -> None:
    database, folder, when, *more = sys.argv[1:]
    registry = ProcessRegistry(records_folder(Path(database)))
    registration = registry.register("clinging")
    server = subprocess.Popen(
        [sys.executable, clinging_server.__file__, folder, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": "", **registration.variables},
        start_new_session=True,
    )
    if when == "noted":
        registration.started(server.pid)
    assert registry.reaper is not None
    sys.stdout.write(f"{registry.reaper.pid} {server.pid}\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main()
