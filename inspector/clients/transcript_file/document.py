"""Reads a file that is one JSON value; of one that is cut off, what is whole in its list."""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from inspector.clients.transcript import Tally
from inspector.clients.transcript_file.format import decoded
from inspector.config.content import MEGABYTE
from inspector.core.error import ConfigError

MAX_BYTES = 256 * MEGABYTE
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_REQUESTS = re.compile(r'\s*\{.*?"requests"\s*:\s*\[', re.DOTALL)
_LIST = re.compile(r"\s*\[")
_BETWEEN = re.compile(r"[\s,]*")


def read_value(file: BinaryIO, tally: Tally) -> Iterator[tuple[dict[str, Any], int]]:
    """The value if it is an object, or the objects of a list, with the bytes read. Raises ConfigError."""
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigError(
            f"{file.name} is larger than {MAX_BYTES // MEGABYTE} MB",
            hint="Only transcripts with one record per line may be larger.",
        )
    plain = data.removeprefix(_BYTE_ORDER_MARK)
    value = decoded(plain, tally)
    values = [value] if isinstance(value, dict) else value
    if not isinstance(values, list):
        values = _whole_part(plain.decode(errors="replace"))
    for one in values:
        if isinstance(one, dict):
            tally.records += 1
            yield one, len(data)
        else:
            tally.count_malformed("not an object")


def _whole_part(text: str) -> list[Any]:
    """What can be read of a value that is broken: the first objects of its list."""
    if match := _LIST.match(text):
        return list(_elements(text, match.end()))
    if match := _REQUESTS.match(text):
        return [{"requests": list(_elements(text, match.end()))}]
    return []


def _elements(text: str, start: int) -> Iterator[Any]:
    decode = json.JSONDecoder().raw_decode
    while True:
        match = _BETWEEN.match(text, start)
        try:
            value, start = decode(text, match.end() if match else start)
        except (ValueError, RecursionError):
            return
        yield value
