"""The events page: kinds to filter by, and records as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from inspector.domain.event import Record

GROUPS: tuple[tuple[str, frozenset[str]], ...] = (
    ("all", frozenset()),
    ("searches", frozenset({"search", "redundant", "load"})),
    ("calls", frozenset({"call", "result", "reject", "approval"})),
    ("guards", frozenset({"loop", "redundant", "evict"})),
    ("model", frozenset({"request", "response", "delta", "budget", "model", "user", "end"})),
    ("servers", frozenset({"connecting", "ready", "failed", "stopped", "tools", "catalog"})),
    ("errors", frozenset({"error", "failed", "reject"})),
)


def in_group(records: Sequence[Record], group: str) -> tuple[Record, ...]:
    """The records of a group; streamed pieces of answers only where they were asked for."""
    kinds = dict(GROUPS)[group]
    if not kinds:
        return tuple(record for record in records if record.kind != "delta")
    return tuple(record for record in records if record.kind in kinds)


def as_json(record: Record) -> dict[str, Any]:
    """A record as one object, its place in the stream beside the event."""
    place = {"session": record.session, "seq": record.seq, "at": record.at, "kind": record.kind}
    return {**place, "event": asdict(record.event)}


def json_lines(records: Sequence[Record]) -> str:
    """One line a record; ASCII only, so that the file is harmless in any terminal."""
    return "".join(json.dumps(as_json(record), default=str) + "\n" for record in records)
