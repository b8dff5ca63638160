"""Finds recorded runs in a folder and recognizes their format by what is in the files."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inspector.config.file import MEGABYTE, load_value
from inspector.core.error import ConfigError
from inspector.mcp.recorded_link import RecordedRun
from inspector.scenario.recording import bfcl, livemcpbench, mcpmark, toolathlon

MAX_BYTES = 256 * MEGABYTE
_FORMATS = (mcpmark, livemcpbench, toolathlon, bfcl)
_NAMES = ", ".join(one.NAME for one in _FORMATS)
_HINT = f"Formats: {_NAMES}. docs/papers/recorded-runs.md describes their files."


@dataclass(frozen=True, slots=True)
class Recordings:
    """The runs of a folder in the order of their files, how many have which format, and other files."""

    runs: tuple[RecordedRun, ...]
    formats: Mapping[str, int] = field(default_factory=dict)
    others: int = 0

    def sampled(self, limit: int | None) -> tuple[RecordedRun, ...]:
        """At most `limit` runs, evenly spread over the folder and always the same ones."""
        if limit is None or limit >= len(self.runs):
            return self.runs
        return tuple(self.runs[number * len(self.runs) // limit] for number in range(limit))


def read_runs(
    folder: Path, progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None
) -> Recordings:
    """Read every recording in a folder, also in folders below; a file of another kind is only counted.

    Raises ConfigError if there is none, or at the first recording with a fault: with lost runs, every
    figure is about something else.
    """
    if not folder.exists():
        raise ConfigError(f"{folder} does not exist", hint="Pass a folder with recorded runs.")
    paths = [folder] if folder.is_file() else sorted(_files(folder))
    runs: list[RecordedRun] = []
    formats: Counter[str] = Counter()
    others = 0
    for number, path in enumerate(paths):
        progress("recordings read", number, len(paths))
        found = _read(path, path.name if folder.is_file() else path.relative_to(folder).as_posix())
        if found is None:
            others += 1
            continue
        formats[found[0]] += len(found[1])
        runs += found[1]
    if not runs:
        raise ConfigError(f"{folder} has no recorded runs that Toolsight can read", hint=_HINT)
    return Recordings(tuple(runs), dict(formats), others)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.json*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in (".json", ".jsonl") and not hidden and path.is_file():
            yield path


def _read(path: Path, run_id: str) -> tuple[str, list[RecordedRun]] | None:
    """The format and runs of a file, or None if it is no recording."""
    data = load_value(path, "recording", hint=_HINT, limit=MAX_BYTES)
    for one in _FORMATS:
        runs = one.read(path, data, run_id)
        if runs is not None:
            return one.NAME, runs
    return None
