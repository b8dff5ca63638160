"""Errors that are expected, and what hints name; kinds of failed calls, and circuit breakers of a session."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from inspector.core.number import duration

# ToolsightError
# ├── ConfigError        the configuration is invalid
# │   └── MissingValue   one of its variables or inputs has no value
# ├── ConnectError       a server cannot be reached
# │   ├── ServerExited   its process ended or its connection closed
# │   ├── AuthRequired   it requires credentials
# │   ├── ConnectTimeout it did not answer in time
# │   └── RateLimited    it wants fewer requests
# ├── ProtocolError      its answer violates the protocol
# │   ├── ArgumentsRejected  it does not accept the arguments
# │   └── CapabilityMissing  it needs a client that declares more
# ├── CallTimeout        a tool call timed out
# ├── CircuitOpen        a circuit breaker refuses the call
# ├── ClientRefusal      a server asks its client for what it does not get
# ├── ModelError         a language model failed
# └── StoreError         the database failed


class ToolsightError(Exception):
    """`message` says what happened and where; `hint` says what to try."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(ToolsightError):
    """The configuration is invalid; the message names the file and the key."""


class MissingValue(ConfigError):
    """The configuration refers to a variable or input without a value; `name` says which."""

    def __init__(self, message: str, *, name: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.name = name


_LAST_LINES, _LAST_CHARACTERS = 20, 8_192


class ConnectError(ToolsightError):
    """A server cannot be reached; `stderr_tail` holds its last lines of stderr."""

    def __init__(self, message: str, *, hint: str = "", stderr_tail: str = "") -> None:
        super().__init__(message, hint=hint)
        self.stderr_tail = "\n".join(stderr_tail[-_LAST_CHARACTERS:].splitlines()[-_LAST_LINES:])


class ServerExited(ConnectError):
    """The server's process ended or its connection closed."""


class Fetched(Struct, frozen=True):
    """A document of a sign-in: what it is, its address, and the HTTP status of the answer (0: none came).

    `found` is what it says, `fault` why no sign-in comes of it, and `hint` what to do about that.
    """

    what: str
    address: str
    status: int
    found: str = ""
    fault: str = ""
    hint: str = ""

    def __str__(self) -> str:
        came = f"HTTP {self.status}" if self.status else "nothing"
        return "; ".join(filter(None, (f"{self.what}: {came} from {self.address}", self.found, self.fault)))


class AuthRequired(ConnectError):
    """The server requires credentials; `can_sign_in` is False if a person cannot get them by a sign-in.

    `documents` are those of a sign-in that failed.
    """

    def __init__(self, message: str, *, hint: str = "", can_sign_in: bool = True) -> None:
        super().__init__(message, hint=hint)
        self.can_sign_in = can_sign_in
        self.documents: tuple[Fetched, ...] = ()


class ConnectTimeout(ConnectError):
    """The server did not finish the handshake in time."""


class RateLimited(ConnectError):
    """The server wants fewer requests; `retry_after` is in how many seconds, None if it does not say."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ProtocolError(ToolsightError):
    """The server's answer violates the protocol, or is an error of it."""


class ArgumentsRejected(ProtocolError):
    """The server rejects a request's parameters: JSON-RPC's error -32602."""


class CapabilityMissing(ProtocolError):
    """The server needs a client that declares more: MCP's error -32021. `data` is what it says of that."""

    def __init__(self, message: str, *, hint: str = "", data: object = None) -> None:
        super().__init__(message, hint=hint)
        self.data = data


class CallTimeout(ToolsightError):
    """A tool call did not return in time."""


class CircuitOpen(ToolsightError):
    """A circuit breaker refuses a call; a call may try it in `wait` seconds, 0 while another one does."""

    def __init__(self, message: str, *, hint: str = "", wait: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.wait = wait


class ClientRefusal(ToolsightError):
    """A server asks for something it does not get. With `was_declared`, the client had offered it."""

    def __init__(self, message: str, *, was_declared: bool = False) -> None:
        super().__init__(message)
        self.was_declared = was_declared


class ModelError(ToolsightError):
    """A language model could not answer: no key, rate limit, no tool support, broken stream.

    `raw` is what its provider or the network said, for reading; it may have many lines. `failure` is None if
    the same request would fail again; `retry_after` are the seconds after which the provider wants it again.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        raw: str = "",
        failure: "FailureKind | None" = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.raw = raw
        self.failure = failure
        self.retry_after = retry_after


class StoreError(ToolsightError):
    """The database could not be opened, read or written."""


class FailureKind(StrEnum):
    """Why a call failed. TOOL is the tool's own answer that it failed (`isError`)."""

    TRANSPORT = "transport"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    TOOL = "tool"
    SCHEMA = "schema"
    PROTOCOL = "protocol"
    CANCELLED = "cancelled"

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self in (FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.RATE_LIMIT)

    @property
    def words(self) -> str:
        """What happened, in plain words."""
        return _WORDS[self]


_WORDS = {
    FailureKind.TRANSPORT: "connection failed",
    FailureKind.TIMEOUT: "timed out; it may have run",
    FailureKind.RATE_LIMIT: "rate limited",
    FailureKind.TOOL: "the tool failed",
    FailureKind.SCHEMA: "arguments rejected",
    FailureKind.PROTOCOL: "invalid answer",
    FailureKind.CANCELLED: "cancelled; it may have run",
}


def failure_words(kind: FailureKind | None, retry_after: float | None = None) -> str:
    """A failed call in plain words; records of older versions have no kind."""
    if kind is None:
        return "failed"
    return kind.words if retry_after is None else f"{kind.words} for {duration(retry_after)}"


class BreakerState(StrEnum):
    """CLOSED lets every call through, OPEN none, HALF_OPEN a few that try whether it works again."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class BreakerStatus(Struct, frozen=True):
    """The circuit breaker of a server or tool as the session saw it last, `since` then; see `Breaker`.

    `until` is when a call may try it, `opened` how often it opened in the session. Times are in seconds since
    1970.
    """

    server: str
    tool: str
    state: BreakerState
    since: float
    until: float = 0.0
    why: str = ""
    failure_rate: float = 0.0
    calls: int = 0
    opened: int = 0

    @property
    def name(self) -> str:
        """The id of the tool, or the name of the server."""
        return self.tool or self.server


# A check is a pure function. `loop.settings_check` runs all of them whenever the servers, their tools, the
# toolset or the settings change, and puts what they find into the stream.


class Severity(StrEnum):
    """How bad a problem is, worst first."""

    ERROR = "error"
    """A restriction restricts nothing: no turn runs until it is put right."""
    PENDING = "pending"
    """This may turn out to be an error once the servers that are connecting are ready."""
    WARNING = "warning"
    """A setting has no effect."""
    UNCHECKED = "unchecked"
    """It cannot be checked, as a server is away."""


class SettingProblem(Struct, frozen=True):
    """Something wrong with a setting.

    `path` is the setting's path, or where it is in the file; `entry` is the part of its value that is wrong,
    "" for all of it. `text` continues them to a sentence. `server` is the one it is about, if it is about
    one.
    """

    path: str
    entry: str
    text: str
    hint: str = ""
    severity: Severity = Severity.WARNING
    server: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong, on one line."""
        return " ".join(filter(None, (self.path, f"“{self.entry}”" if self.entry else "", self.text)))

    @property
    def full(self) -> str:
        """What is wrong and what to do."""
        return f"{self.sentence}. {self.hint}" if self.hint else f"{self.sentence}."


def worst_first(problems: Iterable[SettingProblem]) -> tuple[SettingProblem, ...]:
    """The problems by severity, otherwise in their order, each once."""
    order = {severity: rank for rank, severity in enumerate(Severity)}
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: order[problem.severity]))


def refusal(problems: Sequence[SettingProblem]) -> str:
    """Why no turn may run, for people; "" if it may."""
    errors = [problem.full for problem in problems if problem.severity is Severity.ERROR]
    if not errors:
        return ""
    return "\n".join(("Nothing is called until you fix this in the settings:", *errors))


# Whose servers a command is about is part of what is typed; the others ask for none.
OF_SERVERS = frozenset({"servers", "tools", "search", "call", "chat", "check", "cost", "race"})

Words = Callable[[], Sequence[str]]


class _Given:
    """What this process was started with: it opens one set of servers, with one database."""

    servers: Words = staticmethod(tuple)
    database: Sequence[str] = ()


def remember(servers: Words, database: Sequence[str]) -> None:
    """Take note of the words that name the servers, asked for when a hint needs them, and the database."""
    _Given.servers, _Given.database = staticmethod(servers), tuple(database)


def command(*words: str) -> str:
    """The command line in backquotes, for hints; `words` begin with the command's name."""
    servers = _Given.servers() if words[0] in OF_SERVERS else ()
    return f"`{shlex.join(['toolsight', *words, *_Given.database, *servers])}`"
