"""Reads files that people write; says why when one cannot be read."""

import os
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, Literal

from inspector.core.error import ConfigError

MEGABYTE = 1024 * 1024
MAX_BYTES = 16 * MEGABYTE
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


def unusable(path: Path, error: Exception, verb: Literal["read", "written"]) -> ConfigError:
    """The error for a file that the operating system does not let us read or write."""
    reason = getattr(error, "strerror", None) or error
    return ConfigError(f"{path} cannot be {verb}: {reason}", hint=_HINTS[verb])
