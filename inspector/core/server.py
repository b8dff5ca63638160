"""An MCP server: how to start it, what is consented to, its connection, its report."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Literal
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from inspector.core.access import ServerRule
from inspector.core.argument_secret import secrets_among, secrets_of_address
from inspector.core.number import count
from inspector.schema.json_value import JsonObject, canonical

"""The levels of a server's log messages in MCP, those of syslog (RFC 5424), the least severe first."""


STDERR_LINES = 5
"""Of what a server wrote before it failed, so many last lines are told."""


class RunFile(Struct, frozen=True):
    """A file that a command runs.

    With `asks`, a changed one needs consent again whatever the settings say: it lies outside the
    configuration's folder, or belongs to another user.
    """

    path: str
    digest: str
    asks: bool = False


class ChangedFile(Struct, frozen=True):
    """A file that is not as it was when a person approved it."""

    path: str
    is_new: bool = False

    @property
    def brief(self) -> str:
        """What happened to the file, and its name."""
        return f"{self._how}: {PurePath(self.path).name}"

    @property
    def text(self) -> str:
        """The file, and what happened to it."""
        return f"{self.path}: {self._how} since you approved it"

    @property
    def _how(self) -> str:
        return "new" if self.is_new else "changed"


class ConsentItem(Struct, frozen=True):
    """One thing that a person approves: what it is, as a hash, and the files that it runs."""

    id: str
    server: str = ""
    files: tuple[RunFile, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConsentItem) and (self.id, self.server) == (other.id, other.server)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.id)


def item_id(*parts: Any) -> str:
    """The hash that stands for something to be approved."""
    return hashlib.sha256(canonical(list(parts)).encode()).hexdigest()


def changed_files(now: Sequence[RunFile], approved: Sequence[RunFile]) -> tuple[ChangedFile, ...]:
    """The files that are not as they were approved; one that is gone cannot run."""
    return tuple(change for _, change in _changes(now, approved))


def asking_files(now: Sequence[RunFile], approved: Sequence[RunFile]) -> tuple[ChangedFile, ...]:
    """The changed files that need consent again."""
    return tuple(change for file, change in _changes(now, approved) if file.asks)


def _changes(now: Sequence[RunFile], approved: Sequence[RunFile]) -> Iterator[tuple[RunFile, ChangedFile]]:
    before = {file.path: file for file in approved}
    for file in now:
        known = before.get(file.path)
        if known is None:
            yield file, ChangedFile(file.path, is_new=True)
        elif known.digest != file.digest:
            yield file, ChangedFile(file.path)


LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The hosts that are this machine alone."""

SOURCE = "registry:"


class Era(StrEnum):
    """How a connection opens: the handshake up to 2025-11-25, or the stateless protocol of 2026-07-28."""

    LEGACY = "legacy"
    MODERN = "2026-07-28"
    AUTO = "auto"


class Program(Struct, frozen=True):
    """The files that a command comes down to, with absolute paths. All are "" if no file was found.

    `file` is what is started, `target` where its links end, if it is or lies behind one. `interpreter` runs
    it, if it is a script; a name without a slash was not found.
    """

    file: str = ""
    target: str = ""
    interpreter: str = ""


class Expansion(Struct, frozen=True):
    """A text of a configuration that contains values from a person's own environment.

    `key` is its place in the server's entry: `env.TOKEN`, `headers.X-Key`, `args[0]`. `own` names the
    variables, and never holds their values; an input that the person gave is `input ID`. `shown` is the
    expanded text, in which variables whose names look like secrets stay as they were written.
    """

    key: str
    own: tuple[str, ...]
    shown: str


class Grant(StrEnum):
    """What a client gives for a token: a person's consent, its own credentials, a JWT of another issuer."""

    AUTHORIZATION_CODE = "authorization_code"
    CLIENT_CREDENTIALS = "client_credentials"
    JWT_BEARER = "jwt_bearer"


class OAuthClient(Struct, frozen=True):
    """A client that is registered with a server's issuer; what is empty is negotiated with it.

    With a `metadata_url` the client's document stands there. `method` is how its secret is sent, `issuer` the
    only one that gets it. With client credentials it gives its secret, or a JWT that its `private_key` (PEM)
    signs with `algorithm`. With `JWT_BEARER` it gives the `assertion`, or what `assertion_file` holds then;
    with an `idp_token_url`, what the identity provider there gives to its client `idp_client_id` for that.
    `port` is where the answer of a person's sign-in is awaited, 0 for any that is free.
    """

    client_id: str = ""
    client_secret: str = ""
    method: str = ""
    metadata_url: str = ""
    issuer: str = ""
    scope: str = ""
    port: int = 0
    grant: Grant = Grant.AUTHORIZATION_CODE
    private_key: str = ""
    algorithm: str = "RS256"
    assertion: str = ""
    assertion_file: str = ""
    idp_token_url: str = ""
    idp_client_id: str = ""
    idp_client_secret: str = ""

    @property
    def is_machine(self) -> bool:
        """Whether it signs in for itself, without a person."""
        return self.grant is not Grant.AUTHORIZATION_CODE


class ServerSpec(Struct, frozen=True):
    """How to reach one server: a `command` (stdio), a `url` (streamable HTTP) or a `listing`, one of them.

    A `listing` is a file with a stored answer to `tools/list`. With `inherits_environment` a command gets all
    variables of Toolsight's own process. `lacks` names a value that the configuration needs and nobody set,
    `advice` says how to set it; such a server is not started. With a `program`, exactly that may be started;
    without one, whatever the command finds; `files` are those that run then, `uncovered` what else does.
    `expansions` are the texts with values of a person's own. With `trust_annotations`, tools that the server
    says only read are called without asking. `phrases` are what people say and what it means of its tools,
    for searches. `rule` says which of its tools the configuration's client gives
    to its model. With `skills`, those that it serves are listed beside its tools; if it is also a `listing`,
    that is a folder of skills.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    listing: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    oauth: OAuthClient = OAuthClient()
    inherits_environment: bool = False
    lacks: str = ""
    advice: str = ""
    defer_loading: bool = False
    tags: tuple[str, ...] = ()
    phrases: Mapping[str, str] = field(default_factory=dict)
    era: Era | None = None
    trust_annotations: bool = False
    connect_timeout: float = 30.0
    call_timeout: float = 60.0
    program: Program | None = None
    files: tuple[RunFile, ...] = ()
    uncovered: tuple[str, ...] = ()
    expansions: tuple[Expansion, ...] = ()
    concealed: Mapping[str, str] = field(default_factory=dict)
    rule: ServerRule = ServerRule()
    skills: bool = False

    @property
    def is_skills(self) -> bool:
        """Whether it stands for a folder of skills: nothing is started, and no client gets it as a server."""
        return self.skills and bool(self.listing)

    @property
    def is_http(self) -> bool:
        return bool(self.url)

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.command, *self.args)

    @property
    def shown_argv(self) -> tuple[str, ...]:
        """The command line, in which the person's own variables stay as written if they look like secrets."""
        shown = {each.key: each.shown for each in self.expansions}
        args = (shown.get(f"args[{index}]", arg) for index, arg in enumerate(self.args))
        return (shown.get("command", self.command), *args)

    @property
    def shown_url(self) -> str:
        """The address, as `shown_argv`."""
        return next((each.shown for each in self.expansions if each.key == "url"), self.url)

    @property
    def secrets(self) -> dict[str, str]:
        """What the configuration passes to it, which may be secret, by names that begin with its own.

        A variable or header may be one, a part of an argument or an address only by its name or its looks.
        """
        found: dict[str, str] = {}
        for name, value in self._given():
            number, free = 1, f"{self.name}.{name}"
            while found.get(free, value) != value:
                number, free = number + 1, f"{self.name}.{name} {number + 1}"
            found[free] = value
        return found

    def _given(self) -> Iterator[tuple[str, str]]:
        yield from (*self.env.items(), *self.headers.items())
        yield "oauth.clientSecret", self.oauth.client_secret
        yield "oauth.privateKey", self.oauth.private_key
        yield "oauth.assertion.secret", self.oauth.assertion
        yield "oauth.idpClientSecret", self.oauth.idp_client_secret
        # The last part of the name says that any text counts, also a plain word.
        yield from ((f"{name}.secret", value) for name, value in self.concealed.items())
        yield from ((one.name, self.argv[one.word][one.start : one.end]) for one in secrets_among(self.argv))
        for text in (self.url, *self.env.values(), *self.headers.values()):
            for one in secrets_of_address(text):
                value = text[one.start : one.end]
                yield from ((one.name, form) for form in dict.fromkeys((value, unquote(value))))
        for name, text in self.headers.items():
            if name.lower() == "cookie":
                yield from (("cookie", pair.partition("=")[2].strip()) for pair in text.split(";"))

    def fingerprint(self) -> str:
        """A hash of everything that the configuration says of what runs: what is remembered is tied to it."""
        parts = [self.argv, self.cwd, self.url, sorted(self.env.items()), sorted(self.headers.items())]
        parts += [each for each in (self.listing, self.lacks) if each]
        # An assertion lasts an hour: another one is no other server.
        parts += [list(astuple(replace(self.oauth, assertion="")))] if self.oauth != OAuthClient() else []
        return hashlib.sha256(canonical(parts).encode()).hexdigest()

    @property
    def consent_id(self) -> str:
        """What a consent to starting it is tied to: `fingerprint`, the files found, own variables it gets.

        What is in those files counts apart from that, see `RunFile`: another file asks for consent again,
        another version of one may only be reported.
        """
        found = self.program
        files = [found.file, found.target, found.interpreter] if found is not None else []
        own = sorted((each.key, each.own) for each in self.expansions)
        return item_id("server", self.name, self.fingerprint(), files, own)


class ServerPhase(StrEnum):
    """The state of a connection."""

    CONNECTING = "connecting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"


class ServerInfo(Struct, frozen=True):
    """What a server reported about itself when it connected.

    `summary` is one line of it, for lists; `instructions` are the whole text that it has for a model;
    `capabilities` are those that it declares, each with what it adds to it in parentheses. `refuses_older`:
    it was seen to refuse who speaks no revision from 2026-07-28 on. A client may keep its list of tools for
    `list_kept` seconds, `private` for one user or `public` for all (`list_scope`); None if it says nothing.
    """

    name: str = ""
    version: str = ""
    protocol: str = ""
    era: Era = Era.LEGACY
    summary: str = ""
    instructions: str = ""
    capabilities: tuple[str, ...] = ()
    refuses_older: bool = False
    list_kept: float | None = None
    list_scope: str = ""

    @property
    def tells_changes(self) -> bool:
        """Whether it declares that it tells of changes of its tools."""
        return any(one.startswith("tools (") and "listChanged" in one for one in self.capabilities)

    @property
    def speaks(self) -> str:
        """The protocol, for people."""
        return f"{self.protocol}, nothing older" if self.refuses_older else self.protocol


Skipping = Literal["tool", "page", "endless", "again", "cursor", "end"]
"""What was skipped: a tool, a page of tools and those behind it, an `endless` list, or a tool seen before.

Or nothing was, but a page has null for a `cursor`, or an empty one that some clients take for the `end`.
"""


class SkippedTool(Struct, frozen=True):
    """A tool, or a page of tools, that the server lists but that cannot be used, and why.

    `reason` is for a person, and `place` is where in the definition it lies: `outputSchema.properties.title`.
    It was listed `times` times; `number` is its first place on its page, or that of the page, 0 if unknown. A
    tool without a name has "". `definition` is what the server sent, None for a page or if it is too large.
    """

    name: str
    reason: str
    kind: Skipping = "tool"
    place: str = ""
    times: int = 1
    number: int = 0
    definition: JsonObject | None = None

    @property
    def label(self) -> str:
        """What to call it."""
        return self.name or f"{'tool' if self.kind in ('tool', 'again') else 'page'} {self.number:,}"


_NAMED = 3


def skipped_lines(skipped: Iterable[SkippedTool]) -> Iterator[str]:
    """What was skipped, a line for each reason: equal ones come with their number and the first names."""
    names: dict[str, list[str]] = {}
    for one in skipped:
        times = f" ({one.times:,} times)" if one.times > 1 else ""
        names.setdefault(f"{one.reason}{times}", []).append(one.label)
    for reason, found in names.items():
        more = f", {', '.join(found[:_NAMED])}{' …' * (len(found) > _NAMED)}" if len(found) > 1 else ""
        yield f"{found[0] if not more else count(len(found), 'tool')}{more}: {reason}"


def is_registered(spec: ServerSpec) -> bool:
    """Whether the server stands for tools of a registry."""
    return spec.listing.startswith(SOURCE)
