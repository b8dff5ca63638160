"""A draft of a tool's texts: as a file, as fields to edit, and what it changes."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label, Static, TextArea

from inspector.app.draw.line import MUTED
from inspector.core.tool import Tool
from inspector.features.search.facts import answer_change, others_changed, sizes_changed
from inspector.schema.schema import fields
from inspector.search.answer.standing import Standing
from inspector.search.answer.tool_edit import (
    CaseChange,
    CaseEffect,
    Neighbor,
    ParameterText,
    QueryEffect,
    ToolText,
    wording_of,
)
from widgets import Column, PlainInput, Record, Tone, middle, plain, visible

# As a file: what changed of the texts.


def suggested(tool: Tool) -> Path:
    """Return the file that is proposed for a draft of the tool."""
    return Path.cwd() / f"{_file_name(tool)}.patch"


def _lines(tool: Tool) -> Iterator[str]:
    """Yield the texts of a tool that its author can choose, as they are."""
    wording = wording_of(tool)
    yield f"name: {wording.name}"
    yield ""
    yield from wording.description.split("\n")
    for parameter in wording.parameters:
        yield ""
        yield f"parameter: {parameter.name}"
        yield from parameter.description.split("\n")


def patch(tool: Tool, edited: Tool) -> str:
    """Return what a draft changes of the texts as a unified diff; empty if it changes nothing."""
    name = f"{_file_name(tool)}.txt"
    lines = difflib.unified_diff([*_lines(tool)], [*_lines(edited)], f"a/{name}", f"b/{name}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _file_name(tool: Tool) -> str:
    return re.sub(r"[^\w.-]+", "-", tool.id, flags=re.ASCII).strip("-.") or "tool"


# What it changes.

AROUND_COLUMNS = (
    Column("rank", "#", align="right", width=4, weight=6),
    Column("move", "moved", width=5, weight=5),
    Column("tool", "tool", shorten="name", min_width=12, weight=9),
    Column("score", "score", align="right", width=6, weight=4),
    Column("change", "change", align="right", width=7, weight=2, hide_below=46),
)
CHANGE_COLUMNS = (
    Column("move", "", width=1, weight=4),
    Column("before", "was", align="right", width=4, weight=4),
    Column("after", "now", align="right", width=4, weight=4),
    Column("query", "request", shorten="end", min_width=12, weight=5),
)
COMPUTING = "computing …"
_NO_RANK = "–"
_WIDE = 90


class Reading(Struct, frozen=True):
    """The effect of an edit so far: None is not computed yet, `problem` is why it cannot be.

    `threshold` is the least confidence of `found`. `lines` says how many other lines of the file of requests
    change, and of how many. `requests` names the set of labelled requests.
    """

    tokens_before: int = 0
    tokens_after: int = 0
    threshold: float = 0.0
    effect: QueryEffect | None = None
    lines: tuple[int, int] | None = None
    cases: CaseEffect | None = None
    problem: str = ""
    requests: str = ""

    @property
    def mark(self) -> str:
        """The progress of the measurement."""
        if self.problem:
            return "not measured"
        return COMPUTING if self.cases is None else "✓ ranks are current"

    @property
    def others(self) -> str:
        """How many other requests change: those of the file, or else the labelled ones; "" if not known."""
        if self.lines is not None and self.lines[1]:
            return others_changed(*self.lines, "other request")
        if self.cases is None or not self.cases.measured:
            return ""
        changed = len(self.cases.better) + len(self.cases.worse)
        return others_changed(changed, self.cases.measured, f"{self.requests} request")

    @property
    def why_no_rows(self) -> str:
        """The text of an empty list."""
        if self.problem:
            return "Nothing to compare."
        if self.cases is None:
            return "Computing …"
        if not self.cases.measured:
            return "No labelled requests to measure with."
        return "No request got better or worse."


def title(tool_id: str, width: int) -> Content:
    """Return the tool, and that nothing is sent."""
    claim = "draft only; the server is unchanged" if width >= _WIDE else "draft only"
    room = max(width - len(claim) - 2, 12)
    name = plain(middle(visible(tool_id, newlines=False), room)).stylize("bold")
    return Content.assemble(name, (f"  {claim}", MUTED))


def answer(reading: Reading) -> Content:
    """Return what the draft changes: the answer and the tool's rank, other requests, tokens."""
    if reading.problem:
        return Content.assemble(("✕ ", "$text-error"), plain(reading.problem).stylize("$text-error"))
    effect = reading.effect
    if effect is None:
        return Content.styled(COMPUTING, MUTED)
    first = Content.styled("Without a query only other requests change.", MUTED)
    if effect.query.strip():
        told = (effect.answer_before, effect.before.rank), (effect.answer_after, effect.after.rank)
        first = Content.styled(answer_change(effect, reading.threshold), "bold" if told[0] != told[1] else "")
    sizes = sizes_changed(effect, reading.tokens_before, reading.tokens_after)
    second = (reading.others, "$text-accent" if reading.others[:2] != "0 " else MUTED)
    return Content.assemble(first, "\n", second, "   " if reading.others else "", (sizes, MUTED))


def _number(value: float, digits: int, sign: str = "") -> str:
    return f"{value:{sign},.{digits}f}"


def rank(standing: Standing | None) -> str:
    """Return a rank, or – if the ranker does not return the tool."""
    return "…" if standing is None else str(standing.rank) if standing.kept else _NO_RANK


def moved(before: Standing, after: Standing) -> tuple[str, str]:
    """Return by how many ranks a tool moved, and a style."""
    if before.kept is not after.kept:
        return ("▲ new", "$text-success") if after.kept else ("▼ out", "$text-warning")
    rise = before.rank - after.rank if after.kept else 0
    if not rise:
        return "=", MUTED
    return (f"▲ {rise}", "$text-success") if rise > 0 else (f"▼ {-rise}", "$text-warning")


def around_row(neighbor: Neighbor, effect: QueryEffect, description: str = "") -> Record:
    """Return a neighbor, or the edited tool, marked; copying its row copies the `description`."""
    own = neighbor.tool_id == effect.edited_id
    before, after = neighbor.before, neighbor.after
    sign, style = moved(before, after)
    change = round(after.value, 3) - round(before.value, 3)
    cells = (
        rank(after),
        Content.styled(sign, style if own or sign == "=" else ""),
        f"{'▸ ' if own else ''}{neighbor.tool_id}",
        _number(after.value, 3),
        _number(change, 3, "+") if change else "",
    )
    tone: Tone = "accent" if own else "" if after.kept else "muted"
    copied = description if own and description else neighbor.tool_id
    return Record(neighbor.tool_id, cells, tone, copy=copied)


def change_row(change: CaseChange, sign: str, style: str) -> Record:
    """Return a request that got worse or better."""
    before, after = (_NO_RANK if r is None else str(r) for r in (change.before, change.after))
    cells = (Content.styled(sign, style), before, after, change.query)
    return Record(f"{sign}{change.id}", cells, copy=change.query)


def change_title(reading: Reading) -> str:
    """Return the title of the list of requests: their set, and how many got better or worse."""
    cases = reading.cases
    if cases is None:
        return "Requests"
    return f"{cases.measured:,} {reading.requests} requests ▲ {len(cases.better):,} ▼ {len(cases.worse):,}"


# The texts as fields to edit.

LONGEST = 20_000
MOST_PARAMETERS = 60
# Keys left to the app (other pages) and to the page around the editor (copying).
_KEYS_OF_OTHERS = frozenset({"f6", "f7", "ctrl+y,super+y"})


class FieldText(Struct, frozen=True):
    """A text as a field shows it. An unedited text is returned unchanged, hidden characters included."""

    text: str
    lines: bool = False

    @property
    def value(self) -> str:
        """The first LONGEST characters, made visible; a one-line field shows a sign for each line break."""
        return visible(self.text[:LONGEST], limit=LONGEST, newlines=self.lines)

    def read(self, value: str) -> str:
        """Return the text of an edited value; the part that the field did not show stays."""
        if value == self.value:
            return self.text
        broken = not self.lines and "\n" in self.text
        return (value.replace("↵", "\n") if broken else value) + self.text[LONGEST:]


class DescriptionArea(TextArea, inherit_bindings=False):
    """A text area that leaves the app its keys, and redoes with ctrl+shift+z or alt+z."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(b for b in TextArea.BINDINGS if isinstance(b, Binding) and b.key not in _KEYS_OF_OTHERS),
        # A terminal sends alt+z as z, so without priority it would be typed.
        Binding("ctrl+shift+z,alt+z", "redo", "redo", show=False, priority=True),
    ]


class ToolTextEditor(VerticalScroll, can_focus=False):
    """Edits the wording of a tool. `use` shows another tool, `show` another wording."""

    DEFAULT_CSS = """
    ToolTextEditor {
        scrollbar-size-vertical: 1;
        & > Horizontal { height: auto; }
        & Label { width: 13; color: $text-muted; }
        & PlainInput, & TextArea { background: $foreground 6%; }
        & PlainInput:focus, & TextArea:focus { background: $primary 15%; }
        & .star { width: 2; color: $text-warning; }
        & .parameter { width: 2fr; }
        & .text { width: 5fr; }
        & TextArea { width: 1fr; height: auto; min-height: 3; max-height: 14; border: none; padding: 0; }
        & TextArea:focus { border: none; }
        & > Static { height: auto; margin-top: 1; }
    }
    """

    class Changed(Message):
        """A text was typed, undone or replaced."""

    def __init__(self, tool: Tool, wording: ToolText, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._is_taking = False
        self._take(tool, wording)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Label("name")
            yield _input(self._named, id="name")
        with Horizontal():
            yield Label("description")
            text = self._description
            yield DescriptionArea(text.value, compact=True, highlight_cursor_line=False, id="description")
        if len(text.text) > LONGEST:
            hidden = f"The last {len(text.text) - LONGEST:,} characters cannot be edited here."
            yield Static(Content.styled(hidden, MUTED))
        if self._parameters:
            yield Static(Content.styled("parameters (* required)", MUTED))
        for number, field in enumerate(fields(self._tool.input_schema)[:MOST_PARAMETERS]):
            yield from self._parameter(number, field.required)
        if self._kept:
            kept = f"The other {len(self._kept)} parameters cannot be edited here."
            yield Static(plain(kept).stylize(MUTED))

    @property
    def wording(self) -> ToolText:
        """The wording in the fields."""
        if self._is_taking or not self.query("#description"):
            return self._wording
        name = self._named.read(self.query_one("#name", PlainInput).value)
        description = self._description.read(self.query_one(DescriptionArea).text)
        return ToolText(name, description, (*self._read_parameters(), *self._kept))

    def show(self, wording: ToolText) -> None:
        """Fill in the fields; the text area can undo this."""
        self._take(self._tool, wording)
        self.query_one("#name", PlainInput).value = self._named.value
        area = self.query_one(DescriptionArea)
        area.replace(self._description.value, (0, 0), area.document.end)
        for number, (name, text, _) in enumerate(self._parameters):
            self.query_one(f"#name-{number}", PlainInput).value = name.value
            self.query_one(f"#text-{number}", PlainInput).value = text.value

    async def use(self, tool: Tool, wording: ToolText) -> None:
        """Edit another tool, or a new version of this one."""
        self._take(tool, wording)
        self._is_taking = True
        try:
            await self.recompose()
        finally:
            self._is_taking = False

    def _take(self, tool: Tool, wording: ToolText) -> None:
        self._tool, self._wording = tool, wording
        self._named, self._description = FieldText(wording.name), FieldText(wording.description, lines=True)
        by_name = {parameter.original: parameter for parameter in wording.parameters}
        every = [by_name.get(own.original, own) for own in wording_of(tool).parameters]
        shown, self._kept = every[:MOST_PARAMETERS], tuple(every[MOST_PARAMETERS:])
        self._parameters = [(FieldText(p.name), FieldText(p.description), p.original) for p in shown]

    def _parameter(self, number: int, required: bool) -> ComposeResult:
        name, text, _ = self._parameters[number]
        with Horizontal():
            yield _input(name, id=f"name-{number}", classes="parameter")
            yield Label("*" if required else "", classes="star")
            yield _input(text, placeholder="no description", id=f"text-{number}", classes="text")

    def _read_parameters(self) -> Iterator[ParameterText]:
        for number, (name, text, original) in enumerate(self._parameters):
            new_name = self.query_one(f"#name-{number}", PlainInput).value
            new_text = self.query_one(f"#text-{number}", PlainInput).value
            yield ParameterText(original, name.read(new_name), text.read(new_text))

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _edited(self, event: Input.Changed | TextArea.Changed) -> None:
        event.stop()
        self.post_message(self.Changed())


def _input(shown: FieldText, *, id: str, placeholder: str = "name", classes: str = "") -> PlainInput:  # noqa: A002
    # The text is there to be edited, so focusing the field must not select all of it.
    return PlainInput(
        shown.value, placeholder=placeholder, select_on_focus=False, id=id, classes=classes or None
    )
