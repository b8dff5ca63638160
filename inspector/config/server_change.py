"""A server that comes to a configuration or leaves it: what is shown before a yes, and the file after it."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from inspector.config.configuration import Configuration
from inspector.config.consent import ServerConsent, describe
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.schema.json_value import JsonObject

_CONTEXT = 2
# A shorter text stands in many a word.
_SHORTEST_COVERED = 4


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file's bytes before and after. It is written only if it still is as it was `before`."""

    path: str
    before: bytes
    after: bytes

    def diff(self, redact: Callable[[str], str]) -> tuple[str, ...]:
        """The lines that change, with a little of what is around them; `redact` takes secrets out."""
        before, after = (data.decode("utf-8", "replace").splitlines() for data in (self.before, self.after))
        lines = difflib.unified_diff(before, after, lineterm="", n=_CONTEXT)
        return tuple(redact(line) for line in lines if not line.startswith(("---", "+++")))


@dataclass(frozen=True, slots=True)
class ServerChange:
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


class ServerEditor(Protocol):
    """Changes which servers a configuration's file has. Nothing is written before `write`."""

    def with_server(self, configuration: Configuration, name: str, entry: JsonObject) -> ServerChange:
        """What the file and the configuration become with one more server. Raises ConfigError."""
        ...

    def without_server(self, configuration: Configuration, name: str) -> ServerChange:
        """What the file and the configuration become without a server. Raises ConfigError."""
        ...

    def write(self, change: FileChange) -> str:
        """Write the change, if the file is still as it was; return the path of the backup.

        Raises ConfigError, and then the file and what is beside it are as they were.
        """
        ...


class NoEditor:
    """A `ServerEditor` where nothing can be changed."""

    def with_server(self, configuration: Configuration, name: str, entry: JsonObject) -> ServerChange:  # noqa: ARG002
        """Refuse."""
        raise ConfigError(f"{name} cannot be installed here")

    def without_server(self, configuration: Configuration, name: str) -> ServerChange:  # noqa: ARG002
        """Refuse."""
        raise ConfigError(f"{name} cannot be removed here")

    def write(self, change: FileChange) -> str:
        """Refuse."""
        raise ConfigError(f"{change.path} cannot be written here")


@dataclass(frozen=True, slots=True)
class Addition:
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


@dataclass(frozen=True, slots=True)
class Removal:
    """A server that would be removed from the configuration and the session."""

    server: str
    becomes: ServerChange
    based_on: Configuration
