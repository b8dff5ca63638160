"""Loads full definitions on demand (discovery, section 5.1; Tool Attention, appendix A.3)."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from inspector.core.tool import Tool, definition
from inspector.schema.model_feature import SchemaDialect
from inspector.tokens.catalog import Catalog


class DefinitionLoader:
    """Looks up tools in a catalog and caches the `capacity` most recently used definitions.

    `dialect` is the form in which the model's provider takes schemas.
    """

    def __init__(self, catalog: Catalog, capacity: int, dialect: SchemaDialect = "") -> None:
        self._dialect = dialect
        self._kept: OrderedDict[str, tuple[Tool, dict[str, Any]]] = OrderedDict()
        self.use(catalog, capacity, dialect)

    def use(self, catalog: Catalog, capacity: int, dialect: SchemaDialect = "") -> None:
        """Use this catalog from now on."""
        if dialect != self._dialect:
            self._kept.clear()
        self._catalog, self._capacity, self._dialect = catalog, capacity, dialect

    def __len__(self) -> int:
        return len(self._kept)

    def resolve(self, tool_id: str) -> Tool | None:
        """The tool with this id or, if the id is stale, the only tool with its name; None without one."""
        catalog = self._catalog
        tool = catalog.get(tool_id)
        if tool is not None:
            return tool
        named = catalog.named(tool_id.partition(":")[2])
        return named[0] if len(named) == 1 else None

    def definitions(self, tool_ids: Iterable[str]) -> list[dict[str, Any]]:
        """The definitions as sent, in order; the same objects as long as the tools do not change.

        Unknown tools are left out. Definitions requested together stay cached together.
        """
        catalog = self._catalog
        loaded = []
        for tool_id in tool_ids:
            tool = catalog.get(tool_id)
            if tool is None:
                continue
            kept = self._kept.pop(tool_id, None)
            if kept is None or kept[0] is not tool:
                kept = (tool, definition(tool, self._dialect))
            self._kept[tool_id] = kept
            loaded.append(kept[1])
        while len(self._kept) > max(self._capacity, len(loaded)):
            self._kept.popitem(last=False)
        return loaded
