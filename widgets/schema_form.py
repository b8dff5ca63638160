"""`SchemaForm`: asks for the arguments of a call, checks them, and returns a dictionary."""

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

from widgets.form_field import Field, FieldRow
from widgets.typed_value import InvalidValue


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

    class Submitted(Message):
        """The form was submitted and every field is valid; `values` holds what to send."""

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
        """Create a form.

        Args:
            fields: The fields to ask for.
            submit: The button's label.
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
            yield Static(Content("No arguments needed."), classes="schema-form--none")
        for field in self.fields:
            yield FieldRow(field)
        yield Button(Content(self._submit), variant="primary", compact=True)

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
