"""What events of model calls and tool calls change: costs, uses, approvals, counts."""

from dataclasses import replace

from inspector.core.events import (
    ApprovalDecided,
    BudgetMeasured,
    CallCounted,
    CallFinished,
    CallRejected,
    CallStarted,
    ContextReduced,
    Decision,
    LoopDetected,
    ModelRequested,
    ModelResponded,
)
from inspector.core.fold.inertia import with_call
from inspector.core.fold.step import evolve, step, with_tool
from inspector.core.session import CallCost, SessionState


@step.register
def _model_requested(event: ModelRequested, state: SessionState) -> SessionState:
    return evolve(
        state,
        model_calls=event.call,
        # A held tool keeps its place until a request goes without it; from then on the end costs least.
        places=(*state.load_order, *(tool_id for tool_id in state.places if tool_id in state.held)),
        costs=(*state.costs, _cost(event, state)),
    )


def _cost(event: ModelRequested, state: SessionState) -> CallCost:
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
def _model_responded(event: ModelResponded, state: SessionState) -> SessionState:
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
def _context_reduced(_event: ContextReduced, state: SessionState) -> SessionState:
    return evolve(state, reductions=state.reductions + 1)


@step.register
def _budget_measured(event: BudgetMeasured, state: SessionState) -> SessionState:
    return evolve(state, budget=event.budget)


@step.register
def _call_started(event: CallStarted, state: SessionState) -> SessionState:
    if event.by != "model":
        return state
    state = with_call(state, event.tool)
    if not state.recovering:
        return state
    return evolve(state, recovering=False, recoveries=state.recoveries + 1)


@step.register
def _call_rejected(_event: CallRejected, state: SessionState) -> SessionState:
    return evolve(state, rejections=state.rejections + 1, recovering=True)


@step.register
def _call_finished(event: CallFinished, state: SessionState) -> SessionState:
    known = state.known(event.tool)
    uses = known.uses + 1 if known else 0
    state = with_tool(state, event.tool, uses=uses, last_call=state.model_calls, last_used_at=state.at)
    outputs = state.outputs | {event.tool} if event.ok else state.outputs
    return evolve(state, calls=state.calls + 1, used=state.used | {event.tool}, outputs=outputs)


@step.register
def _approval_decided(event: ApprovalDecided, state: SessionState) -> SessionState:
    approved = state.approved
    if event.decision in (Decision.SESSION, Decision.SERVER) and event.definition:
        approved |= {event.definition}
    return evolve(state, approvals={**state.approvals, event.tool: event}, approved=approved)


@step.register
def _call_counted(event: CallCounted, state: SessionState) -> SessionState:
    return evolve(state, counts={**state.counts, event.tool: event})


@step.register
def _loop_detected(_event: LoopDetected, state: SessionState) -> SessionState:
    return evolve(state, loops=state.loops + 1)
