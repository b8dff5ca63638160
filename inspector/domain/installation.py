"""What installing or removing a server would change, shown to a person before it is done."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePath

from inspector.domain.configuration import Configuration
from inspector.domain.consent import Fact, ServerConsent, describe
from inspector.domain.plugin import Package, PackageKind, Plugin
from inspector.domain.redaction import Redactor
from inspector.domain.server import ServerSpec

_CONTEXT = 2
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "ksh", "cmd", "powershell", "pwsh"})
_NETWORK = {
    PackageKind.NPM: "npx fetches the package from npm, with what it depends on, and runs it",
    PackageKind.PYPI: "uvx fetches the package from PyPI, with what it depends on, and runs it",
    PackageKind.OCI: "docker fetches the image and runs it",
}


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file's bytes before and after. It is written only if it still is as it was `before`."""

    path: str
    before: bytes
    after: bytes

    def diff(self, redact: Callable[[str], str] = str) -> tuple[str, ...]:
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

    def diff(self) -> tuple[str, ...]:
        """The lines of the file that change, without the values of what may be secret."""
        if self.change is None:
            return ()
        secrets = {name: text for spec in self.configuration.servers for name, text in spec.secrets.items()}
        return self.change.diff(Redactor(secrets).text)


@dataclass(frozen=True, slots=True)
class Installation:
    """A plugin as it would be installed: exactly what is started, and what becomes of the file.

    `based_on` is the configuration that it was worked out for.
    """

    plugin: Plugin
    spec: ServerSpec
    becomes: ServerChange
    based_on: Configuration

    @property
    def server(self) -> str:
        return self.spec.name

    @property
    def consent(self) -> ServerConsent:
        """What a yes allows, as every start of a server is asked for."""
        return describe(replace(self.becomes.configuration, servers=(self.spec,), predicates=""))[0]

    def facts(self) -> tuple[Fact, ...]:
        """What is started, what it fetches and what it says that it reaches; what needs a look is marked."""
        plugin, package = self.plugin, self.plugin.package
        said = plugin.permissions
        unsaid = "the publisher does not say"
        told = (
            *self.consent.facts(),
            Fact("package", " ".join(filter(None, (package.kind, package.identifier, package.version)))),
            *_warnings(package),
            Fact("fetches", _NETWORK.get(package.kind, "")),
            Fact("files", said.files or unsaid),
            Fact("network", said.network or unsaid),
            Fact("reads", f"of its environment: {said.environment or unsaid}"),
            Fact("is said", "nobody checks it: the server runs with your permissions"),
        )
        return tuple(fact for fact in told if fact.text)


@dataclass(frozen=True, slots=True)
class Removal:
    """A server that would be removed from the configuration and the session."""

    server: str
    becomes: ServerChange
    based_on: Configuration


def _warnings(package: Package) -> tuple[Fact, ...]:
    fetched = package.kind in (PackageKind.NPM, PackageKind.PYPI)
    shell = PurePath(package.command).name in _SHELLS
    return (
        *(
            [Fact("version", "none is named: whatever is newest is run", True)]
            if fetched and not package.version
            else ()
        ),
        *(
            [Fact("options", f"to {package.command} itself: {' '.join(package.options)}", True)]
            if package.options
            else ()
        ),
        *([Fact("shell", "a shell is started, which may run anything", True)] if shell else ()),
    )
