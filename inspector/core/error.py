"""Every error Toolsight raises on purpose.

ToolsightError
├── ConfigError        the configuration is invalid
│   └── MissingValue   one of its variables or inputs has no value
├── ConnectError       a server cannot be reached
│   ├── ServerExited   its process ended or its connection closed
│   ├── AuthRequired   it requires credentials
│   ├── ConnectTimeout it did not answer in time
│   └── RateLimited    it wants fewer requests
├── ProtocolError      its answer violates the protocol
│   └── ArgumentsRejected  it does not accept the arguments
├── CallTimeout        a tool call timed out
├── CircuitOpen        a circuit breaker refuses the call
├── ClientRefusal      a server asks its client for what it does not get
├── ModelError         a language model failed
└── StoreError         the database failed
"""


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


class ConnectError(ToolsightError):
    """A server cannot be reached; `stderr_tail` holds its last lines of stderr."""

    def __init__(self, message: str, *, hint: str = "", stderr_tail: str = "") -> None:
        super().__init__(message, hint=hint)
        self.stderr_tail = stderr_tail


class ServerExited(ConnectError):
    """The server's process ended or its connection closed."""


class AuthRequired(ConnectError):
    """The server requires credentials."""


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

    `raw` is what its provider or the network said, for reading; it may have many lines.
    """

    def __init__(self, message: str, *, hint: str = "", raw: str = "") -> None:
        super().__init__(message, hint=hint)
        self.raw = raw


class StoreError(ToolsightError):
    """The database could not be opened, read or written."""
