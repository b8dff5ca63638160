"""How changed definitions change the state: each tool's last change, and what the model needs to know."""

from inspector.core.definition_change import judged
from inspector.core.events import DefinitionChanged, VersionTold
from inspector.core.fold.step import evolve, step
from inspector.core.session import SessionState


@step.register
def _definition_changed(event: DefinitionChanged, state: SessionState) -> SessionState:
    definitions = state.definitions
    if event.earlier is not None and event.earlier.tool is not None and event.before not in definitions:
        # First: it was listed before all of this session.
        definitions = {event.before: event.earlier.tool, **definitions}
    untold = _untold(event, state)
    return evolve(
        state,
        definitions=definitions,
        changes={**state.changes, event.tool: event},
        untold=untold,
        read_as={tool: state.read_as.get(tool, event.before) for tool in untold},
    )


def _untold(event: DefinitionChanged, state: SessionState) -> dict[str, tuple[str, ...]]:
    """The breaking changes that the model needs to know: those of tools it has read."""
    untold = dict(state.untold)
    tool = state.known(event.tool)
    knows = tool is not None and (tool.held_as or tool.binding).is_bound
    if event.tool in untold:
        untold[event.tool] = _since_read(event, state)
    elif event.verdict == "breaking" and knows and state.model_calls:
        untold[event.tool] = event.breaking_reasons
    return {tool_id: why for tool_id, why in untold.items() if why}


def _since_read(event: DefinitionChanged, state: SessionState) -> tuple[str, ...]:
    """What breaks between what the model read last and what is listed now, whatever was between them."""
    read = state.read_as.get(event.tool, "")
    if event.after == read:
        return ()
    before, after = state.definitions.get(read), state.definitions.get(event.after)
    if before is None or after is None:
        return tuple(dict.fromkeys((*state.untold[event.tool], *event.breaking_reasons)))
    change = judged(before, after)
    return change.reasons[: change.breaking]


@step.register
def _version_told(event: VersionTold, state: SessionState) -> SessionState:
    untold = {tool: why for tool, why in state.untold.items() if tool not in event.tools}
    return evolve(state, untold=untold, read_as={tool: state.read_as[tool] for tool in untold})
