"""`SchemaForm`: asks for the arguments of a call, checks them, and returns a dictionary."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec import Struct
from rich.text import Text
from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Button, Input, Select, SelectionList, Static, TextArea

from widgets.prompt import InvalidValue, Kind, MissingValue, PlainInput, parse, typeable, written_lines
from widgets.terminal_text import visible
from widgets.text import plain

NOTHING: object = type("Nothing", (), {"__repr__": lambda _: "NOTHING"})()
"""Stands for "no default", because `None` is a value."""


class Field(Struct, frozen=True):
    """A value that a form asks for.

    Args:
        name: The key in the form's values; any text.
        kind: The type of value it accepts.
        required: Whether it must be filled in.
        description: Shown beside the name.
        default: The initial value; `NOTHING` for an empty field.
        choices: The values of an enum, or of `many`, of which several can be chosen; any JSON values.
        titles: What is shown of the choices, in their order; by default the values.
        title: What is shown instead of the name.
        example: What a value looks like, shown until one is typed.
        check: Says what a value of the type has to be, if it is not that; "" if it is.
        hidden: Whether what is typed is covered.
        propose: Gives values that begin with what is typed, and a note; ↓ and ↑ fill them in.
    """

    name: str
    kind: Kind = "string"
    required: bool = False
    description: str = ""
    default: object = NOTHING
    choices: tuple[object, ...] = ()
    titles: tuple[str, ...] = ()
    title: str = ""
    example: str = ""
    check: Callable[[Any], str] = lambda _: ""
    hidden: bool = False
    propose: Callable[[str], Awaitable[tuple[Sequence[str], str]]] | None = None

    @property
    def options(self) -> tuple[object, ...]:
        """The values to choose from; empty when the value is typed."""
        if self.kind == "boolean":
            return (True, False)
        return self.choices if self.kind in ("enum", "many") else ()

    @property
    def shown_options(self) -> list[str]:
        """The values to choose from, as they are shown."""
        shown = self.titles if len(self.titles) == len(self.options) else map(_written, self.options)
        return [visible(text, limit=200, newlines=False) or '""' for text in shown]


# Seconds without a key before proposals are asked for, and how many of them are shown.
_PAUSE, _MOST_PROPOSED = 0.1, 8
_KINDS = {"enum": "one of", "many": "any of", "boolean": "true or false", "lines": "one a line, or JSON"}
_AREAS = ("json", "lines", "text")


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


class FieldRow(Vertical):
    """A box with the name, the type and a mark if it is required, and below it a description and an error."""

    DEFAULT_CSS = """
    FieldRow {
        height: auto;
        margin-bottom: 1;
        & > .field--about { height: auto; color: $text-muted; padding: 0 1; }
        & > .field--proposed { height: auto; max-height: 2; color: $text-accent; padding: 0 1; }
        & > .field--error { height: auto; color: $text-error; padding: 0 1; }
        & > .field--error, & > .field--proposed { display: none; }
        & > .-shown { display: block; }
        & > .field--input { height: auto; border: round $border; padding: 0; background: transparent; }
        & > .field--input { border-title-color: $foreground; border-subtitle-color: $text-muted; }
        & > .field--input:focus-within { border: round $primary; }
        & > PlainInput { height: 3; padding: 0 1; }
        & > SelectionList { max-height: 10; }
        & > TextArea { height: 6; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "proposed(1)", "proposed value", show=False),
        Binding("up", "proposed(-1)", "proposed value", show=False),
    ]

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self._written: tuple[str, object] | None = None
        self._proposed: Sequence[str] = ()
        self._at = -1

    def compose(self) -> ComposeResult:
        field = self._make_input()
        field.add_class("field--input")
        field.border_title, field.border_subtitle = self._title(), self._kind()
        yield field
        if self.field.description:
            about = plain(self.field.description, limit=600, newlines=False)
            yield Static(about, classes="field--about")
        if self.field.propose is not None:
            yield Static("", classes="field--proposed", markup=False)
        yield Static("", classes="field--error", markup=False)

    def on_mount(self) -> None:
        """Fill in the default."""
        if self.field.default is not NOTHING:
            self.write(self.field.default)

    def _title(self) -> Content:
        name = plain(self.field.title or self.field.name, limit=200, newlines=False).stylize("bold")
        return Content.assemble(name, (" *" if self.field.required else "", "$text-warning bold"))

    def _kind(self) -> str:
        kind = _KINDS.get(self.field.kind, self.field.kind) + (", required" if self.field.required else "")
        return f"{kind}   enter: new line, ^r: run" if self.field.kind in _AREAS else kind

    def _make_input(self) -> Widget:
        if self.field.kind in _AREAS:
            return TextArea(show_line_numbers=False, tab_behavior="focus")
        shown = self.field.shown_options
        if self.field.kind == "many":
            return SelectionList[int](
                *((Content(text), index) for index, text in enumerate(shown)), compact=True
            )
        if self.field.kind in {"enum", "boolean"}:
            options = [(Text(text), index) for index, text in enumerate(shown)]
            return Select[int](options, prompt="not set", compact=True)
        placeholder = self.field.example or ("required" if self.field.required else "not set")
        return PlainInput(placeholder=placeholder, password=self.field.hidden)

    @property
    def _input(self) -> PlainInput | TextArea | Select[int] | SelectionList[int]:
        return self.query_one("PlainInput, TextArea, Select, SelectionList")  # type: ignore[return-value]

    def read(self) -> tuple[bool, object]:
        """Return whether there is a value, and the value. Raises InvalidValue."""
        filled, value = self._read()
        if filled and (wrong := self.field.check(value)):
            raise InvalidValue(wrong)
        return filled, value

    def _read(self) -> tuple[bool, object]:
        widget = self._input
        if isinstance(widget, SelectionList):
            chosen_ones = [self.field.options[index] for index in sorted(widget.selected)]
            return (True, chosen_ones) if chosen_ones else self._nothing()
        if isinstance(widget, Select):
            chosen = widget.value
            if isinstance(chosen, int):
                return True, self.field.options[chosen]
            return self._nothing()
        text = widget.text if isinstance(widget, TextArea) else widget.value
        if self._written and text == self._written[0]:
            return True, self._written[1]
        if not (text if self.field.kind == "string" else text.strip()):
            return self._nothing()
        return True, parse(self.field.kind, text)

    def _nothing(self) -> tuple[bool, object]:
        if self.field.required:
            raise MissingValue("required: choose one" if self.field.options else "required: enter a value")
        return False, None

    def write(self, value: object) -> None:
        """Show a value; `read` returns that very value unless it is edited."""
        widget = self._input
        if isinstance(widget, SelectionList):
            for index, option in enumerate(self.field.options):
                if isinstance(value, list) and option in value:
                    widget.select(index)
        elif isinstance(widget, Select):
            matches = [
                index
                for index, option in enumerate(self.field.options)
                if option == value and type(option) is type(value)
            ]
            widget.value = matches[0] if matches else Select.NULL
        elif isinstance(widget, TextArea):
            as_text = {"lines": written_lines, "text": _written}.get(self.field.kind)
            widget.text = as_text(value) if as_text else json.dumps(value, indent=2, default=str)
        else:
            widget.value = visible(_written(value), newlines=False)
            self._written = (widget.value, value) if isinstance(value, str) else None

    def show_error(self, message: str) -> None:
        """Show an error below the input; an empty message clears it."""
        line = self.query_one(".field--error", Static)
        line.update(Content.assemble("✕ ", plain(message, newlines=False)) if message else "")
        line.set_class(bool(message), "-shown")

    def focus_input(self) -> None:
        """Move the focus to the input, at once."""
        self.screen.set_focus(self._input)

    @on(Input.Changed)
    @on(Select.Changed)
    @on(SelectionList.SelectedChanged)
    def _edited(self) -> None:
        self.show_error("")
        self._propose()

    def on_descendant_focus(self) -> None:
        """Propose values before anything is typed."""
        self._propose()

    def _propose(self) -> None:
        """Ask for proposals, unless the text is one of them; a newer text takes the place of an older one."""
        field, propose = next(iter(self.query(Input)), None), self.field.propose
        if propose is None or field is None or not field.has_focus:
            return
        if self._written is None or field.value != self._written[0]:
            self.run_worker(self._ask(propose, field.value), exclusive=True)

    async def _ask(self, propose: Callable[[str], Awaitable[tuple[Sequence[str], str]]], typed: str) -> None:
        await asyncio.sleep(_PAUSE)
        self._proposed, note = await propose(typed)
        self._at = -1
        self._show_proposed(note)

    def _show_proposed(self, note: str = "") -> None:
        shown = self._proposed[max(self._at, 0) :][:_MOST_PROPOSED]
        texts = [f"[{one}]" if self._at >= 0 and one is shown[0] else one for one in shown]
        left = len(self._proposed) - max(self._at, 0) - len(shown)
        more = f"+{left:,}" if left else ""
        line = "  ".join(filter(None, ("↓" if shown else "", *texts, more, note)))
        part = self.query_one(".field--proposed", Static)
        part.update(plain(line, limit=400, newlines=False))
        part.set_class(bool(line), "-shown")

    def action_proposed(self, by: int) -> None:
        """Fill in the next proposed value, or the one before."""
        if not self._proposed:
            raise SkipAction
        self._at = max(self._at + by, 0) % len(self._proposed)
        self.write(self._proposed[self._at])
        self._show_proposed()

    @on(TextArea.Changed)
    def _text_edited(self, event: TextArea.Changed) -> None:
        self.show_error("")
        harmless = typeable(event.text_area.text, newlines=True)
        if harmless != event.text_area.text:
            event.text_area.text = harmless


class SchemaForm(VerticalScroll, can_focus=False):
    """A form with one labelled input for each field.

    Empty optional fields are left out of the values. Field names may be any text.
    """

    DEFAULT_CSS = """
    SchemaForm {
        height: auto;
        max-height: 100%;
        & > .schema-form--none { color: $text-muted; height: auto; margin-bottom: 1; }
        & > Button { width: auto; min-width: 12; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+r", "submit", "run", id="form.submit")]

    fields: reactive[tuple[Field, ...]] = reactive((), recompose=True, init=False)
    """The fields; assign a new tuple for a new, empty form."""

    @dataclass
    class Submitted(Message):
        """The form was submitted and every field is valid; `values` holds what to send."""

        form: SchemaForm
        values: dict[str, object]

        @property
        def control(self) -> SchemaForm:
            return self.form

    def __init__(self, fields: Sequence[Field] = (), *, submit: str = "Run", **options: Any) -> None:
        """Create a form; `submit` is its button's label."""
        super().__init__(**options)
        self._submit = submit
        self._wants_focus = self._is_making = False
        self.set_reactive(SchemaForm.fields, tuple(fields))

    def compose(self) -> ComposeResult:
        if not self.fields:
            yield Static(Content("No arguments needed."), classes="schema-form--none")
        for field in self.fields:
            yield FieldRow(field)
        yield Button(Content(self._submit), variant="primary", compact=True)

    async def recompose(self) -> None:
        """Make the inputs of new fields, and focus the first if that was asked for before they were there."""
        self._is_making = True
        await super().recompose()
        self._is_making = False
        if self._wants_focus:
            self.focus_first()

    def focus_first(self) -> None:
        """Move the focus to the first input, or to the button without one."""
        rows = self.rows
        # Rows that are about to go would take the focus with them, and rows that come have no input yet.
        self._wants_focus = self._is_making or [row.field for row in rows] != list(self.fields)
        if not self._wants_focus:
            first = rows[0].focus_input if rows else self.query_one(Button).focus
            first()

    async def open(self) -> None:
        """Make the inputs of new fields and focus the first, at once: what is typed next is for it."""
        await self._check_recompose()
        self.focus_first()

    @property
    def rows(self) -> list[FieldRow]:
        """The fields on screen, in order."""
        return list(self.query(FieldRow))

    def values(self) -> dict[str, object]:
        """Return the values of the fields that are filled in and valid."""
        values: dict[str, object] = {}
        for row in self.rows:
            try:
                filled, value = row.read()
            except InvalidValue:
                continue
            if filled:
                values[row.field.name] = value
        return values

    def focus_unread(self) -> bool:
        """Go to the first field that holds no value yet but something; False if there is none."""
        for row in self.rows:
            try:
                row.read()
            except InvalidValue as error:
                if not isinstance(error, MissingValue):
                    row.show_error(str(error))
                    row.focus_input()
                    return True
        return False

    def errors(self) -> dict[str, str]:
        """Check every field, show its error below it, and return the errors by field name."""
        errors: dict[str, str] = {}
        for row in self.rows:
            try:
                row.read()
            except InvalidValue as error:
                errors[row.field.name] = str(error)
            row.show_error(errors.get(row.field.name, ""))
        return errors

    def action_submit(self) -> None:
        """Check the form; post its values, or focus the first invalid field."""
        errors = self.errors()
        if not errors:
            self.post_message(self.Submitted(self, self.values()))
            return
        next(row for row in self.rows if row.field.name in errors).focus_input()

    @on(Input.Submitted)
    @on(Button.Pressed)
    def _submitted(self, event: Input.Submitted | Button.Pressed) -> None:
        event.stop()
        self.action_submit()
