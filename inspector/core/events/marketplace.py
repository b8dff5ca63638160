"""Events of the marketplace: searches that went on there, and servers that a person installed or removed."""

from dataclasses import dataclass
from typing import ClassVar

from inspector.core.events.base import Actor, Event, Group, Tone
from inspector.core.marketplace import MarketplaceReport
from inspector.core.number import count, percent

__all__ = ["InstallFailed", "MarketplaceSearched", "PluginInstalled", "ServerRemoved"]


@dataclass(frozen=True, slots=True)
class MarketplaceSearched(Event):
    """A search went on in the marketplace. `text` is what the model reads of it; nothing is loaded."""

    kind: ClassVar[str] = "marketplace"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SEARCHES})
    report: MarketplaceReport
    text: str
    by: Actor = "model"

    def summary(self) -> str:
        found = self.report.suggestions
        best = f", best {found[0].plugin} {percent(found[0].similarity)}" if found else ""
        return f"“{self.report.query}” ({self.report.why}) -> {count(len(found), 'plugin')}{best}"


@dataclass(frozen=True, slots=True)
class PluginInstalled(Event):
    """A person installed a plugin: its server is connected. `file` is "" if it is for this session alone.

    `command` is what was started, or the address; `backup` is the file as it was before.
    """

    kind: ClassVar[str] = "installed"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    tone: ClassVar[Tone] = "success"
    plugin: str
    server: str
    version: str
    command: str
    file: str = ""
    backup: str = ""
    by: Actor = "user"

    def summary(self) -> str:
        where = f"in {self.file}" if self.file else "for this session"
        return f"{self.plugin} as {self.server}  {where}  {self.command}"


@dataclass(frozen=True, slots=True)
class InstallFailed(Event):
    """A plugin was not installed; the session and the file are as they were."""

    kind: ClassVar[str] = "uninstalled"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS, Group.ERRORS})
    tone: ClassVar[Tone] = "error"
    plugin: str
    server: str
    reason: str
    hint: str = ""
    stderr_tail: str = ""

    def summary(self) -> str:
        return f"{self.plugin} was not installed: {self.reason}"


@dataclass(frozen=True, slots=True)
class ServerRemoved(Event):
    """A server left the session for good; `file` is the configuration that it left, too."""

    kind: ClassVar[str] = "removed"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    server: str
    file: str = ""
    backup: str = ""
    by: Actor = "user"

    def summary(self) -> str:
        return f"{self.server}  {f'from {self.file}' if self.file else 'from this session'}"
