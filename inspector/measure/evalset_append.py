"""Adds labelled requests to a file so that no line can be lost."""

import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from inspector.access.evaluation import EvalCase
from inspector.config import content
from inspector.core.error import ConfigError
from inspector.measure.evalset import read_cases, write_cases


def is_there(path: Path) -> bool:
    """Whether the file exists. Raises ConfigError if it cannot be read."""
    return _content(path) is not None


def append_cases(path: Path, cases: Sequence[EvalCase]) -> None:
    """Add cases to a file, or create it. Existing content stays byte for byte. Raises ConfigError.

    The file is replaced atomically by a complete new one, so it is never half written. If another program
    changes it meanwhile, that program's version stays.
    """
    before = _content(path)
    if before is not None:
        read_cases(path)
    # A symbolic link stays a link; its target is replaced.
    target = path.resolve()
    if not target.parent.is_dir():
        raise content.unusable(path, NotADirectoryError("its folder does not exist"), "written")
    new = target.with_name(f".toolsight-{secrets.token_hex(4)}.tmp")
    try:
        write_cases(new, cases)
        _complete(new, before, target)
        if _content(target) != before:
            raise ConfigError(f"{path} has changed in the meantime, so nothing was added", hint="Try again.")
        new.replace(target)
    except OSError as error:
        raise content.unusable(path, error, "written") from error
    finally:
        with suppress(OSError):
            new.unlink()


def _complete(new: Path, before: bytes | None, target: Path) -> None:
    """Put the previous content before the added lines, and sync the file to disk."""
    added = new.read_bytes()
    kept = before or b""
    with new.open("wb") as file:
        file.write(kept + (b"\n" if kept and not kept.endswith(b"\n") else b"") + added)
        file.flush()
        os.fsync(file.fileno())
    if before is not None:
        shutil.copymode(target, new)


def _content(path: Path) -> bytes | None:
    """The file's bytes; None if it does not exist."""
    try:
        with content.open_file(path, "data set") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise content.unusable(path, error, "read") from error
