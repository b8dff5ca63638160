"""Servers that come to a configuration or leave it: what is shown before a yes, and the edit of the file.

Files are replaced at once, with a backup, and everything else in them stays as it is written.
"""

import difflib
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.config.client_format import OTHER_FORMATS, SECTIONS, place_of, servers_in, written_secrets
from inspector.config.configuration import Configuration
from inspector.config.consent import ServerConsent, describe
from inspector.config.file import MAX_BYTES, is_file, parse_object, read_bytes, read_text, unusable
from inspector.config.text_edit import entry_at, with_item, without_member
from inspector.core.error import ConfigError
from inspector.core.redaction import SECRETS
from inspector.core.server import ServerSpec
from inspector.schema.json_value import JsonObject

_CONTEXT = 2
# A shorter text stands in many a word.
_SHORTEST_COVERED = 4


class FileChange(Struct, frozen=True):
    """A file's bytes before and after. It is written only if it still is as it was `before`."""

    path: str
    before: bytes
    after: bytes

    def diff(self, redact: Callable[[str], str]) -> tuple[str, ...]:
        """The lines that change, with a little of what is around them; `redact` takes secrets out."""
        before, after = (data.decode("utf-8", "replace").splitlines() for data in (self.before, self.after))
        lines = difflib.unified_diff(before, after, lineterm="", n=_CONTEXT)
        return tuple(redact(line) for line in lines if not line.startswith(("---", "+++")))


class ServerChange(Struct, frozen=True):
    """A server that comes to a configuration or leaves it; `configuration` is what it would be.

    Without a `change` of the file it is for this session alone, and `note` says why.
    """

    server: str
    configuration: Configuration
    change: FileChange | None = None
    note: str = ""

    @property
    def path(self) -> str:
        """The file that changes; "" if none does."""
        return self.change.path if self.change is not None else ""

    def diff(self, redact: Callable[[str], str]) -> tuple[str, ...]:
        """The lines of the file that change; `redact` takes secrets out."""
        return self.change.diff(redact) if self.change is not None else ()


class Addition(Struct, frozen=True):
    """A server as it would be added: exactly what is started, and what becomes of the file.

    `name` and `version` are those of what it is made of. `based_on` is the configuration that it was worked
    out for.
    """

    name: str
    version: str
    spec: ServerSpec
    becomes: ServerChange
    based_on: Configuration

    @property
    def server(self) -> str:
        return self.spec.name

    @property
    def consent(self) -> ServerConsent:
        """What a yes allows, as every start of a server is asked for, without what was given as a secret."""
        alone = replace(self.becomes.configuration, servers=(self.spec,), predicates="", named=())
        asked = describe(alone)[0]
        return replace(asked, argv=tuple(map(self.covered, asked.argv)), url=self.covered(asked.url))

    def covered(self, text: str) -> str:
        """The text without what the person gave as a secret, and no more: all else is to be looked at."""
        for name, value in self.spec.concealed.items():
            if len(value) >= _SHORTEST_COVERED:
                text = text.replace(value, f"[redacted {name}]")
        return text


class Removal(Struct, frozen=True):
    """A server that would be removed from the configuration and the session."""

    server: str
    becomes: ServerChange
    based_on: Configuration


_NOTHING: Mapping[str, str] = {}
_NO_FILE = "Nothing is saved: without a configuration file of your own, the change ends with the session."
_ALL_WRITERS = 0o222
_OWNER_ALONE = 0o600


class ConfigurationEditor:
    """Changes the file of a configuration in Toolsight's own format or a client's; nothing before `write`."""

    def __init__(self, environment: Mapping[str, str], inputs: Mapping[str, str] = _NOTHING) -> None:
        """`environment` and `inputs` are what a configuration's references stand for."""
        self._environment = environment
        self._inputs = inputs

    def with_server(self, configuration: Configuration, name: str, entry: JsonObject) -> ServerChange:
        """What the file and the configuration become with one more server. Raises ConfigError.

        What is Toolsight's own, or was typed, has no file to change: the server is for the session alone.
        """
        if not _has_file(configuration):
            alone = self._read(Path(configuration.source), {"mcpServers": {name: dict(entry)}})
            waiting = replace(alone.servers[0], defer_loading=True)
            servers = (*configuration.servers, waiting)
            return ServerChange(name, replace(configuration, servers=servers), note=_NO_FILE)
        path = Path(configuration.source)

        def added(text: str, section: tuple[str, ...], data: Mapping[str, Any]) -> str:
            if name in entry_at(data, section):
                raise ConfigError(f"{path} already has a server '{name}'", hint="Remove or rename it first.")
            entries = [one for one in entry_at(data, section).values() if isinstance(one, Mapping)]
            deferred = {"defer_loading": True} if any("defer_loading" in one for one in entries) else {}
            return with_item(text, (*section, name), {**entry, **deferred})

        change, data = self._changed(path, added)
        after = self._read(path, data)
        spec = next(one for one in after.servers if one.name == name)
        servers = (*configuration.servers, spec)
        return ServerChange(name, replace(configuration, servers=servers), change)

    def without_server(self, configuration: Configuration, name: str) -> ServerChange:
        """What the file and the configuration become without a server. Raises ConfigError.

        The last one may go, too: the file has no servers then.
        """
        servers = tuple(one for one in configuration.servers if one.name != name)
        becomes = ServerChange(name, replace(configuration, servers=servers), note=_NO_FILE)
        if not _has_file(configuration):
            return becomes
        path = Path(configuration.source)

        def removed(text: str, section: tuple[str, ...], data: Mapping[str, Any]) -> str:
            if name not in entry_at(data, section):
                raise ConfigError(
                    f"{path} has no server '{name}'",
                    hint="The file has changed since you opened it: open it again.",
                )
            return without_member(text, section, name)

        change, data = self._changed(path, removed)
        self._read(path, data, may_be_empty=True)
        return replace(becomes, change=change, note="")

    def _changed(
        self, path: Path, change: Callable[[str, tuple[str, ...], Mapping[str, Any]], str]
    ) -> tuple[FileChange, Mapping[str, Any]]:
        """The file before and after, and what it would say."""
        if path.suffix in OTHER_FORMATS:
            hint = "Edit the file by hand; `toolsight marketplace show NAME` prints a server's command."
            raise ConfigError(f"{path} is not JSON, so Toolsight cannot edit it", hint=hint)
        before = read_bytes(path, "configuration", limit=MAX_BYTES)
        _require_writable(path)
        text = read_text(path, "configuration", limit=MAX_BYTES).removeprefix("\ufeff")
        data = parse_object(path, text)
        try:
            changed = change(text, _section(data), data)
        except (KeyError, IndexError) as error:
            raise ConfigError(
                f"{path} is written in a way that Toolsight cannot edit", hint="Edit it by hand."
            ) from error
        SECRETS.learn(written_secrets(data))
        mark = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
        return FileChange(str(path), before, mark + changed.encode()), parse_object(path, changed)

    def _read(self, path: Path, data: Mapping[str, Any], *, may_be_empty: bool = False) -> Configuration:
        """The configuration that it would be, read as at the next start."""
        # It imports pydantic, which a session does not need otherwise.
        from inspector.config.reader import read

        return read(path, data, environment=self._environment, inputs=self._inputs, may_be_empty=may_be_empty)

    def write(self, change: FileChange) -> str:
        """Write the change; return the path of the backup. Raises ConfigError; then nothing has changed."""
        return replace_file(Path(change.path), change.before, change.after)


def replace_file(path: Path, before: bytes, after: bytes, *, backs_up: bool = True) -> str:
    """Put new bytes in place of those a file had, at once; return the path of the backup, "" for none.

    The file keeps its mode, and a symbolic link stays a link. Raises ConfigError, also for a file that has
    changed; then nothing has changed.
    """
    target = path.resolve()
    new = target.with_name(f".toolsight-{secrets.token_hex(4)}.tmp")
    try:
        _require_writable(path)
        _create(new, after, like=target)
        if target.read_bytes() != before:
            raise ConfigError(f"{path} has changed in the meantime, so it was left alone", hint="Try again.")
        backup = _backed_up(target, before) if backs_up else None
        try:
            new.replace(target)
        except OSError:
            if backup is not None:
                backup.unlink()
            raise
    except OSError as error:
        raise unusable(path, error, "written") from error
    finally:
        with suppress(OSError):
            new.unlink()
    return str(backup or "")


def _has_file(configuration: Configuration) -> bool:
    """Whether a file of the person's own is behind it: the demo's and what was typed are trusted instead."""
    return not configuration.trusted and is_file(Path(configuration.source))


def _section(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys that lead to the servers, as `normalised` finds them; KeyError if none of ours do."""
    place = place_of(data)
    if place[-1] not in SECTIONS or not isinstance(servers_in(data), dict):
        raise KeyError(place[-1])
    return place


def _require_writable(path: Path) -> None:
    """Raises ConfigError for a file that its owner keeps from being written, even by those who could."""
    try:
        closed = not path.stat().st_mode & _ALL_WRITERS or not os.access(path, os.W_OK)
    except OSError as error:
        raise unusable(path, error, "written") from error
    if closed:
        raise unusable(path, PermissionError("it is read-only"), "written")


def _create(path: Path, data: bytes, *, like: Path) -> None:
    """A new file with the mode of another; nobody else reads it before, and no half of it stays.

    Raises OSError, also if there is a file of that name.
    """
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ALONE)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(like, path)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _backed_up(target: Path, data: bytes) -> Path:
    """A backup under the first name that is not taken: none replaces an earlier one. Raises OSError."""
    number, backup = 2, target.with_name(f"{target.name}.bak")
    while True:
        try:
            _create(backup, data, like=target)
        except FileExistsError:
            number, backup = number + 1, target.with_name(f"{target.name}.bak{number}")
        else:
            return backup
