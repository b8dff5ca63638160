"""The servers in a client's files that a tap stands before, or may: found, and changed as text."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from inspector.cli.client_file import backups as newest_backups, files_of, own_program, text_of
from inspector.config.client_format import PLACES, SECTIONS, URLS, load_file, named, passed_names
from inspector.config.configuration import without_secrets
from inspector.config.entry_command import (
    reverted,
    with_command_ahead,
    with_command_instead,
    without_command_ahead,
)
from inspector.config.text_edit import entry_at, parsed
from inspector.core.error import ConfigError
from inspector.schema.json_value import as_object

_SIGNS_IN = ("headersHelper", "env_http_headers", "oauth", "auth", "requestOptions", "authProviderType")
_ALREADY, _DISABLED = "it is tapped already", "it is disabled"


class NotTapped(Exception):
    """Why an entry is left as it is, as the end of a sentence."""


class Entry(Struct, frozen=True):
    """A server's entry in a client's file; `at` are the keys that lead to it."""

    path: Path
    at: tuple[str, ...]
    entry: dict[str, Any]

    @property
    def server(self) -> str:
        return self.at[-1]

    @property
    def url_key(self) -> str:
        """The key of its address, "" without one."""
        return next((name for name in URLS if isinstance(self.entry.get(name), str)), "")

    @property
    def tap(self) -> list[str]:
        """The words of the tap that it starts, of this Toolsight or one that was elsewhere; none without."""
        args = self.entry.get("args")
        words = [self.entry.get("command", self.entry.get("cmd")), *(args if isinstance(args, list) else ())]
        end = words.index("--") + 1 if "--" in words else 0
        return (
            words[:end] if "tap" in words[:end] and words[:end][-3:] == ["--name", self.server, "--"] else []
        )

    def require_untapped(self) -> None:
        """Raises NotTapped for what `--all` leaves as it is."""
        if self.tap:
            raise NotTapped(_ALREADY)
        if self.entry.get("disabled") is True or self.entry.get("enabled") is False:
            raise NotTapped(_DISABLED)

    def tapped(self, text: str, words: Sequence[str] = ()) -> str:
        """The text of its file with a tap before it, by default this Toolsight's. Raises NotTapped."""
        entry, key, suffix = self.entry, self.url_key, self.path.suffix
        if not words and self.tap:
            raise NotTapped(_ALREADY)
        try:
            if not key:
                return with_command_ahead(text, self.at, words or self._words(), suffix)
            signs_in = next((name for name in _SIGNS_IN if entry.get(name)), "")
            if signs_in or entry.get("type") == "sse":
                raise NotTapped(
                    f"a tap cannot pass on `{signs_in}`" if signs_in else "it speaks the older SSE"
                )
            if "${" in entry[key] or without_secrets([entry[key]]) != [entry[key]]:
                raise NotTapped("its address has a variable or a secret, which a command line would show")
            return with_command_instead(text, self.at, key, [*(words or self._words()), entry[key]], suffix)
        except (KeyError, ValueError):
            raise NotTapped("it has no plain command or address, or only you can edit it") from None

    def _words(self) -> list[str]:
        """The words of a new tap."""
        sent = [*as_object(self.entry.get("headers")), *as_object(self.entry.get("http_headers"))]
        headers = [word for name in sent for word in ("--header", name)] if self.url_key else []
        if self.url_key and isinstance(bearer := self.entry.get("bearer_token_env_var"), str):
            headers += ["--bearer", bearer]
        kept = [name for name in passed_names(self.entry) if not headers or name not in sent]
        secrets = [word for name in kept for word in ("--redact", name)]
        return [*own_program(), "tap", *headers, *secrets, "--name", self.server, "--"]

    def untapped(self, text: str, backups: Sequence[str]) -> str:
        """The text of its file without its tap, by the newest backup that has the entry as it was.

        Raises NotTapped.
        """
        words, suffix = self.tap, self.path.suffix
        url = self.entry["args"][len(words) - 1 :]
        for backup in backups:
            with suppress(NotTapped, ConfigError, KeyError, ValueError):
                was = Entry(self.path, self.at, entry_at(parsed(backup, suffix), self.at))
                if was.url_key and [was.entry[was.url_key]] == url:
                    return reverted(text, self.at, was.tapped(backup, words), backup, suffix)
        try:
            if url[0].startswith(("http://", "https://")):
                raise KeyError(url[0])
            return without_command_ahead(text, self.at, words, suffix)
        except (IndexError, KeyError, ValueError):
            told = "its tap was changed by hand: what follows `--` is the server's own command or address"
            raise NotTapped(told) from None


def entries(client: str | None, config: Path | None, server: str = "") -> tuple[list[Entry], str]:
    """The entries of a client's files, or of one file, and where they were looked for. Raises ConfigError.

    Of a `server` it is those of that name for this folder, what the client prefers first.
    """
    files, found = files_of(client, config), []
    for file in files:
        data = load_file(file.path)
        for place in _places([str(Path.cwd())] if server else list(as_object(data.get("projects")))):
            section = _at(data, place)
            for name in [server] if server else named(section):
                if entry := entry_at(section, (name,)):
                    # What is nearer wins: the project's part of the client's own file, then its own file.
                    found.append(
                        (len(place) < 3, file.scope != "project", Entry(file.path, (*place, name), entry))
                    )
    if server:
        found.sort(key=lambda one: one[:2])
    where = ", ".join(str(file.path) for file in files) or f"a file of {client}"
    return [one[2] for one in found], where


def _places(folders: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The keys that may lead to servers, in any client's file."""
    yield from (("projects", folder, name) for folder in folders for name in SECTIONS)
    yield from PLACES


def _at(data: Any, place: Sequence[str]) -> Any:
    for key in place:
        data = as_object(data).get(key)
    return data


Left = list[tuple[Entry, str]]
"""Entries that stay as they are, and why."""


def each(text: str, entries: Sequence[Entry], change: Callable[[str, Entry], str], left: Left) -> str:
    """The text after a change for each entry; what cannot be changed is added to `left`."""
    for one in entries:
        try:
            text = change(text, one)
        except NotTapped as error:
            left.append((one, str(error)))
    return text


def without_taps(path: Path, text: str, tapped: Sequence[Entry], left: Left) -> str:
    """The text without these taps: that of the backup they were added to, if it has not changed otherwise."""
    backups = []
    for file in newest_backups(path):
        with suppress(ConfigError):
            backups.append(text_of(file))
    for backup in backups:
        with suppress(NotTapped, ConfigError, KeyError, ValueError):
            data = parsed(backup, path.suffix)
            was = {one.at: Entry(path, one.at, entry_at(data, one.at)) for one in tapped}
            added, before = [one for one in tapped if not was[one.at].tap], backup
            for one in added:
                before = was[one.at].tapped(before, one.tap)
            if added and before == text:
                return without_taps(path, backup, [one for one in tapped if one not in added], left)
    return each(text, tapped, lambda now, one: one.untapped(now, backups), left)
