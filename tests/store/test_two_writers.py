"""Two real processes on one database: what one is writing, the other never deletes."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspector.core.events import SessionsForgotten, UserSaid
from inspector.core.redaction import Redactor
from inspector.core.settings import RecordSettings, Settings
from inspector.core.stream import LiveSettings, Session
from inspector.store.call_history import Retention
from inspector.store.store import SqliteStore
from tests.support.fakes import ManualClock

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DAY = 24 * 60 * 60.0
WRITER = """
import sys
from pathlib import Path
from inspector.store.store import SqliteStore
from inspector.core.events import Record, UserSaid
store = SqliteStore(Path(sys.argv[1]))
for seq, line in enumerate(sys.stdin, start=1):
    store.append(Record("theirs", seq, float(line), UserSaid("hi")))
    print(seq, flush=True)
"""


class Writer:
    """A process that appends an event to the session `theirs` for every time it is told."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", WRITER, str(path)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def write(self, at: float) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{at}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    writer = Writer(path)
    try:
        yield writer
    finally:
        writer.process.kill()
        writer.process.communicate()


async def test_what_another_process_is_writing_is_kept_until_that_process_is_killed(tmp_path: Path) -> None:
    path, clock = tmp_path / "toolsight.db", ManualClock()
    with SqliteStore(path) as store, writing(path) as other:
        # Idle for a hundred days, but still open.
        assert other.write(clock.now() - 100 * DAY) == "1"
        ours = Session("ours", store, clock, Redactor({}))
        ours.emit(UserSaid("hi"))
        limits = RecordSettings(max_days=30)
        retention = Retention(ours, store, clock, LiveSettings(Settings(record=limits)))
        await retention.sweep()
        assert [one.id for one in store.ages()] == ["theirs", "ours"]
        assert other.write(clock.now() - 99 * DAY) == "2"
        assert [record.seq for record in store.read("theirs")] == [1, 2]

        other.process.kill()
        other.process.wait()
        await retention.sweep()
        assert [one.id for one in store.ages()] == ["ours"]
        assert [record.event for record in store.read("ours", kinds=("forgotten",))] == [
            SessionsForgotten(("theirs",))
        ]
