"""Toolsets: named restrictions on which tools may be listed, found or called (PRD section 2.6)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from inspector.core.tool import Tool


@dataclass(frozen=True, slots=True)
class ServerRule:
    """Which tools of one server a toolset permits: all, only `include`, or all but `exclude`."""

    include: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()

    def permits(self, tool_name: str) -> bool:
        if self.include is not None and tool_name not in self.include:
            return False
        return tool_name not in self.exclude


@dataclass(frozen=True, slots=True)
class Toolset:
    """A named restriction. A server that is not listed is not permitted at all.

    `always_include` holds patterns of pinned tools and overrides the setting; None keeps the setting.
    """

    name: str
    description: str = ""
    servers: Mapping[str, ServerRule] = field(default_factory=dict)
    always_include: tuple[str, ...] | None = None

    def permits(self, tool: Tool) -> bool:
        rule = self.servers.get(tool.server)
        return rule is not None and rule.permits(tool.name)


def permitted(tools: Iterable[Tool], toolset: Toolset | None) -> tuple[Tool, ...]:
    """The tools that the toolset permits; without a toolset, all of them."""
    return tuple(tool for tool in tools if toolset is None or toolset.permits(tool))
