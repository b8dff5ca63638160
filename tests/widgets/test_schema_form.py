"""A form reads what was typed, says what is wrong, and hands over values."""

import asyncio

import pytest
from textual.widgets import Input, Select, TextArea

from tests.widgets.hostile import HOSTILE, dangerous
from tests.widgets.screen import Host, lines
from widgets import Field, SchemaForm
from widgets.prompt import InvalidValue, parse

FIELDS = (
    Field("query", required=True, description="What to [find]"),
    Field("limit", "integer"),
    Field("share", "number"),
    Field("late", "boolean"),
    Field("sort a[/]", "enum", choices=("asc", "d[/]sc", 3)),
    Field("filter", "json"),
)


class FormApp(Host[SchemaForm]):
    def __init__(self, fields: tuple[Field, ...] = FIELDS) -> None:
        super().__init__(SchemaForm(fields))
        self.sent: list[dict[str, object]] = []

    def on_schema_form_submitted(self, event: SchemaForm.Submitted) -> None:
        self.sent.append(event.values)


async def test_empty_optional_fields_are_left_out() -> None:
    app = FormApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.query(Input).first().focus()
        await pilot.press(*"late", "enter")
        assert app.sent == [{"query": "late"}]


async def test_every_kind_of_field_gives_its_type() -> None:
    app = FormApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.query(Input).first().focus()
        await pilot.press("q", "tab", *"10", "tab", *"2.5", "tab")
        await pilot.press("enter", "down", "enter", "tab", "enter", "down", "down", "enter", "tab")
        assert isinstance(app.focused, TextArea)
        assert app.focused.border_subtitle == "json   enter: new line, ^r: run"
        await pilot.press(*"[1]", "ctrl+r")
        assert app.sent == [
            {"query": "q", "limit": 10, "share": 2.5, "late": True, "sort a[/]": "d[/]sc", "filter": [1]}
        ]


async def test_what_is_wrong_is_said_below_its_field_and_gets_the_focus() -> None:
    app = FormApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.query(Input)[1].focus()
        await pilot.press("x", "ctrl+r")
        screen = "\n".join(lines(app))
        assert "✕ required: enter a value" in screen
        assert "✕ not a whole number such as 10" in screen
        assert app.sent == []
        assert app.focused is app.query(Input).first()
        await pilot.press("a")
        assert "required: enter a value" not in "\n".join(lines(app))


async def test_values_that_are_set_come_back_as_they_are() -> None:
    values = {
        "query": "a\x1b\nb\u202e",
        "limit": 3,
        "share": 0.5,
        "late": False,
        "sort a[/]": 3,
        "filter": {"a": [None]},
    }
    app = FormApp()
    async with app.run_test(size=(80, 40)) as pilot:
        for row in app.made.rows:
            if row.field.name in values:
                row.write(values[row.field.name])
        await pilot.pause()
        assert app.made.values() == values
        assert dangerous("".join(lines(app))) == []


async def test_hostile_names_and_texts_are_harmless() -> None:
    fields = tuple(
        Field(text, "enum" if index % 2 else "string", description=text, default=text, choices=HOSTILE)
        for index, text in enumerate(HOSTILE)
    )
    app = FormApp(fields)
    async with app.run_test(size=(80, 90)) as pilot:
        await pilot.press("ctrl+r")
        assert app.sent == [{text: text for text in HOSTILE}]
        app.query(Select).first().expanded = True
        await pilot.pause()
        assert dangerous("".join(lines(app))) == []


async def test_pasted_control_characters_become_visible() -> None:
    app = FormApp()
    async with app.run_test(size=(80, 40)) as pilot:
        field, area = app.query(Input).first(), app.query_one(TextArea)
        field.value, area.text = "a\x1b[2J \u200c", "[\x1b]"
        await pilot.pause()
        assert field.value == "a\\x1b[2J \u200c"
        assert area.text == r"[\x1b]"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "1.5"),
        ("integer", "9" * 5_000),
        ("number", "nan"),
        ("number", "x"),
        ("json", "{"),
        ("json", "[" * 99_999),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(kind: str, text: str) -> None:
    with pytest.raises(InvalidValue):
        parse(kind, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("turns", range(1, 6))
async def test_the_focus_goes_to_no_field_that_is_being_replaced(turns: int) -> None:
    app = FormApp()
    async with app.run_test(size=(80, 40)):
        form = app.query_one(SchemaForm)
        making = asyncio.create_task(form.recompose())
        for _ in range(turns):
            await asyncio.sleep(0)
        form.focus_first()
        await making
        assert app.focused is form.query(Input).first()
