"""How long `sessions metrics` takes over a large store: `python -m docs.hard.telemetry FOLDER [SESSIONS]`.

Half of the sessions are imported from made transcripts of Claude Code and Codex; the other half are copies of
one session with the firm's servers in memory, 10 turns with scored searches. The command runs in a process of
its own, whose seconds, processor seconds and peak memory are printed.
"""

import asyncio
import os
import resource
import subprocess
import sys
from itertools import count
from pathlib import Path
from time import monotonic

from msgspec.structs import replace

from docs.benchmark import say
from fixtures.transcripts.make import claude_code, codex
from inspector.cli.composition import bulk_counter_for
from inspector.core.events import Record
from inspector.features.agents.importing import Importer
from inspector.features.agents.transcript_file.reader import open_transcript
from inspector.store.store import SqliteStore
from tests.support.firm import STEPS, firm
from tests.support.workbench import connected

_TURNS = 10
_AGENT_TURNS = 12
_PROGRAM = "from inspector.cli import main; main({arguments!r})"


async def firm_session() -> list[Record]:
    """One session of Toolsight's own, as its stream has it."""
    async with connected(*STEPS * _TURNS, servers=firm()) as rig:
        for _ in range(_TURNS):
            await rig.bench.chat("Which orders are late?")
        return rig.bench.records()


def fill(store: SqliteStore, folder: Path, sessions: int) -> None:
    """Write the sessions."""
    own = asyncio.run(firm_session())
    importer = Importer(store, bulk_counter_for)
    for number in range(sessions // 2):
        session = f"own-{number}"
        store.append_all([replace(one, session=session) for one in own])
        store.release(session)
        file = folder / f"{number}.jsonl"
        made = (codex if number % 2 else claude_code)(_AGENT_TURNS, number)
        file.write_text("".join(made), encoding="utf-8")
        importer.run(open_transcript(file).entries(), file=file.name)
        file.unlink()


def measured(database: Path, *arguments: str) -> str:
    """What a command took; the peak is that of the largest process so far."""
    environment = {**os.environ, "TOOLSIGHT_DB": str(database)}
    code = _PROGRAM.format(arguments=list(arguments))
    before, used = monotonic(), _processor_seconds()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.DEVNULL)
    seconds, used = monotonic() - before, _processor_seconds() - used
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return f"{' '.join(arguments):<32} {seconds:6.1f} s  {used:6.1f} s of processor  {peak:5.0f} MB"


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Fill a store that is not there yet, and measure."""
    folder = Path(sys.argv[1])
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    folder.mkdir(parents=True, exist_ok=True)
    database = next(path for n in count() if not (path := folder / f"telemetry-{n}.db").exists())
    with SqliteStore(database) as store:
        fill(store, folder, sessions)
        stored = store.sessions()
    events = sum(one.events for one in stored)
    say(f"{len(stored):,} sessions, {events:,} events, {database.stat().st_size / 1e6:.0f} MB")
    say(measured(database, "sessions", "metrics", "--since", "2999-01-01"))
    say(measured(database, "sessions", "metrics", "--json"))


if __name__ == "__main__":
    main()
