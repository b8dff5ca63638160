"""The result of a call by hand, with what is to be known of it, and the calls that a form offers again."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.dialogs.export import PathDialog
from inspector.app.draw.line import MUTED
from inspector.clients.client import real_clients
from inspector.clients.seen import kept_results
from inspector.core.error import ToolsightError
from inspector.core.events import CallFinished, CallStarted, Record as EventRecord
from inspector.core.message import ToolResult, arguments_text
from inspector.core.number import count, milliseconds, shown_moment
from inspector.core.redaction import clean
from inspector.core.text import file_name
from inspector.core.tool import Tool
from inspector.features.tools.call import result_changes
from inspector.mcp.pace import size_text
from inspector.schema.json_value import JsonObject, compact
from inspector.schema.schema import checked_output
from inspector.store.saved_call import SAVED_CALLS, SavedCall, save_call, saved_calls
from widgets import JsonTree, Record, TextView, plain, visible

_BEFORE = Content.styled("Fill in the form, then ctrl+r. The result appears here.", MUTED)
_FITS = {
    True: ("✓ fits the output schema", "$text-success"),
    False: ("✕ does not fit the output schema", "$text-error"),
    None: ("output schema not checked", MUTED),
}

_NAMED = "name"
_RUNNING = Content.styled("calling …", "$text-warning")


class Answer(Struct, frozen=True):
    """What is shown of a call. `changes` is how its result differs from the one before, None without one."""

    line: Content
    result: ToolResult | None = None
    arguments: JsonObject | None = None
    changes: tuple[str, ...] | None = None


class CallAnswer(InContext, Vertical):
    """The result panel; empty until the first call."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tool: Tool | None = None
        self._answer: Answer | None = None

    def compose(self) -> ComposeResult:
        yield Static(_BEFORE, id="result-line")
        yield TextView(empty="", id="result-text")
        yield JsonTree(empty="Empty.", id="result-tree")
        yield TextView(id="result-changes")

    def on_mount(self) -> None:
        self.query_one("#result-tree").border_title = "Structured"
        self.query_one("#result-changes").border_title = "Changes since the previous call"

    def show(self, tool: Tool, answer: Answer | None) -> None:
        """Show a call of a tool, or what to do before the first."""
        self._tool, self._answer = tool, answer
        result = answer.result if answer else None
        self.query_one("#result-line", Static).update(answer.line if answer else _BEFORE)
        text = self.query_one("#result-text", TextView)
        text.text = result.text if result else ""
        text.empty = "The tool returned no text." if result else ""
        tree = self.query_one("#result-tree", JsonTree)
        tree.value = result.structured if result else None
        tree.set_class(tree.value is not None, "-shown")
        changes = self.query_one("#result-changes", TextView)
        changes.text = "\n".join(answer.changes or ()) if answer else ""
        changes.set_class(bool(changes.text), "-shown")

    def export_answer(self) -> None:
        """Save the call with a name, to repeat and compare, or what is attached to its result."""
        tool, answer = self._tool, self._answer
        if tool is None or answer is None or answer.result is None:
            self.warn("Nothing to export before the first call.")
            return
        rows = tuple(_exports(answer.result))
        if len(rows) == 1:
            self._export(tool, answer, answer.result, rows[0].key)
            return

        def choose(key: str) -> None:
            # Once the list is closed: another dialog opens.
            self.call_later(self._export, tool, answer, answer.result, key)

        self.app.push_screen(ChoiceDialog("Export", rows, choose, rows[0].key))

    def _export(self, tool: Tool, answer: Answer, result: ToolResult, key: str) -> None:
        """Ask for a file or a name, and save under it."""
        if key == _NAMED:
            note = f"The name of the call in {SAVED_CALLS}."
            saved = SavedCall(tool.id, answer.arguments or {}, result)
            dialog = PathDialog("Save the call", "saves", tool.name, note)
            self.app.push_screen(dialog, partial(self._save, saved))
            return
        one = result.attachments[int(key)]
        try:
            data = one.data()
        except ToolsightError as error:
            self.fail(error)
        else:
            self.export(Path(f"{file_name(tool.id)}{one.suffix}"), data, what=size_text(one.size))

    def _save(self, call: SavedCall, name: str | None) -> None:
        if name is None:
            return
        try:
            save_call(Path(SAVED_CALLS), name, call)
        except ToolsightError as error:
            self.fail(error)
        else:
            told = shlex.join(("toolsight", "call", "--saved", name, *self.context.opened.source))
            self.notify(visible(told, limit=300), title=f"Saved in {SAVED_CALLS}", markup=False)


def _exports(result: ToolResult) -> Iterator[Record]:
    for number, one in enumerate(result.attachments):
        about = f"{visible(one.mime or 'unknown type', limit=80, newlines=False)} to a file"
        kind = visible(one.kind, limit=80, newlines=False)
        yield Record(str(number), (" ", kind, size_text(one.size)), detail=about)
    about = f"in {SAVED_CALLS}, for toolsight call --saved NAME"
    yield Record(_NAMED, (" ", "call and result with a name", ""), detail=about)


def result_notes(tool: Tool, result: ToolResult, tokens: Callable[[str], int]) -> Content:
    """Return what is to be known of a result beside what it says. It may take long."""
    return Content("\n").join([*_notes(tool, result, tokens)])


def _notes(tool: Tool, result: ToolResult, tokens: Callable[[str], int]) -> Iterator[Content]:
    schema = None if result.is_error else tool.output_schema
    if (check := checked_output(schema, result.structured)) is not None:
        text, color = _FITS[check.fits]
        yield Content.styled(text, color)
        yield from (plain(f"  {reason}", limit=200, newlines=False) for reason in check.reasons)
    if result.whole:
        yield Content.styled(result.cut_words, "$text-warning")
    for one in result.attachments:
        about = filter(None, (one.kind, one.mime or "unknown type", size_text(one.size), one.uri))
        yield Content.assemble(plain("  ".join(about), limit=200, newlines=False), ("   x saves it", MUTED))
    for kept in kept_results(real_clients(), tool, result, tokens):
        yield plain(f"✂ {kept}", limit=400).stylize("$text-warning")


def result_line(result: ToolResult, elapsed: float, size: int | None = None) -> Content:
    """Return whether the call succeeded according to the server, how long it took, and its text's tokens."""
    mark = ("✕ the tool failed", "$text-error") if result.is_error else ("✓ ok", "$text-success")
    kinds = "" if result.kinds == ("text",) else f"   {', '.join(result.kinds) or 'nothing returned'}"
    counted = "" if size is None else f"   {count(size, 'token')}"
    facts = (f"   {milliseconds(elapsed)}{counted}", "")
    return Content.assemble(mark, facts, (visible(kinds, limit=100), MUTED))


def compared(changes: tuple[str, ...] | None) -> Content:
    """Return whether a result is the one before."""
    if changes is None:
        return Content("")
    told = count(len(changes), "changed line") if changes else "same as before"
    return Content.styled(f"   {told}", "$text-warning" if changes else MUTED)


class PastCall(Struct, frozen=True):
    """A call that a form offers again, with its result if it had one. `row` is how a list shows it."""

    arguments: JsonObject
    row: Record
    by: str
    line: Content = _RUNNING
    result: ToolResult | None = None
    milliseconds: float = 0.0


def past_calls(records: list[EventRecord], tool_id: str) -> list[PastCall]:
    """A tool's calls in a session, whoever made them, oldest first."""
    found: list[PastCall] = []
    # A provider may give two calls one id: the newer one is the one that ends.
    places: dict[str, int] = {}
    for record in records:
        match record.event:
            case CallStarted(call_id=id_, tool=tool, arguments=arguments, by=by) if tool == tool_id:
                when = f"{shown_moment(record.at, '%H:%M:%S')} UTC by {'you' if by == 'user' else by}"
                places[id_] = len(found)
                found.append(PastCall(arguments, _past_row(str(record.seq), "…", arguments, when), by))
            case CallFinished(call_id=id_) as end if id_ in places:
                place = places.pop(id_)
                found[place] = _ended(found[place], end)
    return found


def _past_row(key: str, mark: str, arguments: JsonObject, about: str, size: str = "") -> Record:
    text = arguments_text(arguments) or "no arguments"
    return Record(key, (mark, visible(text, limit=300, newlines=False), size), detail=about)


def _ended(call: PastCall, end: CallFinished) -> PastCall:
    result = ToolResult(end.text, not end.ok, end.structured, whole=end.whole)
    about, mark = f"{call.row.detail}  {end.outcome}", "✓" if end.ok else "✕"
    row = _past_row(call.row.key, mark, call.arguments, about, milliseconds(end.milliseconds))
    line = Content.assemble(result_line(result, end.milliseconds), (f"   {call.row.detail}", MUTED))
    return PastCall(call.arguments, row, call.by, line, result, end.milliseconds)


def saved_for(tool: Tool) -> Iterator[PastCall]:
    """The calls of a tool that were saved with a name. Raises ConfigError."""
    for name, call in saved_calls(Path(SAVED_CALLS)).items():
        if call.tool == tool.id:
            about = f"saved as {visible(name, limit=80, newlines=False)}"
            line = Content.styled(f"{about} with this result; call it to compare", MUTED)
            row = _past_row(f"saved {name}", "★", call.arguments, about)
            yield PastCall(call.arguments, row, "user", line, call.result)


def elapsed(past: Sequence[PastCall]) -> float:
    """The milliseconds of the last call by a person that ended, whatever the model called meanwhile."""
    return next((one.milliseconds for one in reversed(past) if one.by == "user" and one.result), 0.0)


def changes_since(
    chosen: PastCall | None, past: Sequence[PastCall], arguments: JsonObject, result: ToolResult
) -> tuple[str, ...] | None:
    """How a result, the last of the past, differs from the chosen call's or the one before it.

    Only calls with the same arguments are compared; None if there is none.
    """
    same = compact(arguments)
    if chosen is not None and chosen.result is not None and compact(chosen.arguments) == same:
        return result_changes(chosen.result, clean(result))
    equal = [one.result for one in past if one.result and compact(one.arguments) == same]
    return result_changes(*equal[-2:]) if len(equal) > 1 else None
