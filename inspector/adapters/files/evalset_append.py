"""Writing files of labelled requests so that no line of them can be lost."""

import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from inspector.adapters.files import content
from inspector.adapters.files.evalset import read_cases, write_cases
from inspector.domain.error import ConfigError
from inspector.domain.evaluation import EvalCase


def is_there(path: Path) -> bool:
    """Whether there is such a file. Raises ConfigError where it cannot be read."""
    return _content(path) is not None


def append_cases(path: Path, cases: Sequence[EvalCase]) -> None:
    """Add cases to a file, or make it. What is in it stays byte for byte. Raises ConfigError.

    The file is replaced at once by a whole new one: it is never half written. A file that another program
    changes meanwhile is left as that program made it.
    """
    before = _content(path)
    if before is not None:
        read_cases(path)
    # A link stays one: what it leads to is replaced.
    target = path.resolve()
    if not target.parent.is_dir():
        raise content.unusable(path, NotADirectoryError("it has no folder"), "written")
    new = target.with_name(f".toolsight-{secrets.token_hex(4)}.tmp")
    try:
        write_cases(new, cases)
        _complete(new, before, target)
        if _content(target) != before:
            raise ConfigError(f"{path} was changed meanwhile, so nothing was added", hint="Try it again.")
        new.replace(target)
    except OSError as error:
        raise content.unusable(path, error, "written") from error
    finally:
        with suppress(OSError):
            new.unlink()


def _complete(new: Path, before: bytes | None, target: Path) -> None:
    """Put what was there before in front of the added lines, on the disk."""
    added = new.read_bytes()
    kept = before or b""
    with new.open("wb") as file:
        file.write(kept + (b"\n" if kept and not kept.endswith(b"\n") else b"") + added)
        file.flush()
        os.fsync(file.fileno())
    if before is not None:
        shutil.copymode(target, new)


def _content(path: Path) -> bytes | None:
    """None where there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise content.unusable(path, error, "read") from error
