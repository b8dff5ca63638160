"""A process that starts a clinging server as Toolsight does, then waits to be killed.

`python -m tests.support.run_of_servers FOLDER [MORE]`
"""

import signal
import subprocess
import sys

from inspector.mcp.reaper import Reaper
from tests.support import clinging_server


def main() -> None:
    reaper = Reaper()
    server = subprocess.Popen(
        [sys.executable, clinging_server.__file__, *sys.argv[1:]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": "", **reaper.prepare()},
        start_new_session=True,
    )
    reaper.watch(server.pid)
    sys.stdout.write(f"{reaper.pid} {server.pid}\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main()
