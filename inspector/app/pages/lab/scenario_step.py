"""One step of a run: its events, what the model read, and what is bound after it."""

from collections.abc import Iterator

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.lab.walkthrough import MODEL, REJECT, START, StepFrame, Walkthrough
from inspector.core.access import viewer
from inspector.core.events import (
    BudgetMeasured,
    CallStarted,
    IndexChanged,
    ModelRequested,
    RedundantSearch,
    ServerConnecting,
    ToolEvicted,
    ToolLoaded,
    UserSaid,
)
from inspector.core.message import arguments_text
from inspector.core.number import count, tokens
from inspector.core.session import Binding
from inspector.core.turns import Act, ModelCall, Rejection, Search, ToolCall
from inspector.search.answer_text import answered
from widgets import Column, Record, Tone, middle, plain, visible

# The key prefix of rows that are no step; the keys of steps are their numbers.
MISSED = "missed:"
STEP_COLUMNS = (
    Column("number", "", align="right", weight=9),
    Column("mark", "", width=2, weight=8),
    Column("letter", "", width=1, weight=7),
    Column("kind", "", width=6, weight=6),
    Column("what", "", shorten="middle", min_width=12, weight=5),
)
_TEXT = 600
_LINES = 4
_HIDDEN = tuple(
    each.kind for each in (BudgetMeasured, IndexChanged, CallStarted, ModelRequested, ServerConnecting)
)
_TONES: dict[str, Tone] = {REJECT: "error", START: "muted"}


def step_rows(shown: Walkthrough) -> tuple[Record, ...]:
    """Return one row per step with its expectations, then the expectations that were never met."""
    rows = [_step_row(frame) for frame in shown.frames]
    for number, finding in enumerate(shown.missed):
        text = visible(finding.text, newlines=False, limit=300)
        rows.append(Record(f"{MISSED}{number}", ("", "✕", "", "missed", text), tone="error", copy=text))
    return tuple(rows)


def missed(shown: Walkthrough, key: str) -> Content:
    """Return an unmet expectation, by the key of its row."""
    finding = shown.missed[int(key.removeprefix(MISSED))]
    text = plain(finding.expectation.text, limit=_TEXT)
    reason = plain(finding.reason, limit=_TEXT)
    return Content.assemble(("✕ Expected but never happened\n", "bold $text-error"), text, "\n\n", reason)


def _step_row(frame: StepFrame) -> Record:
    letter = frame.counted.letter if frame.counted is not None else ""
    kind, what = _line(frame)
    marks = "✕" if frame.broken else "✓" if frame.met else ""
    many = len(frame.met) if not frame.broken else len(frame.broken)
    noted = frame.loop is not None or bool(frame.of(RedundantSearch))
    tone: Tone = "error" if frame.broken else "warning" if noted else _TONES.get(frame.kind, "")
    what = visible(what, newlines=False, limit=300)
    return Record(
        str(frame.number),
        (str(frame.number), f"{marks}{many if many > 1 else ''}"[:2], letter, kind, what),
        tone=tone,
        search=" ".join((kind, what, *(record.kind for record in frame.records))),
    )


def _line(frame: StepFrame) -> tuple[str, str]:
    """Return the kind of a step in a word, and what it did."""
    match frame.step:
        case ModelCall() as call:
            return ("think" if call.request.think else "model"), f"{_seen_by(frame)}{_model_line(call)}"
        case Search(event=event, redundant=redundant):
            is_known = redundant is not None and redundant.overlap == 1
            found = "nothing new" if is_known else answered(event.report)
            return "search", f"{found}: {event.report.request.label()}"
        case ToolCall(event=event, end=end):
            failed = end is not None and not end.ok
            kind = "loop" if frame.loop is not None else "failed" if failed else "call"
            return kind, f"{event.tool} {arguments_text(event.arguments)}"
        case Rejection(event=event):
            return "reject", f"{event.name}: {event.reason}"
    return "start", f"{count(frame.state.ready_servers, 'server')}, {count(len(frame.state.tools), 'tool')}"


def _seen_by(frame: StepFrame) -> str:
    """Return who sees the session, at the first call for a message; "" where nobody in particular does."""
    state, is_first = frame.state, bool(frame.of(UserSaid))
    return f"as {viewer(state.user, state.expert)}: " if is_first and state.is_restricted else ""


def _model_line(call: ModelCall) -> str:
    if call.answer is None:
        return "no answer"
    calls = ", ".join(wanted.name for wanted in call.answer.tool_calls)
    return f"calls {calls}" if calls else call.answer.text or "(nothing)"


def guard_title(frame: StepFrame) -> str:
    """Return the guard's limits."""
    guard = frame.guard
    in_time = f"{guard.max_repeats} in {guard.window_seconds:g} s"
    limits = f"{in_time}, {guard.window_repeats} in {count(guard.window_calls, 'call')}"
    return f"Guard: {limits}" if guard.enabled else "Guard: off, counting only"


def step_title(frame: StepFrame) -> str:
    """Return the step's number and kind."""
    return f"Step {frame.number}: {_line(frame)[0]}" if frame.number else "Before the first model call"


def happened(frame: StepFrame, width: int) -> Content:
    """Return every event of the step in a line; ✓ was expected, ✕ must not occur."""
    met = {finding.seq for finding in frame.met}
    broken = {finding.seq for finding in frame.broken}
    lines = []
    for record in frame.records:
        if record.kind in _HIDDEN and record.seq not in met | broken:
            continue
        mark = ("✕", "bold $text-error") if record.seq in broken else ("✓", "$text-success")
        sign = mark if record.seq in met | broken else (" ", "")
        text = middle(record.event.summary()[:_TEXT], max(width - 12, 8))
        lines.append(Content.assemble(sign, " ", (f"{record.kind:<9} ", MUTED), text))
    lines += [
        Content.assemble(
            ("✕ must not occur: ", "$text-error"), middle(finding.expectation.text, max(width - 18, 8))
        )
        for finding in frame.broken
    ]
    return Content("\n").join(lines) if lines else Content.styled("Nothing was recorded.", MUTED)


def read(frame: StepFrame) -> tuple[str, Content]:
    """Return a title, and what the model read or said in the step; notes and guidance stand out."""
    texts: list[Content] = []
    for record in frame.records:
        if isinstance(record.event, UserSaid):
            texts.append(Content.assemble(("You  ", MUTED), plain(record.event.text, limit=_TEXT)))
        elif frame.step is not None and record is frame.step.record:
            texts += _read(frame.step)
    title = "The model" if frame.kind in (MODEL, START) else "The model reads"
    return title, Content("\n").join(texts) if texts else Content.styled("Nothing yet.", MUTED)


def _read(step: ModelCall | Act) -> Iterator[Content]:
    match step:
        case ModelCall(request=request, answer=answer):
            yield from _request(request)
            if answer is not None and answer.text:
                yield plain(answer.text, limit=_TEXT)
        case Search(event=event, redundant=noted) if noted is not None:
            # Its text ends with the note, which is shown separately.
            yield _first_lines(event.text.removesuffix(noted.note).rstrip())
            yield _stressed(noted.note)
        case Search(event=event) | Rejection(event=event):
            yield _first_lines(event.text)
        case ToolCall(end=end) if end is not None:
            yield _first_lines(end.text)
    if isinstance(step, Act) and step.loop is not None:
        yield _stressed(step.loop.guidance)


def _stressed(text: str) -> Content:
    return plain(text, limit=_TEXT).stylize("bold $text-warning")


def _first_lines(text: str) -> Content:
    """Return the first lines of a result, so that the guidance after it stays visible."""
    lines = text[:_TEXT].splitlines() or [""]
    more = "\n…" if len(lines) > _LINES or len(text) > _TEXT else ""
    return Content.assemble(plain("\n".join(lines[:_LINES])), (more, MUTED))


def _request(event: ModelRequested) -> Iterator[Content]:
    yield Content.styled(
        f"receives {count(len(event.bound), 'tool')}, {tokens(event.tokens.tool_tokens)} tokens", MUTED
    )
    if event.think:
        yield Content.styled("⚠ The model must think and may not call a tool.", "bold $text-warning")


def bound(shown: Walkthrough, number: int, width: int) -> Content:
    """Return what is bound after a step, what was evicted and why, and the redundant searches."""
    frame = shown.frames[number]
    state = frame.state
    loaded, evicted = frame.of(ToolLoaded), frame.of(ToolEvicted)
    moved = {event.tool for event in loaded} | {event.tool for event in evicted}
    pinned = len(state.pinned)
    waiting = len(state.with_binding(Binding.DEFERRED))
    lines = [Content.styled(f"⌂ {pinned} pinned   ○ {waiting} deferred", MUTED)]
    lines += [
        _tool("●", "$text-success", tool_id, state.tools[tool_id].reason, tool_id in moved, width)
        for tool_id in state.load_order
        if tool_id in state.tools
    ]
    lines += [
        _tool("✕", "$text-error", tool.id, tool.reason, tool.id in moved, width)
        for tool in state.with_binding(Binding.EVICTED)
    ]
    lines += [
        _tool("‖", "$text-warning", tool.id, f"held as {tool.held_as}", tool.id in moved, width)
        for tool in state.held.values()
    ]
    lines += _overlaps(shown, number, width)
    return Content("\n").join(lines)


def _tool(sign: str, color: str, tool_id: str, reason: str, moved: bool, width: int) -> Content:
    name = middle(tool_id, max(width // 2, 12))
    rest = middle(reason, max(width - len(name) - 6, 8))
    return Content.assemble(("›" if moved else " ", "bold"), (sign, color), f" {name}  ", (rest, MUTED))


def _overlaps(shown: Walkthrough, number: int, width: int) -> Iterator[Content]:
    """Yield the searches up to a step that brought little or nothing new."""
    for frame in shown.frames[: number + 1]:
        if isinstance(frame.step, Search) and frame.step.redundant is not None:
            now = ("›" if frame.number == number else " ", "bold")
            told = middle(frame.step.redundant.summary(), max(width - 3, 8))
            yield Content.assemble(now, ("⚠ ", "$text-warning"), told)
