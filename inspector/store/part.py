"""Long parts of events: definitions are stored once by their hash, of a catalog what differs from before."""

import zlib
from collections.abc import Sequence
from hashlib import sha256
from sqlite3 import Connection

from msgspec.structs import replace

from inspector.core.definition import ToolDefinition
from inspector.core.events import CatalogBuilt, CatalogEntry
from inspector.store.codec import UnreadableEvent, decode_as

Pieces = Sequence[Sequence[int]]
"""Which entries a catalog has, `[from, to]` each, of those of the one before and then its new ones."""


def keep(connection: Connection, definitions: bytes) -> bytes:
    """Store encoded definitions, unless they are there, and return their hash."""
    hash_ = sha256(definitions).digest()
    if not connection.execute("SELECT 1 FROM definitions WHERE hash = ?", (hash_,)).fetchone():
        connection.execute("INSERT INTO definitions VALUES (?, ?)", (hash_, zlib.compress(definitions)))
    return hash_


def kept(text: bytes) -> tuple[ToolDefinition, ...]:
    """The definitions that are stored as this text. Raises UnreadableEvent."""
    try:
        return decode_as(zlib.decompress(text).decode(), tuple[ToolDefinition, ...])
    except (ValueError, zlib.error) as error:
        raise UnreadableEvent(f"definitions do not fit this version: {error}") from error


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
