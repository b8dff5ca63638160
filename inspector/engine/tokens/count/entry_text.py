"""The compact JSON of `tools` entries, written once as long as an entry stays the same object."""

from collections.abc import Iterable
from typing import Any

from inspector.domain.jsonvalue import compact


class EntryTexts:
    """Remembers the entries it was asked for last."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[dict[str, Any], str]] = {}

    def of(self, entries: Iterable[dict[str, Any]]) -> list[str]:
        """The text of each entry."""
        fresh: dict[int, tuple[dict[str, Any], str]] = {}
        texts = []
        for entry in entries:
            kept = self._kept.get(id(entry))
            text = kept[1] if kept is not None and kept[0] is entry else compact(entry)
            fresh[id(entry)] = (entry, text)
            texts.append(text)
        self._kept = fresh
        return texts
