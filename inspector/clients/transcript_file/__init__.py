"""Reads what agents wrote while they worked, one format a module, as entries of `clients/transcript.py`."""

from inspector.clients.transcript_file.format import Format, LineReader
from inspector.clients.transcript_file.reader import (
    Transcript,
    by_age,
    changed_at,
    find_transcripts,
    line_reader,
    open_transcript,
    recognize,
)

__all__ = [
    "Format",
    "LineReader",
    "Transcript",
    "by_age",
    "changed_at",
    "find_transcripts",
    "line_reader",
    "open_transcript",
    "recognize",
]
