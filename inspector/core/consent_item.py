"""What a consent is stored for: one thing that runs or is reached, and the files that run, by content."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from inspector.core.number import count
from inspector.schema.json_value import canonical


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file that a command runs. `lines` are checksums of a script's lines, none for any other file.

    With `asks`, a changed one needs consent again: it lies outside the configuration's folder, belongs to
    another user, or the settings say so.
    """

    path: str
    digest: str
    lines: tuple[int, ...] = ()
    asks: bool = False


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that is not as it was when a person approved it: by so many `lines`, 0 if it has none."""

    path: str
    lines: int = 0
    is_new: bool = False

    @property
    def brief(self) -> str:
        """How much of the file changed, and its name."""
        return f"{self._how}: {PurePath(self.path).name}"

    @property
    def text(self) -> str:
        """The file, and how much of it changed."""
        return f"{self.path}: {self._how} since you approved it"

    @property
    def _how(self) -> str:
        if self.is_new:
            return "new"
        return f"{count(self.lines, 'line')} changed" if self.lines else "changed"


@dataclass(frozen=True, slots=True)
class ConsentItem:
    """One thing that a person approves: what it is, as a hash, and the files that it runs."""

    id: str
    server: str = ""
    files: tuple[RunFile, ...] = field(default=(), compare=False)


def item_id(*parts: Any) -> str:
    """The hash that stands for something to be approved."""
    return hashlib.sha256(canonical(list(parts)).encode()).hexdigest()


def changed_files(now: Sequence[RunFile], approved: Sequence[RunFile]) -> tuple[ChangedFile, ...]:
    """The files that are not as they were approved; one that is gone cannot run."""
    return tuple(change for _, change in _changes(now, approved))


def asking_files(now: Sequence[RunFile], approved: Sequence[RunFile]) -> tuple[ChangedFile, ...]:
    """The changed files that need consent again."""
    return tuple(change for file, change in _changes(now, approved) if file.asks)


def _changes(now: Sequence[RunFile], approved: Sequence[RunFile]) -> Iterator[tuple[RunFile, ChangedFile]]:
    before = {file.path: file for file in approved}
    for file in now:
        known = before.get(file.path)
        if known is None:
            yield file, ChangedFile(file.path, is_new=True)
        elif known.digest != file.digest:
            yield file, ChangedFile(file.path, _changed_lines(known.lines, file.lines))


def _changed_lines(before: Sequence[int], after: Sequence[int]) -> int:
    """How many lines came, went or became others; at least one, as lines may only have been moved."""
    if not (before or after):
        return 0
    old, new = Counter(before), Counter(after)
    return max((old - new).total(), (new - old).total(), 1)
