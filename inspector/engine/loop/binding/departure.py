"""What becomes of bound tools when the catalog changes: held, evicted with the cause, or bound as before."""

from collections.abc import Callable, Collection, Iterator

from inspector.domain.catalog import Catalog
from inspector.domain.events import EvictionCause, ToolEvicted
from inspector.domain.session import SessionState, ToolState


def held_ids(state: SessionState, away: Catalog) -> tuple[str, ...]:
    """The tools to hold: those of servers that are away (`away` lists their tools) and have a history.

    Any other tool of these servers has nothing to keep: it is the same once its server is back.
    """
    known = (*state.tools.values(), *state.held.values())
    return tuple(tool.id for tool in known if tool.id in away.by_id and tool.has_history)


def departures(
    state: SessionState,
    catalog: Catalog,
    *,
    held: Collection[str],
    hidden: Collection[str],
    told_once: bool,
    permits: Callable[[str], bool] = lambda _tool_id: True,
    evict_breaking: bool = False,
) -> Iterator[ToolEvicted]:
    """The evictions of loaded tools that a new catalog causes, each with its cause.

    `hidden` are the tools that the toolset does not permit, and `permits` says of a tool whether its user
    may see it still. With `told_once` the model reads
    a definition only in a search result, not in each request: a tool that changed has to be found again.
    With `evict_breaking` so has any tool whose change breaks the calls that the model would make.
    """
    for tool_id in state.places:
        tool = state.known(tool_id)
        if tool is None or tool_id in held:
            continue
        if catalog.get(tool_id) is None:
            cause: EvictionCause = "toolset" if tool_id in hidden else "gone"
            yield _evicted(tool, cause if permits(tool_id) else "access")
        elif told_once and has_changed(state, tool):
            yield _evicted(tool, "changed")
        elif evict_breaking and has_changed(state, tool) and (why := state.untold.get(tool_id)):
            yield ToolEvicted(tool_id, f"{tool.server} changed it: {'; '.join(why)}", "changed")


def has_changed(state: SessionState, tool: ToolState) -> bool:
    """Whether its server lists another definition now than the one that was in the catalog."""
    return tool.definition not in ("", state.listed.get(tool.id))


def _evicted(tool: ToolState, cause: EvictionCause) -> ToolEvicted:
    reasons = {
        "gone": f"{tool.server} no longer lists it",
        "toolset": "the toolset does not permit it",
        "access": "it is not available to you any more",
        "changed": f"{tool.server} changed it: the search result that the model read is out of date",
    }
    return ToolEvicted(tool.id, reasons[cause], cause)
