"""What installing or removing a server would change, shown to a person before it is done."""

import difflib
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from inspector.config.configuration import Configuration
from inspector.config.consent import Fact, ServerConsent, describe
from inspector.config.plugin import Plugin
from inspector.config.suspect import lookalikes
from inspector.core.package_run import PackageKind, package_run, program_name, runs_anything
from inspector.core.server import ServerSpec

_CONTEXT = 2
# A shorter text stands in many a word.
_SHORTEST_COVERED = 4
_NETWORK = {
    PackageKind.NPM: "npx fetches the package and its dependencies from npm and runs it",
    PackageKind.PYPI: "uvx fetches the package and its dependencies from PyPI and runs it",
    PackageKind.OCI: "docker fetches the image and runs it",
}


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

    def diff(self, redact: Callable[[str], str]) -> tuple[str, ...]:
        """The lines of the file that change; `redact` takes secrets out."""
        return self.change.diff(redact) if self.change is not None else ()


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
        """What a yes allows, as every start of a server is asked for, without what was given as a secret."""
        asked = describe(replace(self.becomes.configuration, servers=(self.spec,), predicates="", named=()))[
            0
        ]
        return replace(asked, argv=tuple(map(self._covered, asked.argv)), url=self._covered(asked.url))

    def _covered(self, text: str) -> str:
        """The text without what the person gave as a secret, and no more: all else is to be looked at."""
        for name, value in self.spec.concealed.items():
            if len(value) >= _SHORTEST_COVERED:
                text = text.replace(value, f"[redacted {name}]")
        return text

    def facts(self) -> tuple[Fact, ...]:
        """What is started, what it fetches and what it says that it reaches; what needs a look is marked."""
        said = self.plugin.permissions
        unsaid = "the publisher does not say"
        told = (
            *self.consent.facts(),
            *(
                Fact("look-alike", f"{one} is not {known}", True)
                for one, known in lookalikes((), self.plugin.name)
            ),
            *(replace(fact, text=self._covered(fact.text)) for fact in _run_facts(self.spec.shown_argv)),
            Fact("files", said.files or unsaid),
            Fact("network", said.network or unsaid),
            Fact("reads", f"from its environment: {said.environment or unsaid}"),
            Fact("claims", "these are not enforced: the server runs with your permissions"),
        )
        return tuple(fact for fact in told if fact.text)


@dataclass(frozen=True, slots=True)
class Removal:
    """A server that would be removed from the configuration and the session."""

    server: str
    becomes: ServerChange
    based_on: Configuration


def _run_facts(argv: tuple[str, ...]) -> Iterator[Fact]:
    """What the words themselves say of what is fetched and run, whatever a catalog says of them."""
    run = package_run(argv)
    if run is not None:
        yield Fact("package", run.label)
        if run.name and not run.is_exact:
            yield Fact("version", "no exact version given, so the newest one runs", True)
        if run.options:
            yield Fact("options", f"for {program_name(argv[0])} itself: {shlex.join(run.options)}", True)
        yield Fact("fetches", _NETWORK[run.kind])
    yield Fact("shell", runs_anything(argv), True)
