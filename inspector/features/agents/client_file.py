"""A client's file that changes after a person's yes, with a backup, and gets back the bytes it had."""

from collections.abc import Callable
from pathlib import Path

import click

from inspector.config.client_format import load_file, written_secrets
from inspector.config.file import read_bytes, read_text
from inspector.core.error import ConfigError

_MARK = b"\xef\xbb\xbf"


def text_of(path: Path) -> str:
    """The text of a file, without a byte order mark. Raises ConfigError."""
    return read_text(path, "configuration").removeprefix("\ufeff")


def encoded(path: Path, text: str) -> bytes:
    """The text in bytes, with the byte order mark that the file has."""
    return (_MARK if read_bytes(path, "configuration").startswith(_MARK) else b"") + text.encode()


def backups(path: Path) -> list[Path]:
    """The backups of a file, the newest first."""
    found = path.resolve().parent.glob(f"{path.resolve().name}.bak*")
    return sorted(found, key=lambda backup: backup.stat().st_mtime_ns, reverse=True)


def bytes_before(path: Path, change: Callable[[str], str]) -> bytes | None:
    """The bytes of the backup that the change was made to, if nothing else has changed since."""
    now = path.read_bytes()
    for backup in backups(path):
        try:
            if encoded(path, change(text_of(backup))) == now:
                return backup.read_bytes()
        except (ConfigError, KeyError, ValueError, OSError):
            continue
    return None


def write_with_consent(
    path: Path, after: bytes, *, yes: bool, notes: tuple[str, ...] = (), backs_up: bool = True
) -> tuple[str, tuple[str, ...]]:
    """Show what becomes of a file, and `notes`, ask, and write it.

    Returns the path of the backup and the lines that differ. Raises ConfigError; Abort without a yes.
    """
    from inspector.cli.table import say
    from inspector.config.server_change import FileChange, replace_file
    from inspector.core.redaction import SECRETS, Redactor

    # The lines around what changes are shown, too: other servers' entries, with their keys.
    SECRETS.learn(written_secrets(load_file(path)))
    change = FileChange(str(path), read_bytes(path, "configuration"), after)
    lines = change.diff(Redactor(SECRETS).text)
    say(f"{path} would change:", err=True)
    for line in (*(f"  {line}" for line in lines), *notes):
        say(line, err=True)
    if not yes and not click.confirm("Write it?", default=False, err=True):
        raise click.Abort
    return replace_file(path, change.before, change.after, backs_up=backs_up), lines
