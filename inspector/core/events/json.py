"""Records as JSON, for exports and programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from inspector.core.events.base import Record


def record_json(record: Record) -> dict[str, Any]:
    """The record's position in the stream, and the event's fields under `event`."""
    return {
        "session": record.session,
        "seq": record.seq,
        "at": record.at,
        "kind": record.kind,
        "event": asdict(record.event),
    }


def json_lines(records: Sequence[Record]) -> str:
    """One line per record; ASCII only, so that the file is safe in any terminal."""
    return "".join(json.dumps(record_json(record), default=str) + "\n" for record in records)
