"""The starts of servers, as their transport reports them."""

from collections.abc import Callable, Mapping
from typing import Protocol

from inspector.mcp.process import record
from inspector.mcp.process.table import MARKER, Table, table


class Registration:
    """One start of a server, created before its process: there is no moment in which it is unknown."""

    def __init__(self, marker: str, number: int, write: Callable[[bytes], None], processes: Table) -> None:
        """Without a `marker` the server's environment has none."""
        self.variables: Mapping[str, str] = {MARKER: marker} if marker else {}
        self._number = number
        self._write = write
        self._processes = processes

    def started(self, pid: int) -> None:
        """The process is there, and leads a group of its own."""
        self._write(record.started(self._number, pid, self._processes.started(pid)))

    def ended(self) -> None:
        """Nothing of its group is left, or it was never started."""
        self._write(record.ended(self._number))


class Registry(Protocol):
    """Notes what is started."""

    def register(self, server: str) -> Registration:
        """Note that a server is about to be started; it may take some milliseconds, and never raises."""


class NoRegistry:
    """A `Registry` that notes nothing."""

    def register(self, server: str) -> Registration:  # noqa: ARG002
        return Registration("", 0, lambda _line: None, table())
