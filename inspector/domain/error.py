"""Every error Toolsight raises on purpose.

ToolsightError
├── ConfigError        a configuration that cannot be used
│   └── MissingValue   a variable or an input of it has no value
├── ConnectError       a server that cannot be reached
│   ├── ServerExited   its process ended, or its connection closed
│   ├── AuthRequired   it wants credentials
│   └── ConnectTimeout it did not answer in time
├── ProtocolError      it answered, but not as the protocol says
├── CallTimeout        a tool call ran out of time
├── ModelError         a language model that failed
└── StoreError         the database
"""


class ToolsightError(Exception):
    """What happened, where, and (`hint`) what to try."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(ToolsightError):
    """A configuration that cannot be used; the message names the file and the key."""


class MissingValue(ConfigError):
    """A configuration refers to a variable or an input that has no value; `name` says which."""

    def __init__(self, message: str, *, name: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.name = name


class ConnectError(ToolsightError):
    """A server that cannot be reached; `stderr_tail` holds the last lines it wrote."""

    def __init__(self, message: str, *, hint: str = "", stderr_tail: str = "") -> None:
        super().__init__(message, hint=hint)
        self.stderr_tail = stderr_tail


class ServerExited(ConnectError):
    """The server's process ended or its connection closed."""


class AuthRequired(ConnectError):
    """The server refuses to talk without credentials."""


class ConnectTimeout(ConnectError):
    """The server did not finish its handshake in time."""


class ProtocolError(ToolsightError):
    """The server answered something that the protocol does not allow."""


class CallTimeout(ToolsightError):
    """A tool call that did not return in time."""


class ModelError(ToolsightError):
    """A language model that could not answer: no key, rate limit, no tool support, broken stream."""


class StoreError(ToolsightError):
    """The database could not be opened, read or written."""
