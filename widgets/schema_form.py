"""`SchemaForm`: asks for the arguments of a call, checks them, and hands over a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Button, Input, Static

from widgets.form_field import Field, FieldRow, InvalidValue


class SchemaForm(VerticalScroll, can_focus=False):
    """A form with one labelled input for each field.

    Optional fields that are empty are left out of the values. Names of fields may be any text.
    """

    DEFAULT_CSS = """
    SchemaForm {
        height: auto;
        max-height: 100%;
        & > .schema-form--none { color: $text-muted; height: auto; margin-bottom: 1; }
        & > Button { width: auto; min-width: 12; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+r", "submit", "Run", id="form.submit")]

    fields: reactive[tuple[Field, ...]] = reactive((), recompose=True, init=False)
    """What is asked for; assign a new tuple for a new, empty form."""

    class Submitted(Message):
        """Every field is valid; `values` holds what to send."""

        def __init__(self, form: SchemaForm, values: dict[str, object]) -> None:
            super().__init__()
            self.form = form
            self.values = values

        @property
        def control(self) -> SchemaForm:
            """The form, for `@on(..., "#id")`."""
            return self.form

    def __init__(
        self,
        fields: Sequence[Field] = (),
        *,
        submit: str = "Run",
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
        classes: str | None = None,
    ) -> None:
        """Make a form.

        Args:
            fields: What is asked for.
            submit: What the button says.
            name: The widget's name.
            id: The widget's id.
            classes: The widget's classes.
        """
        super().__init__(name=name, id=id, classes=classes)
        self._submit = submit
        self.set_reactive(SchemaForm.fields, tuple(fields))

    def compose(self) -> ComposeResult:
        """The fields, and the button below them."""
        if not self.fields:
            yield Static(Content("No arguments: it can run as it is."), classes="schema-form--none")
        for field in self.fields:
            yield FieldRow(field)
        yield Button(Content(self._submit), variant="primary", compact=True)

    @property
    def rows(self) -> list[FieldRow]:
        """The fields on screen, in order."""
        return list(self.query(FieldRow))

    def values(self) -> dict[str, object]:
        """Return the values of all fields that are filled in and valid."""
        values: dict[str, object] = {}
        for row in self.rows:
            try:
                filled, value = row.read()
            except InvalidValue:
                continue
            if filled:
                values[row.field.name] = value
        return values

    def errors(self) -> dict[str, str]:
        """Check every field, show what is wrong below it, and return that by name."""
        found: dict[str, str] = {}
        for row in self.rows:
            try:
                row.read()
            except InvalidValue as error:
                found[row.field.name] = str(error)
            row.show_error(found.get(row.field.name, ""))
        return found

    def action_submit(self) -> None:
        """Check the form; post its values, or go to the first field that is wrong."""
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
