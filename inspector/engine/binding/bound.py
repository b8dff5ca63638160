"""The `tools` array from the catalog and the session's bindings."""

from typing import Any

from inspector.domain.catalog import Catalog
from inspector.domain.manifest import search_tools_definition
from inspector.domain.session import SessionState
from inspector.domain.tool import definition


def tools_array(catalog: Catalog, state: SessionState) -> tuple[dict[str, Any], ...]:
    """The meta-tool first, then pinned tools in catalog order, then loaded ones in load order.

    Newly found tools come last, so that everything before them stays byte for byte what it was and a
    provider's prompt cache keeps its prefix. Without deferred tools there is no meta-tool (PRD section 5).
    """
    meta = (search_tools_definition(state.manifest),) if state.manifest else ()
    bound = (catalog.get(tool_id) for tool_id in state.bound_ids)
    return meta + tuple(definition(tool) for tool in bound if tool is not None)
