"""Each event in one line, for feeds and tables. Raw text: whoever prints it makes it harmless."""

from functools import singledispatch

from inspector.domain.conversation import arguments_text
from inspector.domain.events import event as ev


@singledispatch
def summary(event: ev.Event) -> str:
    """What happened, in a line; an unknown kind is its name."""
    return event.kind


@summary.register
def _(event: ev.SessionStarted) -> str:
    return f"{event.config}  {event.model_label}  {len(event.servers)} servers"


@summary.register
def _(event: ev.SessionsForgotten) -> str:
    return f"{len(event.sessions)} recorded sessions, too old or too many"


@summary.register
def _(event: ev.ServerConnecting) -> str:
    return f"{event.server}  {event.target}"


@summary.register
def _(event: ev.ServerReady) -> str:
    skipped = f", {len(event.skipped)} skipped" if event.skipped else ""
    return f"{event.server}  {event.tools} tools{skipped}, {event.tokens} tokens, {event.milliseconds:.0f} ms"


@summary.register
def _(event: ev.ServerFailed) -> str:
    return f"{event.server}  {event.reason}"


@summary.register
def _(event: ev.ServerStopped) -> str:
    return event.server


@summary.register
def _(event: ev.ToolsChanged) -> str:
    signs = (("+", event.added), ("-", event.removed), ("~", event.changed))
    return "  ".join([event.server, *(f"{sign}{name}" for sign, names in signs for name in names)])


@summary.register
def _(event: ev.CatalogBuilt) -> str:
    deferred = sum(entry.deferred for entry in event.entries)
    toolset = f"toolset {event.toolset}: " if event.toolset else ""
    return f"{toolset}{len(event.entries)} tools, {deferred} deferred, {event.static_tokens} tokens if static"


@summary.register
def _(event: ev.IndexChanged) -> str:
    index = event.index
    return f"{index.phase}  {index.embedded} of {index.total} texts  {index.reason or index.model}"


@summary.register
def _(event: ev.SettingsChanged) -> str:
    changed = f": {', '.join(event.changed)}" if event.changed else ", nothing changed"
    return f"profile {event.profile}{changed}"


@summary.register
def _(event: ev.MilestoneReached) -> str:
    return f"{event.name}  by {event.by}"


@summary.register
def _(event: ev.GateApplied) -> str:
    best = f", best {event.candidates[0].tool} {event.candidates[0].score:.2f}" if event.candidates else ""
    closed = sum(bool(one.unmet) for one in event.candidates)
    kept_out = f", {closed} kept out by preconditions" if closed else ""
    return f"{len(event.active)} over {event.threshold:g}{best}, {event.below} below{kept_out}"


@summary.register
def _(event: ev.ModelSwitched) -> str:
    return event.label


@summary.register
def _(event: ev.UserSaid) -> str:
    return event.text


@summary.register
def _(event: ev.ModelRequested) -> str:
    thinks = ", has to think" if event.think else ""
    resent = f", {event.resent} tokens anew: {event.change}" if event.resent and event.same else ""
    return f"turn {event.turn}: {len(event.bound)} tools, {event.tokens.used} tokens{resent}{thinks}"


@summary.register
def _(event: ev.ContextReduced) -> str:
    return f"{event.step}: {event.before} -> {event.after} tokens, {event.text}"


@summary.register
def _(event: ev.AnswerStreamed) -> str:
    return event.text


@summary.register
def _(event: ev.ModelResponded) -> str:
    calls = "thinks" if event.thought else ", ".join(call.name for call in event.tool_calls)
    return f"turn {event.turn}: {calls or event.text or '(nothing)'}"


@summary.register
def _(event: ev.SearchPerformed) -> str:
    results = event.report.results
    best = f", best {results[0].tool_id} {results[0].score.value:.2f}" if results else ""
    return f"{event.report.request.label()} -> {len(results)}{best}"


@summary.register
def _(event: ev.ToolLoaded) -> str:
    return f"{event.tool}  +{event.tokens}  {event.reason}"


@summary.register
def _(event: ev.ToolRefreshed) -> str:
    return f"{event.tool}  found again by {event.reason}"


@summary.register
def _(event: ev.ToolEvicted) -> str:
    return f"{event.tool}  {event.reason}"


@summary.register
def _(event: ev.CallStarted) -> str:
    return f"{event.tool}  {arguments_text(event.arguments)}"


@summary.register
def _(event: ev.CallFinished) -> str:
    return f"{event.tool}  {'ok' if event.ok else 'failed'}  {event.milliseconds:.0f} ms"


@summary.register
def _(event: ev.CallRejected) -> str:
    return f"{event.name}  {event.reason}"


@summary.register
def _(event: ev.ApprovalDecided) -> str:
    return f"{event.tool}  {event.decision}"


@summary.register
def _(event: ev.CallCounted) -> str:
    exempt = ", exempt" if event.exempt else ""
    counts = f"{event.in_time}x in time, {event.in_calls}x in the last calls"
    return f"{event.tool}  {event.arguments_hash[:8]}  {counts}{exempt}"


@summary.register
def _(event: ev.LoopDetected) -> str:
    where = "the last calls" if event.trigger == "calls" else f"{event.window_seconds:.0f} s"
    return f"{event.tool}  {event.count} equal calls in {where}"


@summary.register
def _(event: ev.RedundantSearch) -> str:
    return f"{event.query}  {event.overlap:.0%} as {event.earlier}"


@summary.register
def _(event: ev.BudgetMeasured) -> str:
    budget = event.budget
    return f"{budget.parts.used} of {budget.window} tokens, {budget.saved} saved"


@summary.register
def _(event: ev.TurnEnded) -> str:
    return event.outcome


@summary.register
def _(event: ev.Failed) -> str:
    return f"{event.where}: {event.message}"
