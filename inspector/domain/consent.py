"""What a configuration would start, shown to the user before consent: what decides it comes first."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from inspector.domain.configuration import Configuration
from inspector.domain.decisive import chooses
from inspector.domain.redaction import Redactor
from inspector.domain.secret_value import looks_secret
from inspector.domain.server import Expansion, Program, ServerSpec

_PREDICATES = "predicates (Python)"
_DIGEST_DIGITS = 12
_USER_INFO = re.compile(r"(?<=://)[^/?#\s]*@")
_HIDDEN = "***@"
_SPACES = re.compile(r"[\s\u2800]{3,}")
_HOST_END = re.compile(r"[/?#]")
# Every started process has these of the person's own, whatever the configuration says.
_EVERYONES = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"})


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the question. With `warns`, it says what a person should look at before a yes."""

    label: str
    text: str
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Handed:
    """A variable of the person's own that would be handed over: `to` whom or what, and in which `place`."""

    own: str
    to: str
    place: str

    @property
    def is_secret(self) -> bool:
        """Whether its name looks like that of a secret."""
        return looks_secret(self.own.removeprefix("input "))


TRUSTED: Final = "what it says only reads is called without asking"


@dataclass(frozen=True, slots=True)
class ServerConsent:
    """One server: its exact command line, file and folder, or its URL; variable names.

    `decisive` has the values of the variables that choose what runs, all others stay unread: they may be
    secrets. With `trusted`, tools that the server says only read are called without asking. For the
    predicates file instead of a server, `executes` is its path and `digest` the start of its SHA-256.
    `program` is None if the command's file has not been looked for. `folders` are those that it may learn.
    """

    name: str
    argv: tuple[str, ...] = ()
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    url: str = ""
    header_names: tuple[str, ...] = ()
    trusted: bool = False
    executes: str = ""
    digest: str = ""
    program: Program | None = None
    decisive: tuple[tuple[str, str], ...] = ()
    handed: tuple[Handed, ...] = ()
    folders: tuple[str, ...] = ()

    def facts(self) -> tuple[Fact, ...]:
        """The lines of the question, every text on one line; it may still control a terminal."""
        rows = (
            Fact("address", self.url),
            Fact("command", shlex.join(self.argv)),
            *self._program_facts(),
            *(Fact("chooses", f"{chooses(name)}: {name}={value}", True) for name, value in self.decisive),
            *map(_handed_fact, self.handed),
            Fact("folder", self.cwd),
            Fact("gets", ", ".join(self.env_names)),
            Fact("headers", ", ".join(self.header_names)),
            *(Fact("may ask", f"which folder Toolsight runs in: {folder}") for folder in self.folders),
            Fact("trusted", TRUSTED if self.trusted else "", True),
            Fact("executes", self.executes),
            Fact("sha-256", self.digest),
        )
        return tuple(Fact(row.label, _on_one_line(row.text), row.warns) for row in rows if row.text)

    def _program_facts(self) -> Iterator[Fact]:
        if self.program is None or not self.argv:
            return
        found, command = self.program, self.argv[0]
        if not found.file:
            yield Fact("missing", f"no file is found for {shlex.quote(command)}, so it cannot start", True)
            return
        if found.file != command:
            yield Fact("file", found.file)
        if found.target:
            yield Fact("links to", found.target)
        if found.interpreter:
            missing = "" if "/" in found.interpreter else ", which is not found"
            yield Fact("run by", f"{found.interpreter}{missing}", bool(missing))


def describe(configuration: Configuration) -> tuple[ServerConsent, ...]:
    """What consent would allow, server by server; the Python file to be executed comes last."""
    servers = tuple(
        replace(_described(spec), folders=configuration.folders_for(spec))
        for spec in configuration.servers
        if not spec.lacks
    )
    if not configuration.predicates:
        return servers
    digest = configuration.predicates_digest[:_DIGEST_DIGITS]
    return (*servers, ServerConsent(_PREDICATES, executes=configuration.predicates, digest=digest))


def warnings_text(servers: tuple[ServerConsent, ...]) -> str:
    """How many lines of the question are marked, as a sentence; "" for none."""
    marked = sum(fact.warns for server in servers for fact in server.facts())
    if not marked:
        return ""
    return f"Look at the {marked} lines marked !" if marked > 1 else "Look at the line marked !"


def _described(spec: ServerSpec) -> ServerConsent:
    shown = {expansion.key: expansion.shown for expansion in spec.expansions}
    if spec.is_http:
        url = spec.shown_url
        return ServerConsent(
            spec.name,
            # `https://github.com@evil.example` goes to evil.example.
            url=_USER_INFO.sub(_HIDDEN, url),
            env_names=tuple(sorted(spec.env)),
            header_names=tuple(sorted(spec.headers)),
            trusted=spec.trust_annotations,
            handed=tuple(_handed(spec.expansions, _host(url))),
        )
    return ServerConsent(
        spec.name,
        argv=spec.shown_argv,
        cwd=spec.cwd,
        env_names=tuple(sorted(spec.env)),
        trusted=spec.trust_annotations,
        program=spec.program,
        decisive=tuple(_decisive(spec.env, shown)),
        handed=tuple(each for each in _handed(spec.expansions, "") if each.own not in _EVERYONES),
    )


def _decisive(env: Mapping[str, str], shown: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that choose what runs, without the credentials in their values."""
    redactor = Redactor({})
    for name in sorted(env):
        if chooses(name):
            value = shown.get(f"env.{name}", env[name])
            yield name, redactor.text(_USER_INFO.sub(_HIDDEN, value))


def _handed(expansions: tuple[Expansion, ...], to: str) -> Iterator[Handed]:
    for expansion in expansions:
        for own in expansion.own:
            yield Handed(own, to, _place(expansion.key))


def _host(url: str) -> str:
    """The host and port of an address, in which variables may stand unexpanded."""
    return _HOST_END.split(url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2]


def _place(key: str) -> str:
    kind, _, name = key.partition(".")
    if kind == "env":
        return f"as its variable {name}"
    if kind == "headers":
        return f"in the header {name}"
    return {"url": "in the address", "cwd": "in its folder"}.get(kind, "on its command line")


def _handed_fact(handed: Handed) -> Fact:
    to = handed.to or "this program"
    label = "secret" if handed.is_secret else "yours"
    return Fact(label, f"your {handed.own} goes to {to} {handed.place}", handed.is_secret)


def _on_one_line(text: str) -> str:
    """The text with long blanks counted: spaces could push a line's end to where another seems to begin."""
    return _SPACES.sub(lambda blank: f"[{len(blank[0])} spaces]", text)
