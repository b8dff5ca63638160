"""Full definitions, fetched when they are needed (discovery, section 5.1; Tool Attention, appendix A.3)."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from inspector.domain.catalog import Catalog
from inspector.domain.tool import Tool, definition


class DefinitionLoader:
    """Looks tools up in a catalog, and keeps the `capacity` definitions that were used last at hand."""

    def __init__(self, catalog: Catalog, capacity: int) -> None:
        self.use(catalog, capacity)
        self._kept: OrderedDict[str, tuple[Tool, dict[str, Any]]] = OrderedDict()

    def use(self, catalog: Catalog, capacity: int) -> None:
        """Answer from this catalog from now on."""
        self._catalog, self._capacity = catalog, capacity

    def __len__(self) -> int:
        return len(self._kept)

    def resolve(self, tool_id: str) -> Tool | None:
        """The tool of an id; where the id is stale the only tool of that name, None without one."""
        catalog = self._catalog
        tool = catalog.get(tool_id)
        if tool is not None:
            return tool
        named = catalog.named(tool_id.partition(":")[2])
        return named[0] if len(named) == 1 else None

    def definitions(self, tool_ids: Iterable[str]) -> list[dict[str, Any]]:
        """The definitions as they are sent, in order; the same objects as long as the tools do not change.

        Tools that are gone are left out. What is asked for together stays at hand together.
        """
        catalog = self._catalog
        found = []
        for tool_id in tool_ids:
            tool = catalog.get(tool_id)
            if tool is None:
                continue
            kept = self._kept.pop(tool_id, None)
            if kept is None or kept[0] is not tool:
                kept = (tool, definition(tool))
            self._kept[tool_id] = kept
            found.append(kept[1])
        while len(self._kept) > max(self._capacity, len(found)):
            self._kept.popitem(last=False)
        return found
