"""Reads files that people write, and notices that they change; says why one cannot be read."""

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Literal, NoReturn

from inspector.core.error import ConfigError

MEGABYTE = 1024 * 1024
MAX_BYTES = 16 * MEGABYTE
RUNNERS = {".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "bun", ".rb": "ruby"}
"""What runs a script, by its suffix."""
_HINTS = {
    "read": "Check the name and the file's permissions.",
    "written": "Check that its folder exists and is writable.",
}


def is_file(path: Path) -> bool:
    """Whether the path is a file, for any text that a person typed: one that cannot be a path is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_address(word: str) -> bool:
    """Whether a word is a server's address."""
    return word.startswith(("http://", "https://"))


def names_a_server(words: Sequence[str]) -> bool:
    """Whether words without an option can only mean a server: an address, a file, or a command with words."""
    first = words[0]
    return is_address(first) or is_file(Path(first)) or (len(words) > 1 and shutil.which(first) is not None)


def is_server(word: str) -> bool:
    """Whether a word that follows a command's own can only be a server: an address, a script, a listing."""
    path = Path(word)
    return is_address(word) or (path.suffix in {*RUNNERS, ".json", ".jsonl"} and is_file(path))


def is_folder(path: Path) -> bool:
    """Whether the path is a folder, for any text, as `is_file`."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def open_file(path: Path, kind: str) -> BinaryIO:
    """The file, for reading. A pipe may never end and reading a device may do anything: both are refused.

    Raises ConfigError for those and for a folder, OSError or ValueError for what cannot be opened.
    """
    if path.is_dir():
        raise ConfigError(f"{path} is a folder", hint=f"Specify the {kind} file inside it.")
    hint = f"Cannot read from a pipe or device: save the {kind} to a file and pass that."
    # Some devices act on being opened, and whatever the name stood for may be a pipe by now.
    if S_ISREG(path.stat().st_mode):
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
        if S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        file.close()
    raise ConfigError(f"{path} is not a regular file", hint=hint)


def read_bytes(path: Path, kind: str, *, limit: int | None = None, missing: str = "Check the name.") -> bytes:
    """Read a file's bytes. Raises ConfigError.

    `kind` says in messages what the file should be; `missing` is the hint if it does not exist.
    """
    try:
        with open_file(path, kind) as file:
            data = file.read(-1 if limit is None else limit + 1)
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist", hint=missing) from error
    except (OSError, ValueError) as error:
        raise unusable(path, error, "read") from error
    if limit is not None and len(data) > limit:
        hint = f"Is it really a {kind} file?"
        raise ConfigError(f"{path} is larger than {limit // MEGABYTE} MB", hint=hint)
    return data


def read_text(path: Path, kind: str, *, limit: int | None = None, missing: str = "Check the name.") -> str:
    """Read a file's text, without its byte order mark. Raises ConfigError."""
    data = read_bytes(path, kind, limit=limit, missing=missing)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line} is not UTF-8", hint="Save the file as UTF-8.") from error


_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)")
_QUOTED = re.compile(r"([\"'])(.*?)\1\s*(?:#.*)?")


def environment_of(path: Path) -> dict[str, str]:
    """The variables in a file of lines `NAME=value`, of at most 1 MB; skips others. Raises ConfigError."""
    found = {}
    for line in read_text(path, "environment", limit=MEGABYTE).splitlines():
        if match := _ASSIGNMENT.fullmatch(line):
            quoted = _QUOTED.fullmatch(match[2])
            found[match[1]] = quoted[2] if quoted else match[2].partition(" #")[0].rstrip()
    return found


def unusable(path: Path, error: Exception, verb: Literal["read", "written"]) -> ConfigError:
    """The error for a file that the operating system does not let us read or write."""
    reason = getattr(error, "strerror", None) or error
    return ConfigError(f"{path} cannot be {verb}: {reason}", hint=_HINTS[verb])


_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_PLAIN = "Comments and trailing commas are fine; everything else must be plain JSON, in double quotes."
_EXPECTED = 'Write an object: { "mcpServers": { … } }.'


def dotted(at: str, key: str) -> str:
    """A key's path as messages show it; a key that would break the path is quoted."""
    shown = key if re.fullmatch(r"[\w-]+", key) else json.dumps(key, ensure_ascii=False)
    return f"{at}.{shown}" if at else shown


def load_object(path: Path) -> dict[str, Any]:
    """Read a configuration file's object. Raises ConfigError with the file and, if known, line and column."""
    missing = "Check the name, or run `toolsight demo` to start without a file."
    return parse_object(path, read_text(path, "configuration", limit=MAX_BYTES, missing=missing))


def parse_object(path: Path, text: str) -> dict[str, Any]:
    """The object in the text of a file. Raises ConfigError with the file and, if known, line and column."""
    if not text.strip():
        raise ConfigError(f"{path} is empty", hint=_EXPECTED)
    value = _parsed(path, text)
    if not isinstance(value, dict):
        raise ConfigError(f"{path} is not a JSON object", hint=_EXPECTED)
    return value


def load_document(path: Path, kind: str) -> Any:
    """Read JSON with comments and trailing commas, without keys that appear twice. Raises ConfigError."""
    return _parsed(path, read_text(path, kind, limit=MEGABYTE))


def load_lines(path: Path, *, limit: int | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the objects of JSON Lines, each with its file and line; skips blank lines. Raises ConfigError."""
    decoder = json.JSONDecoder(parse_constant=_constant)
    for number, line in enumerate(read_text(path, "data set", limit=limit).split("\n"), 1):
        if line.strip():
            place = f"{path}:{number}"
            yield place, _line_object(place, line, decoder)


def load_value(path: Path, kind: str, *, hint: str, limit: int = 4 * MAX_BYTES) -> Any:
    """Read any JSON, or JSON Lines as the list of their objects; `kind` and `hint` are for errors.

    Raises ConfigError.
    """
    text = read_text(path, kind, limit=limit)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply", hint=hint) from error
    except ValueError as error:
        if text.lstrip().startswith("{") and "\n" in text.strip():
            return [value for _, value in load_lines(path)]
        raise ConfigError(f"{path} is not JSON: {error}", hint=hint) from error


def _line_object(place: str, line: str, decoder: json.JSONDecoder) -> dict[str, Any]:
    problem = "is not a JSON object"
    try:
        value = decoder.decode(line)
        if isinstance(value, dict):
            return value
    except (RecursionError, ValueError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"
    raise ConfigError(f"{place} {problem}", hint="Write one JSON object on each line.")


def _parsed(path: Path, text: str) -> Any:
    """The value, in which no key appears twice."""
    try:
        try:
            return _decoded(text)
        except json.JSONDecodeError:
            return _decoded(bare_json(text))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error
    except json.JSONDecodeError as error:
        fault = error.msg[:1].lower() + error.msg[1:]
        raise ConfigError(f"{path}:{error.lineno}:{error.colno}: {fault}", hint=_PLAIN) from error
    except (RecursionError, ValueError) as error:
        reason = "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be read: {error}"
        raise ConfigError(f"{path} {reason}", hint="Is it really a configuration file?") from error


def bare_json(text: str) -> str:
    """The text with spaces in place of comments and trailing commas: every character keeps its position."""
    return _STRING_OR_COMMA.sub(_blank(","), without_comments(text))


def without_comments(text: str) -> str:
    """The text with spaces in place of its comments: everything else keeps its position."""
    return _STRING_OR_COMMENT.sub(_blank("/"), text)


def _decoded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"{dotted('', twice)} appears twice", hint="Keep one of them.")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _blank(marker: str) -> Any:
    def replaced(match: re.Match[str]) -> str:
        text = match.group()
        return re.sub(r"[^\n]", " ", text) if text.startswith(marker) else text

    return replaced


_CHUNK = 1 << 20


def followed_lines(path: Path, wait: Callable[[], bool]) -> Iterator[bytes | None]:
    """Yield each whole line of the file, and None whenever there is no more for now.

    Then `wait` waits a moment, and returns False to end. A line counts once its end is there. Raises
    ConfigError if the file cannot be read.
    """
    try:
        with open_file(path, "transcript") as file:
            rest = b""
            while True:
                if chunk := file.read(_CHUNK):
                    *lines, rest = (rest + chunk).split(b"\n")
                    yield from lines
                    continue
                yield None
                if not wait():
                    return
    except (OSError, ValueError) as error:
        raise unusable(path, error, "read") from error


_EVERY = 0.5
State = dict[Path, tuple[int, int]]


async def changes(files: Callable[[], Iterable[Path]]) -> AsyncIterator[None]:
    """Yield whenever the files have changed; they are listed and looked at in a thread.

    They are listed again when one of them, or what else is in their folders, has changed.
    """
    listed: list[Path] = []
    around: State = {}

    def look() -> State:
        nonlocal listed, around
        if not listed or _with_folders(listed) != around:
            listed = list(files())
            around = _with_folders(listed)
        return {path: around[path] for path in listed if path in around}

    import asyncio

    looks = Looks(await asyncio.to_thread(look))
    while True:
        await asyncio.sleep(_EVERY)
        if looks.changed(await asyncio.to_thread(look)):
            yield


def _with_folders(files: Sequence[Path]) -> State:
    return file_state((*files, *{path.parent for path in files}))


class Looks:
    """Compares one look at files with the next: editors write in steps, so a change has to come to rest."""

    def __init__(self, state: State) -> None:
        self._told = self._last = state

    def changed(self, now: State) -> bool:
        """Whether files have changed since the last report, and are as they were at the last look."""
        at_rest, self._last = now == self._last, now
        if not at_rest or now == self._told:
            return False
        self._told = now
        return True


def file_state(files: Iterable[Path]) -> State:
    """When each file was last written, and its size."""
    state: State = {}
    for path in files:
        try:
            found = path.stat()
        except OSError:
            continue
        state[path] = (found.st_mtime_ns, found.st_size)
    return state
