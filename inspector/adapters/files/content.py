"""Reads files that people write; says why when one cannot be read."""

from pathlib import Path
from typing import Literal

from inspector.domain.error import ConfigError

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


def read_bytes(path: Path, kind: str, *, limit: int | None = None, missing: str = "Check the name.") -> bytes:
    """Read a file's bytes. Raises ConfigError.

    `kind` says in messages what the file should be; `missing` is the hint if it does not exist.
    """
    try:
        if path.is_dir():
            raise ConfigError(f"{path} is a folder", hint=f"Name the {kind} file in it.")
        with path.open("rb") as file:
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
