"""What changes of definitions change: the last one of each tool, and what the model is to be told."""

from dataclasses import replace

from inspector.domain.events import DefinitionChanged, VersionTold
from inspector.domain.fold.step import step
from inspector.domain.session import SessionState


@step.register
def _definition_changed(event: DefinitionChanged, state: SessionState) -> SessionState:
    definitions = state.definitions
    if event.earlier is not None and event.earlier.tool is not None and event.before not in definitions:
        # First: it was listed before all of this session.
        definitions = {event.before: event.earlier.tool, **definitions}
    return replace(
        state,
        definitions=definitions,
        changes={**state.changes, event.tool: event},
        untold=_untold(event, state),
    )


def _untold(event: DefinitionChanged, state: SessionState) -> dict[str, tuple[str, ...]]:
    """The breaking changes that the model has to be told: those of tools that it has read of."""
    untold = dict(state.untold)
    tool = state.known(event.tool)
    knows = tool is not None and (tool.held_as or tool.binding).is_bound
    if event.verdict == "breaking" and knows and state.model_calls:
        known = untold.get(event.tool, ())
        untold[event.tool] = tuple(dict.fromkeys((*known, *event.breaking_reasons)))
    return untold


@step.register
def _version_told(event: VersionTold, state: SessionState) -> SessionState:
    return replace(state, untold={tool: why for tool, why in state.untold.items() if tool not in event.tools})
