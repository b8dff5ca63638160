"""Shows what an agent does while it does it: its transcript is imported line by line."""

import json
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from inspector.cli.composition import open_store
from inspector.cli.models import bulk_counter_for
from inspector.cli.options import Options
from inspector.cli.progress import Cancellation, cancellation
from inspector.cli.table import say
from inspector.clients.importing import Following, Importer
from inspector.clients.transcript import Entry
from inspector.clients.transcript_file import changed_at, line_reader, open_transcript
from inspector.config.file import followed_lines
from inspector.core.events import Record
from inspector.core.events.base import record_json
from inspector.core.number import count, shown_moment

_LOOK_AGAIN_SECONDS = 0.5


def waiting(stopped: Cancellation) -> Callable[[], bool]:
    """Waits for more to be written; returns False once Ctrl+C was pressed."""

    def wait() -> bool:
        if not stopped():
            # No event of a file system says on every platform that another program's file has grown.
            time.sleep(_LOOK_AGAIN_SECONDS)
        return not stopped()

    return wait


def follow(path: Path, options: Options, *, as_json: bool) -> None:
    """Import a transcript as it grows, and print each new event, until Ctrl+C. Raises ToolsightError."""
    transcript = open_transcript(path)
    reader = line_reader(transcript.format)
    run = Importer(open_store(options), cache(bulk_counter_for)).follow(
        file=path.name, at=changed_at(path), agent=str(transcript.format)
    )
    say(f"following {path}; press Ctrl+C to stop", err=True)
    complete = False
    try:
        with cancellation() as stopped:
            for line in followed_lines(path, waiting(stopped)):
                if line is None:
                    run.flush()
                else:
                    _tell(_taken(run, reader.feed(line)), as_json=as_json)
            _tell(_taken(run, reader.finish()), as_json=as_json)
            complete = True
    finally:
        done = run.close(complete=complete)
    for session in done.sessions:
        say(f"{session.id}: {count(session.added, 'event')} stored", err=True)


def _taken(run: Following, entries: Iterable[Entry]) -> list[Record]:
    return [record for entry in entries for record in run.take(entry)]


def _tell(records: Iterable[Record], *, as_json: bool) -> None:
    for record in records:
        if as_json:
            say(json.dumps(record_json(record), default=str))
        elif not record.event.is_routine:
            at = shown_moment(record.at, "%H:%M:%S")
            say(f"{at}  {record.kind:<9} {' '.join(record.event.summary().split())}")
