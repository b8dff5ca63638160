"""`python -m widgets` opens the gallery: every widget of the package, with realistic data."""

from __future__ import annotations

import json
from typing import ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Footer, Static, TabbedContent, TabPane

from widgets import (
    Choice,
    Column,
    Confirm,
    Field,
    Meter,
    Record,
    RecordList,
    SchemaForm,
    SchemaTree,
    Segment,
    TextView,
    Tone,
    legend,
    plain,
    stacked,
)

TOOLS: tuple[tuple[str, str, int, int, Tone, str], ...] = (
    ("shop:list_orders", "List orders, newest first, by status and date", 212, 2, "", "● loaded"),
    ("mail:send_message", "Send a mail to one or more recipients", 180, 1, "", "● loaded"),
    ("notes:search_pages", "Full-text search over all pages", 164, 0, "accent", "⌂ pinned"),
    ("weather:get_forecast", "Forecast for a place, hourly or daily", 233, 3, "warning", "✕ evicted"),
    ("shop:run_query", "Run a read-only SQL query on the shop database", 391, 0, "muted", "○ deferred"),
    ("shop:refund_order", "Refund an order, in full or in part", 247, 0, "muted", "○ deferred"),
    ("files:read_text", "Read a text file inside the allowed folders", 143, 0, "muted", "○ deferred"),
    ("evil:a[/]b", "[@click=app.quit()]x[/] \x1b[2J hides \u202egnp.exe", 1231, 0, "error", "✕ invalid"),
)

SCORES = (
    ("shop:list_orders", (5.1, 3.2, 1.4, 2.2, 0.0)),
    ("shop:run_query", (2.0, 2.9, 0.6, 1.9, 0.4)),
    ("notes:search_pages", (0.0, 1.8, 0.0, 2.4, 0.0)),
)
SIGNALS = tuple(
    zip(
        "NDPSF",
        ("$text-primary", "$text-success", "$text-warning", "$text-accent", "$text-error"),
        strict=True,
    )
)

SEGMENTS = (
    Segment("system", 210, "$secondary"),
    Segment("history", 1_130, "$accent"),
    Segment("tools", 2_090, "$primary"),
    Segment("meta", 700, "$success"),
)

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["open", "shipped", "late"], "description": "Only these orders"},
        "limit": {"type": "integer", "default": 20, "minimum": 1, "maximum": 100},
        "where": {"$ref": "#/$defs/Filter", "description": "Conditions, which may be nested"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
    },
    "required": ["status"],
    "$defs": {
        "Filter": {
            "type": "object",
            "properties": {
                "field": {"type": "string"},
                "all": {"type": "array", "items": {"$ref": "#/$defs/Filter"}},
            },
        }
    },
}

FIELDS = (
    Field(
        "status", "enum", required=True, description="Only these orders", choices=("open", "shipped", "late")
    ),
    Field("limit", "integer", description="The maximum number of orders", default=20),
    Field("late", "boolean", description="Only orders that are overdue"),
    Field("customer", "string", description="Name or address"),
    Field("where", "json", description="Conditions"),
)


def tool_list() -> RecordList:
    """Return a list of tools with a header."""
    columns = (
        Column("state", "State", width=10),
        Column("name", "Tool", shorten="middle", min_width=16, weight=2),
        Column("about", "Description", weight=3, hide_below=70),
        Column("tokens", "Tokens", align="right", weight=4),
        Column("calls", "Calls", align="right", hide_below=50),
    )
    records = tuple(
        Record(name, (state, name, about, f"{tokens:,}", f"{calls}x" if calls else ""), tone)
        for name, about, tokens, calls, tone, state in TOOLS
    )
    return RecordList(columns, records, header=True, id="tools")


def score_list() -> RecordList:
    """Return a ranked list with a bar for each tool."""
    best = max(sum(scores) for _, scores in SCORES)
    columns = (
        Column("rank", width=2, align="right", weight=4),
        Column("name", "Tool", shorten="middle", min_width=12, weight=2),
        Column("bar", "Score by signal", width=24),
        Column("score", "Score", align="right", weight=4),
    )
    parts = [
        [(letter, score, color) for (letter, color), score in zip(SIGNALS, scores, strict=True) if score]
        for _, scores in SCORES
    ]
    bars = stacked([(part, best) for part in parts], 24)
    records = [
        Record(name, (str(rank), name, bar, f"{sum(scores):.1f}"))
        for rank, ((name, scores), bar) in enumerate(zip(SCORES, bars, strict=True), 1)
    ]
    return RecordList(columns, records, header=True, id="scores")


class Gallery(App[None]):
    """Shows every widget of the package."""

    TITLE = "widgets"
    ENABLE_COMMAND_PALETTE = False

    CSS = """
    .panel { border: round $foreground 30%; height: 1fr; }
    .panel:focus-within { border: round $accent; }
    #numbers { height: auto; padding: 0 1; }
    #scores, #none { height: 1fr; }
    #form { padding: 0 1; }
    #heard { height: 1; padding: 0 1; color: $text-muted; }
    TabbedContent { height: 1fr; }
    TabPane { padding: 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "ask", "Ask"),
        Binding("f3", "dark", "Light/dark"),
        Binding("ctrl+q", "quit", "Quit"),
    ]

    def compose(self) -> ComposeResult:
        with TabbedContent():
            with TabPane(Content("Lists")), Vertical(classes="panel"):
                yield tool_list()
            with TabPane(Content("Numbers")), Vertical():
                yield from self._numbers()
            with TabPane(Content("Schema")), Horizontal():
                with Vertical(classes="panel"):
                    yield SchemaTree(SCHEMA)
                with Vertical(classes="panel"):
                    yield SchemaForm(FIELDS, id="form")
            with TabPane(Content("Text")), Vertical(classes="panel"):
                yield TextView(json.dumps(SCHEMA, indent=2) + "\n" + "one line " * 400)
        yield Static("", id="heard", markup=False)
        yield Footer()

    def _numbers(self) -> ComposeResult:
        with Vertical(id="numbers"):
            yield Meter(SEGMENTS, 8_000, tick=0.7, label="4.1k of 8k")
            yield Meter(SEGMENTS, 3_000, tick=0.7, label="4.1k of 3k")
            yield Meter((), 0, label="no budget yet")
            yield Static(legend(SEGMENTS))
        with Vertical(classes="panel"):
            yield score_list()
        with Vertical(classes="panel"):
            yield RecordList((Column("name"),), empty="No evaluations yet. Press b to run one.", id="none")

    def _hear(self, text: str) -> None:
        self.query_one("#heard", Static).update(plain(text, newlines=False))

    @on(RecordList.Selected)
    def _selected(self, event: RecordList.Selected) -> None:
        self._hear(f"opened {event.key}")

    @on(RecordList.Copied)
    def _copied(self, event: RecordList.Copied) -> None:
        self._hear(f"copied {event.key}")

    @on(SchemaForm.Submitted)
    def _submitted(self, event: SchemaForm.Submitted) -> None:
        self._hear(f"would send {json.dumps(event.values)}")

    def action_ask(self) -> None:
        """Ask a question."""
        choices = (Choice("o", "once"), Choice("s", "this session", "session"), Choice("n", "no"))
        body = Content("mail:send_message would send 3 addresses to a server that is not on the allow list.")
        self.push_screen(
            Confirm("Run mail:send_message?", body, choices), lambda answer: self._hear(f"answer: {answer}")
        )

    def action_dark(self) -> None:
        """Switch between a light and a dark theme."""
        self.theme = "textual-light" if self.theme == "textual-dark" else "textual-dark"


if __name__ == "__main__":
    Gallery().run()
