"""Caches the compact JSON of `tools` entries as long as an entry stays the same object."""

from collections.abc import Sequence
from typing import Any

from inspector.schema.json_value import compact


class EntryTexts:
    """Caches the texts of the last requested entries."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[dict[str, Any], str]] = {}
        self._array: Sequence[dict[str, Any]] = ()
        self._texts: tuple[str, ...] = ()

    def of(self, entries: Sequence[dict[str, Any]]) -> tuple[str, ...]:
        """The text of each entry; the same object for the same tuple of entries."""
        if entries is self._array:
            return self._texts
        fresh: dict[int, tuple[dict[str, Any], str]] = {}
        texts = []
        for entry in entries:
            kept = self._kept.get(id(entry))
            text = kept[1] if kept is not None and kept[0] is entry else compact(entry)
            fresh[id(entry)] = (entry, text)
            texts.append(text)
        self._kept, self._texts = fresh, tuple(texts)
        # A list may change between calls; a tuple cannot.
        self._array = entries if isinstance(entries, tuple) else ()
        return self._texts
