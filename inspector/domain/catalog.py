"""The permitted tools of the connected servers, with the ways to name one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inspector.domain.closest import Names
from inspector.domain.error import ToolsightError
from inspector.domain.tool import Tool


@dataclass(frozen=True)
class Catalog:
    """Tools in server order, after the toolset filter. What is not here cannot be listed, found or called.

    `deferred_ids` wait for a search or the gate. With `advises`, nothing waits and the model may search.
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
        """The ids, to find the one that a wrong name may have meant."""
        return Names(self.by_id)

    @cached_property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool.server for tool in self.tools))

    @cached_property
    def deferred(self) -> tuple[Tool, ...]:
        """The tools that wait for a search, whether or not they are loaded by now."""
        return tuple(tool for tool in self.tools if tool.id in self.deferred_ids)

    @property
    def searchable(self) -> tuple[Tool, ...]:
        """What a search looks through; where nothing waits a person can still look for everything."""
        return self.deferred or self.tools

    def get(self, tool_id: str) -> Tool | None:
        return self.by_id.get(tool_id)

    def require(self, name: str) -> Tool:
        """The one tool that `name` means. Raises ToolsightError with the closest ids."""
        found = self.named(name)
        if len(found) == 1:
            return found[0]
        near = [tool.id for tool in found] or self.names.closest(name)
        hint = f"Closest: {', '.join(near)}." if near else "No connected server has such a tool."
        raise ToolsightError(f"no single tool is called '{name}'", hint=hint)

    def named(self, name: str, *, server: str = "") -> tuple[Tool, ...]:
        """The tools a person or a model can mean by `name`: an id, a wire name, or a plain name."""
        exact = self.by_id.get(name) or self.by_wire_name.get(name)
        found: Sequence[Tool] = (exact,) if exact else [t for t in self.tools if t.name == name]
        return tuple(tool for tool in found if not server or tool.server == server)
