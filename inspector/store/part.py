"""Long parts of events: those stored apart, once by their hash, and of a catalog what differs from before."""

import zlib
from collections.abc import Sequence
from hashlib import sha256
from sqlite3 import Connection
from typing import TypeVar

from msgspec.structs import replace

from inspector.core.definition import ToolDefinition
from inspector.core.events import (
    CatalogBuilt,
    CatalogEntry,
    Event,
    SearchPerformed,
    ServerReady,
    ToolsChanged,
)
from inspector.core.ranking import Hit
from inspector.store.codec import UnreadableEvent, decode_as

Pieces = Sequence[Sequence[int]]
"""Which entries a catalog has, `[from, to]` each, of those of the one before and then its new ones."""

Listed = tuple[ToolDefinition, ...]
_T = TypeVar("_T")


def apart(event: Event) -> tuple[Event, object]:
    """The event without what is stored apart, and that; None if it has none.

    Of a search that are its results with the parts of their scores, without which `outline` reads it.
    """
    match event:
        case ServerReady(definitions=listed) | ToolsChanged(definitions=listed) if listed:
            return replace(event, definitions=()), listed
        case SearchPerformed(report=told) if told.terms or not told.request.tool_names:
            if any(hit.score.parts for hit in told.hits):
                return replace(event, report=told.outline()), told.hits
    return event, None


def together(event: Event, text: bytes) -> Event:
    """The event of which `apart` made this. Raises UnreadableEvent."""
    if isinstance(event, SearchPerformed):
        return replace(event, report=replace(event.report, hits=kept(text, tuple[Hit, ...])))
    return replace(event, definitions=kept(text, Listed))


def keep(connection: Connection, part: bytes) -> bytes:
    """Store an encoded part, unless it is there, and return its hash."""
    hash_ = sha256(part).digest()
    if not connection.execute("SELECT 1 FROM definitions WHERE hash = ?", (hash_,)).fetchone():
        connection.execute("INSERT INTO definitions VALUES (?, ?)", (hash_, zlib.compress(part)))
    return hash_


def kept(text: bytes, kind: type[_T]) -> _T:
    """The part that is stored as this text. Raises UnreadableEvent."""
    try:
        return decode_as(zlib.decompress(text).decode(), kind)
    except (ValueError, zlib.error) as error:
        raise UnreadableEvent(f"what is stored apart does not fit this version: {error}") from error


def shortened(event: CatalogBuilt, before: Sequence[CatalogEntry]) -> tuple[CatalogBuilt, Pieces]:
    """The catalog with its new entries alone, and the pieces that it consists of."""
    known = frozenset(before)
    new = tuple(entry for entry in event.entries if entry not in known)
    places = {entry: place for place, entry in enumerate((*before, *new))}
    pieces: list[list[int]] = []
    for place in map(places.__getitem__, event.entries):
        if pieces and pieces[-1][1] == place:
            pieces[-1][1] += 1
        else:
            pieces.append([place, place + 1])
    return replace(event, entries=new), pieces


def whole(event: CatalogBuilt, before: Sequence[CatalogEntry], pieces: Pieces) -> CatalogBuilt:
    """The catalog of which `shortened` made this."""
    every = (*before, *event.entries)
    return replace(event, entries=tuple(entry for start, stop in pieces for entry in every[start:stop]))
