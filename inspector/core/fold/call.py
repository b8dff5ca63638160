"""What events of calls change: costs, uses, approvals, counts, breakers, predictions, versions."""

from msgspec.structs import replace

from inspector.core import events
from inspector.core.definition import judged
from inspector.core.error import BreakerState, BreakerStatus
from inspector.core.fold.tool import evolve, step, with_tool
from inspector.core.session import CallCost, InertiaState, SessionState


@step.register
def _breaker_changed(event: events.BreakerChanged, state: SessionState) -> SessionState:
    status = breaker_status(event, state.at, state.breakers.get(event.name))
    return evolve(state, breakers={**state.breakers, event.name: status})


def breaker_status(event: events.BreakerChanged, at: float, before: BreakerStatus | None) -> BreakerStatus:
    """What is known of a breaker after its newest change, `at` seconds since 1970."""
    opens = event.after is BreakerState.OPEN
    return BreakerStatus(
        server=event.server,
        tool=event.tool,
        state=event.after,
        since=at,
        until=at + event.cool_down if opens else 0.0,
        why=event.why,
        failure_rate=event.failure_rate,
        calls=event.calls,
        opened=(before.opened if before is not None else 0) + opens,
    )


@step.register
def _call_retried(_event: events.CallRetried, state: SessionState) -> SessionState:
    return evolve(state, retries=state.retries + 1, turn_retries=state.turn_retries + 1)


@step.register
def _model_retried(event: events.ModelRetried, state: SessionState) -> SessionState:
    return evolve(
        state,
        retries=state.retries + 1,
        turn_retries=state.turn_retries + 1,
        turn_dollars=state.turn_dollars + (event.dollars or 0.0),
    )


@step.register
def _tool_substituted(_event: events.ToolSubstituted, state: SessionState) -> SessionState:
    return evolve(state, substitutions=state.substitutions + 1)


def with_call(state: SessionState, tool_id: str) -> SessionState:
    """The state as the model calls a tool."""
    inertia = state.inertia
    known = state.known(tool_id)
    if known is not None and known.is_ahead:
        inertia = replace(inertia, used=inertia.used | {tool_id})
    return evolve(state, inertia=replace(inertia, called=tool_id))


def with_message(inertia: InertiaState) -> InertiaState:
    """What is left as the user says something: another task, which begins with no call."""
    return replace(inertia, called="")


@step.register
def _model_requested(event: events.ModelRequested, state: SessionState) -> SessionState:
    return evolve(
        state,
        model_calls=event.call,
        # A held tool keeps its place until a request goes without it; from then on the end costs least.
        places=(*state.load_order, *(tool_id for tool_id in state.places if tool_id in state.held)),
        costs=(*state.costs, _cost(event, state)),
    )


def _cost(event: events.ModelRequested, state: SessionState) -> CallCost:
    static = state.budget.static_tools if state.budget is not None else 0
    return CallCost(
        call=event.call,
        parts=event.tokens,
        static_tools=static,
        charge=event.charge,
        terms=event.terms,
        at=state.at,
        breakpoints=event.breakpoints,
    )


@step.register
def _model_responded(event: events.ModelResponded, state: SessionState) -> SessionState:
    usage, costs = event.usage, state.costs
    if costs and costs[-1].call == event.call:
        reported = replace(
            costs[-1],
            answer=event.counted,
            reported_input=usage.input_tokens,
            reported_output=usage.output_tokens,
            reported_read=usage.cached_tokens,
            reported_written=usage.written_tokens,
            reported_written_hour=usage.written_hour_tokens,
            reported_reasoning=usage.reasoning_tokens,
        )
        costs = (*costs[:-1], reported)
    return evolve(state, costs=costs)


@step.register
def _context_reduced(_event: events.ContextReduced, state: SessionState) -> SessionState:
    return evolve(state, reductions=state.reductions + 1)


@step.register
def _budget_measured(event: events.BudgetMeasured, state: SessionState) -> SessionState:
    return evolve(state, budget=event.budget)


@step.register
def _call_started(event: events.CallStarted, state: SessionState) -> SessionState:
    if event.by != "model":
        return state
    state = with_call(state, event.tool)
    if not state.recovering:
        return state
    return evolve(state, recovering=False, recoveries=state.recoveries + 1)


@step.register
def _call_rejected(event: events.CallRejected, state: SessionState) -> SessionState:
    if event.is_refused:
        return evolve(state, refusals=state.refusals + 1)
    return evolve(state, rejections=state.rejections + 1, recovering=True)


@step.register
def _call_finished(event: events.CallFinished, state: SessionState) -> SessionState:
    known = state.known(event.tool)
    uses = known.uses + 1 if known else 0
    state = with_tool(state, event.tool, uses=uses, last_call=state.model_calls, last_used_at=state.at)
    outputs = state.outputs | {event.tool} if event.ok else state.outputs
    reports = {tool: words for tool, words in state.reports.items() if tool != event.tool}
    used = state.used | {event.tool}
    return evolve(state, calls=state.calls + 1, used=used, outputs=outputs, reports=reports)


@step.register
def _call_reported(event: events.TaskChanged | events.CallProgress, state: SessionState) -> SessionState:
    return evolve(state, reports={**state.reports, event.tool: event.words})


@step.register
def _approval_decided(event: events.ApprovalDecided, state: SessionState) -> SessionState:
    approved = state.approved
    if event.decision in (events.Decision.SESSION, events.Decision.SERVER) and event.definition:
        approved |= {event.definition}
    return evolve(state, approvals={**state.approvals, event.tool: event}, approved=approved)


@step.register
def _call_counted(event: events.CallCounted, state: SessionState) -> SessionState:
    return evolve(state, counts={**state.counts, event.tool: event})


@step.register
def _loop_detected(_event: events.LoopDetected, state: SessionState) -> SessionState:
    return evolve(state, loops=state.loops + 1)


@step.register
def _definition_changed(event: events.DefinitionChanged, state: SessionState) -> SessionState:
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


def _untold(event: events.DefinitionChanged, state: SessionState) -> dict[str, tuple[str, ...]]:
    """The breaking changes that the model needs to know: those of tools it has read."""
    untold = dict(state.untold)
    tool = state.known(event.tool)
    knows = tool is not None and (tool.held_as or tool.binding).is_bound
    if event.tool in untold:
        untold[event.tool] = _since_read(event, state)
    elif event.verdict == "breaking" and knows and state.model_calls:
        untold[event.tool] = event.breaking_reasons
    return {tool_id: why for tool_id, why in untold.items() if why}


def _since_read(event: events.DefinitionChanged, state: SessionState) -> tuple[str, ...]:
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
def _version_told(event: events.VersionTold, state: SessionState) -> SessionState:
    untold = {tool: why for tool, why in state.untold.items() if tool not in event.tools}
    return evolve(state, untold=untold, read_as={tool: state.read_as[tool] for tool in untold})
