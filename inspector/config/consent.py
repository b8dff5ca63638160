"""What a configuration would start, shown to the user before consent: what decides it comes first."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from inspector.config.configuration import Configuration, Named
from inspector.config.program import run_files, source_files, under_work
from inspector.config.suspect import METADATA, chooses, lookalikes, metadata_hosts
from inspector.core.number import count
from inspector.core.package_run import PackageKind, package_run
from inspector.core.ports import ServerMemory
from inspector.core.redaction import Redactor
from inspector.core.report import YES, Fact, Facts, Option, Question
from inspector.core.secret_value import looks_secret
from inspector.core.server import ChangedFile, ConsentItem, Program, ServerSpec, asking_files, changed_files

_NAMED = "settings"
_DIGEST_DIGITS = 12
_NONE: Mapping[str, tuple[ChangedFile, ...]] = {}
_USER_INFO = re.compile(r"(?<=://)[^/?#\s]*@")
_HIDDEN = "***@"
_SPACES = re.compile(r"[\s\u2800]{3,}")
_HOST_END = re.compile(r"[/?#]")
# What the identity provider gets, if one is named, in place of the server's issuer.
_TO_IDP = re.compile(r"oauth\.(?:assertion|idp)")
_FILE, _JWT_FILE = "file ", "oauth.assertionFile"
# Every started process has these of the person's own, whatever the configuration says.
_EVERYONES = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"})


class Handed(Struct, frozen=True):
    """A variable or file of the person's own to be handed over: `to` whom or what, and in which `place`."""

    own: str
    to: str
    place: str

    @property
    def is_secret(self) -> bool:
        """Whether its name looks like that of a secret."""
        return self.own.startswith(_FILE) or looks_secret(self.own.removeprefix("input "))


TRUSTED: Final = "tools it marks as read-only run without asking"


class ServerConsent(Struct, frozen=True):
    """One server: its exact command line, file and folder, or its URL; variable names.

    `decisive` has the values of the variables that choose what runs, all others stay unread: they may be
    secrets. With `trusted`, tools that the server says only read are called without asking. `named` is what
    settings name, instead of a server.
    `program` is None if the command's file has not been looked for. `folders` are those that it may learn.
    `metadata` names its parts that are addresses of cloud metadata; `changed` are the files that are not as
    they were when a person approved it; `uncovered` is what else runs, of which a change is not noticed.
    """

    name: str
    argv: tuple[str, ...] = ()
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    url: str = ""
    header_names: tuple[str, ...] = ()
    trusted: bool = False
    named: tuple[Named, ...] = ()
    program: Program | None = None
    decisive: tuple[tuple[str, str], ...] = ()
    handed: tuple[Handed, ...] = ()
    folders: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    changed: tuple[ChangedFile, ...] = ()
    uncovered: tuple[str, ...] = ()

    @property
    def executes(self) -> bool:
        """Whether a Python file would be executed that settings name."""
        return any(one.digest for one in self.named)

    def facts(self) -> tuple[Fact, ...]:
        """The lines of the question, every text on one line; it may still control a terminal."""
        rows = (
            Fact("address", self.url),
            Fact("command", shlex.join(self.argv)),
            *self._program_facts(),
            *(Fact("changed", file.text, True) for file in self.changed),
            *(Fact("not read", text) for text in self.uncovered),
            *(Fact("metadata", f"{place} {METADATA}", True) for place in self.metadata),
            *(Fact("look-alike", f"{name} is not {known}", True) for name, known in self._lookalikes()),
            *(Fact("chooses", f"{chooses(name)}: {name}={value}", True) for name, value in self.decisive),
            *map(_handed_fact, self.handed),
            Fact("folder", self.cwd),
            Fact("gets", ", ".join(self.env_names)),
            Fact("headers", ", ".join(self.header_names)),
            *(Fact("may ask", f"which folder Toolsight runs in: {folder}") for folder in self.folders),
            Fact("trusted", TRUSTED if self.trusted else "", True),
            *(fact for one in self.named for fact in _named_facts(one)),
        )
        return tuple(Fact(row.label, _on_one_line(row.text), row.warns) for row in rows if row.text)

    def _lookalikes(self) -> Iterator[tuple[str, str]]:
        run = package_run(self.argv)
        return lookalikes(self.argv, images=run is not None and run.kind is PackageKind.OCI)

    def _program_facts(self) -> Iterator[Fact]:
        if self.program is None or not self.argv:
            return
        found, command = self.program, self.argv[0]
        if not found.file:
            yield Fact("missing", f"no file found for {shlex.quote(command)}, so it cannot start", True)
            return
        if found.file != command:
            yield Fact("file", found.file)
        if found.target:
            yield Fact("links to", found.target)
        if found.interpreter:
            missing = "" if "/" in found.interpreter else ", not found"
            yield Fact("run by", f"{found.interpreter}{missing}", bool(missing))


def describe(
    configuration: Configuration, changed: Mapping[str, tuple[ChangedFile, ...]] = _NONE
) -> tuple[ServerConsent, ...]:
    """What consent would allow: each server with its `changed` files, then what settings name."""
    servers = tuple(
        replace(_described(spec), folders=configuration.folders_for(spec), changed=changed.get(spec.name, ()))
        for spec in configuration.servers
        if not spec.lacks
    )
    named = configuration.all_named
    return (*servers, ServerConsent(_NAMED, named=named)) if named else servers


_OPTIONS = Option(YES, "allow it"), Option("no", "no, leave")


def consent_question(source: str, servers: tuple[ServerConsent, ...]) -> Question:
    """Whether a file may start these servers: what decides it of each, and how many lines to look at."""
    runs = " with your permissions" if any(server.argv or server.executes for server in servers) else ""
    head = [Fact("", f"would {_purpose(servers)}{runs}:")]
    if marked := sum(fact.warns for server in servers for fact in server.facts()):
        told = f"Check the {marked} lines marked !" if marked > 1 else "Check the line marked !"
        head.append(Fact("", told, warns=True))
    shown = (Facts(server.facts(), server.name) for server in servers)
    blocks = (Facts(tuple(head), source), *shown)
    return Question("Allow this configuration?", blocks, _OPTIONS, is_exact=True)


def _purpose(servers: tuple[ServerConsent, ...]) -> str:
    """What is asked for, as the end of "would ..."."""
    started, connected = sum(bool(one.argv) for one in servers), sum(bool(one.url) for one in servers)
    does = [f"start {count(started, 'server')}"] if started else []
    does += [f"connect to {count(connected, 'server')}"] if connected else []
    does += ["execute a Python file"] if any(server.executes for server in servers) else []
    return " and ".join(does) or "use files or models from its settings"


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
            handed=tuple(_handed(spec, _host(url))),
            metadata=tuple(_metadata(spec)),
        )
    return ServerConsent(
        spec.name,
        argv=spec.shown_argv,
        cwd=spec.cwd,
        env_names=tuple(sorted(spec.env)),
        trusted=spec.trust_annotations,
        program=spec.program,
        uncovered=spec.uncovered,
        decisive=tuple(_decisive(spec.env, shown)),
        handed=tuple(each for each in _handed(spec, "") if each.own not in _EVERYONES),
        metadata=tuple(_metadata(spec)),
    )


def _metadata(spec: ServerSpec) -> Iterator[str]:
    """The parts of a server's entry that are addresses of cloud metadata."""
    yield from metadata_hosts(spec.url)
    for word in spec.argv:
        yield from metadata_hosts(word)
    for name, value in sorted(spec.env.items()):
        yield from (f"its variable {name} ({host})" for host in metadata_hosts(value))


def _decisive(env: Mapping[str, str], shown: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that choose what runs, without the credentials in their values."""
    redactor = Redactor({})
    for name in sorted(env):
        if chooses(name):
            value = shown.get(f"env.{name}", env[name])
            yield name, redactor.text(_USER_INFO.sub(_HIDDEN, value))


def _handed(spec: ServerSpec, to: str) -> Iterator[Handed]:
    """What is handed over; `to` is the server's host, and whatever OAuth sends elsewhere says where."""
    shown, oauth = {each.key: each.shown for each in spec.expansions}, spec.oauth
    idp = _host(shown.get("oauth.idpTokenUrl", oauth.idp_token_url))
    issuer = _host(shown.get("oauth.issuer", oauth.issuer))
    given = [(own, each.key) for each in spec.expansions for own in each.own if each.key != _JWT_FILE]
    if oauth.assertion_file:
        given.append((f"{_FILE}{oauth.assertion_file}", _JWT_FILE))
    for own, key in given:
        is_oauth = key.startswith("oauth.")
        receiver = (_TO_IDP.match(key) and idp) or issuer if is_oauth else ""
        if spec.is_http or not is_oauth:
            yield Handed(own, receiver, f"as {key}") if receiver else Handed(own, to, _place(key))


def _host(url: str) -> str:
    """The host and port of an address, in which variables may stand unexpanded."""
    return _HOST_END.split(url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2]


def _place(key: str) -> str:
    kind, _, name = key.partition(".")
    if kind == "env":
        return f"as {name}"
    if kind == "headers":
        return f"in the header {name}"
    if kind == "oauth":
        return f"and to its issuer, as {key}"
    places = {"url": "in the address", "cwd": "in its folder", "envFile": "as its variables"}
    return places.get(kind, "on its command line")


def _handed_fact(handed: Handed) -> Fact:
    to = handed.to or "this program"
    label = "secret" if handed.is_secret else "yours"
    return Fact(label, f"passes your {handed.own} to {to} {handed.place}", handed.is_secret)


def _named_facts(named: Named) -> Iterator[Fact]:
    if named.setting == "discovery.embedding_model":
        yield Fact(
            "downloads", f"the embedding model {named.text} from a model hub, unless it is already here", True
        )
    elif named.setting == "consent.changed_files":
        yield Fact(
            "unasked", "servers run changed files of yours in its folder without asking you again", True
        )
    elif named.digest:
        yield Fact("executes", named.text)
        yield Fact("sha-256", named.digest[:_DIGEST_DIGITS])
    else:
        yield Fact("reads", f"{named.text} ({named.setting})")


def _on_one_line(text: str) -> str:
    """The text with long blanks counted: spaces could push a line's end to where another seems to begin."""
    return _SPACES.sub(lambda blank: f"[{len(blank[0])} spaces]", text).replace("\n", "↵")


class ConsentCheck(Struct, frozen=True):
    """Whether everything is approved.

    `changed` are the files that were other ones then, by server; `asking` are those that need consent again.
    """

    configuration: Configuration
    is_approved: bool
    changed: Mapping[str, tuple[ChangedFile, ...]]
    asking: tuple[ChangedFile, ...] = ()

    @property
    def question(self) -> tuple[ServerConsent, ...]:
        """What consent would allow. Trusted servers need none, whatever a scenario's settings name."""
        asked = replace(self.configuration, servers=()) if self.configuration.trusted else self.configuration
        return describe(asked, self.changed)


def check_consent(configuration: Configuration, memory: ServerMemory) -> ConsentCheck:
    """Compare what would run with what a person approved. Raises StoreError."""
    items = configuration.consent_items()
    known = memory.approved([item.id for item in items])
    again = [item for item in items if item.id in known]
    found = {item.server: changed_files(item.files, known[item.id]) for item in again}
    asks = asking_files if configuration.tells_changes else changed_files
    asking = tuple(file for item in again for file in asks(item.files, known[item.id]))
    is_approved = len(again) == len(items) and not asking
    return ConsentCheck(
        configuration, is_approved, {name: files for name, files in found.items() if files}, asking
    )


def approve(configuration: Configuration, memory: ServerMemory) -> None:
    """Remember a person's yes to all that the configuration runs now. Raises StoreError."""
    memory.approve(configuration.consent_items(), configuration.source)


def approve_work(spec: ServerSpec, source: str, memory: ServerMemory) -> None:
    """Remember the person's own files of an approved server as they are now: they changed under their eyes.

    Raises StoreError.
    """
    known = memory.approved([spec.consent_id]).get(spec.consent_id)
    if known is None or spec.program is None:
        return
    now = replace(spec, files=run_files(source_files(spec).files, spec.program, Path()))
    own = [file for file in under_work(now).files if not file.asks]
    paths = {file.path for file in own}
    files = (*own, *(file for file in known if file.path not in paths))
    memory.approve([ConsentItem(spec.consent_id, spec.name, files)], source)
