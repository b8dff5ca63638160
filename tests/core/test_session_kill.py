"""Stored before shown: an app that is killed at any line has shown nothing that is not stored."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Each child kills itself at another line of the session or its store, while they emit the second event; the
# last one is not killed. Children are forks, so that the imports happen once; nothing is open at a fork.
KILLED_AT_EVERY_LINE = """
import json, os, signal, sys
from itertools import count
from pathlib import Path
from inspector.core.ports import SystemClock
from inspector.store.store import SqliteStore
from inspector.core.events import UserSaid
from inspector.core.redaction import Redactor
from inspector.core.stream import Session

WATCHED = ("core/stream.py", "store/store.py", "store/database.py")
folder = Path(sys.argv[1])

def said_twice(name, line):
    store = SqliteStore(folder / "toolsight.db")
    session = Session(name, store, SystemClock(), Redactor({}))
    shown = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    session.subscribe(lambda record: os.write(shown, b"%d " % record.seq))
    session.emit(UserSaid("first"))
    left = line

    def kill_at_line(frame, event, _):
        nonlocal left
        left -= event == "line" and frame.f_code.co_filename.endswith(WATCHED)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return kill_at_line

    sys.settrace(kill_at_line)
    session.emit(UserSaid("second"))
    sys.settrace(None)
    store.close()

said_twice("rehearsal", -1)
for line in count(1):
    child = os.fork()
    if not child:
        said_twice(f"killed-{line}", line)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
store = SqliteStore(folder / "toolsight.db")
print(json.dumps([
    [[int(seq) for seq in (folder / f"killed-{at}").read_text().split()],
     [record.seq for record in store.read(f"killed-{at}")]]
    for at in range(1, line + 1)
]))
"""


@pytest.mark.slow
def test_what_was_shown_before_a_kill_is_stored_whatever_line_it_comes_at(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_AT_EVERY_LINE, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    *killed, finished = json.loads(done.stdout)
    assert finished == [[1, 2], [1, 2]]
    assert all(set(shown) <= set(stored) for shown, stored in killed)
    # Before the commit, between it and the screen, and after that.
    moments = [(len(shown), len(stored)) for shown, stored in killed]
    assert sorted(set(moments)) == [(1, 1), (1, 2), (2, 2)]
    assert moments == sorted(moments)
