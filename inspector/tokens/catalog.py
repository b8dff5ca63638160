"""The permitted tools of the connected servers, and lookup by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inspector.core.closest import Names
from inspector.core.error import ToolsightError
from inspector.core.tool import Tool


@dataclass(frozen=True)
class Catalog:
    """Tools in server order, after the toolset filter. Other tools cannot be listed, found or called.

    `deferred_ids` wait for a search or the gate. With `advises`, no tool is deferred and the model may
    search.
    """

    tools: tuple[Tool, ...] = ()
    deferred_ids: frozenset[str] = frozenset()
    advises: bool = False

    @cached_property
    def by_id(self) -> Mapping[str, Tool]:
        return {tool.id: tool for tool in self.tools}

    @cached_property
    def by_wire_name(self) -> Mapping[str, Tool]:
        return {tool.wire_name: tool for tool in self.tools}

    @cached_property
    def names(self) -> Names:
        """The ids, for suggesting the closest one to a wrong name."""
        return Names(self.by_id)

    @cached_property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool.server for tool in self.tools))

    @cached_property
    def deferred(self) -> tuple[Tool, ...]:
        """The tools that wait for a search, including those loaded since."""
        return tuple(tool for tool in self.tools if tool.id in self.deferred_ids)

    def get(self, tool_id: str) -> Tool | None:
        return self.by_id.get(tool_id)

    def require(self, name: str) -> Tool:
        """Return the only tool called `name`. Raises ToolsightError with the closest ids."""
        matches = self.named(name)
        if len(matches) == 1:
            return matches[0]
        near = [tool.id for tool in matches] or self.names.closest(name)
        hint = f"Closest: {', '.join(near)}." if near else "No connected server has such a tool."
        problem = f"'{name}' matches several tools" if matches else f"there is no tool '{name}'"
        raise ToolsightError(problem, hint=hint)

    def named(self, name: str, *, server: str = "") -> tuple[Tool, ...]:
        """The tools that `name` can refer to as an id, a wire name or a plain name."""
        exact = self.by_id.get(name) or self.by_wire_name.get(name)
        matches: Sequence[Tool] = (exact,) if exact else [t for t in self.tools if t.name == name]
        return tuple(tool for tool in matches if not server or tool.server == server)
