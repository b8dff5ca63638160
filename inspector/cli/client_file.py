"""A client's file that changes after a person's yes, with a backup."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.options import as_json, with_options
from inspector.config.client import ClientFile, client_file_of, client_files, is_there
from inspector.config.client_format import load_file, written_secrets
from inspector.config.file import read_bytes, read_text

_MARK = b"\xef\xbb\xbf"
CLIENTS = (
    *("claude-code", "claude-desktop", "cursor", "vscode", "windsurf", "cline", "gemini-cli"),
    *("codex", "zed", "copilot-cli", "qwen-code", "kiro"),
)
"""Clients in whose files servers are changed, as they are named on the command line."""
F = TypeVar("F", bound=Callable[..., Any])


def changes_file(*more: str) -> Callable[[F], F]:
    """The options of a command that changes a client's file: one of CLIENTS or `more`, or a file's path."""
    choice = click.Choice((*CLIENTS, *more))
    return with_options(
        click.option("--client", type=choice, help="The client whose configuration changes."),
        click.option(
            "--config", type=click.Path(path_type=Path), help="The configuration file that changes."
        ),
        click.option("--yes", is_flag=True, help="Do not ask; the change is still shown."),
        as_json,
    )


def files_of(client: str | None, config: Path | None) -> list[ClientFile]:
    """The files that there are of a client, by its name on the command line, or the one that is named."""
    known = client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
    if config is not None:
        return [client_file_of(config, known)]
    title = "vs-code" if client == "vscode" else client
    return [file for file in known if file.client.lower().replace(" ", "-") == title and is_there(file)]


def own_program() -> list[str]:
    """How this Toolsight is started, by whole paths: a client may have another PATH."""
    program = Path(sys.argv[0]).absolute()
    return [str(program)] if program.name == "toolsight" else [sys.executable, "-m", "inspector"]


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


def write_all_with_consent(
    after: Mapping[Path, bytes], *, yes: bool, notes: Iterable[str] = ()
) -> dict[Path, tuple[str, tuple[str, ...]]]:
    """Show what becomes of these files, and `notes`, ask once, and write them.

    Returns the path of each backup and the lines that differ. Raises ConfigError; Abort without a yes.
    """
    from inspector.cli.table import say
    from inspector.config.server_change import FileChange, replace_file
    from inspector.core.redaction import SECRETS, Redactor

    changes = {}
    for path, data in after.items():
        # The lines around what changes are shown, too: other servers' entries, with their keys.
        SECRETS.learn(written_secrets(load_file(path)))
        changes[path] = FileChange(str(path), read_bytes(path, "configuration"), data)
    lines = {path: change.diff(Redactor(SECRETS).text) for path, change in changes.items()}
    shown = (
        text for path in lines for text in (f"{path} would change:", *(f"  {line}" for line in lines[path]))
    )
    for text in (*shown, *notes):
        say(text, err=True)
    if changes and not yes and not click.confirm("Write it?", default=False, err=True):
        raise click.Abort
    return {
        path: (replace_file(path, change.before, change.after), lines[path])
        for path, change in changes.items()
    }
