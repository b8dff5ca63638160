"""A server's resources or prompts, as a view of its page: their list, and what is read of them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, field
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from inspector.app.context import InContext, Job
from inspector.app.draw.line import MUTED, failure_line
from inspector.core.error import ToolsightError
from inspector.core.number import count
from inspector.core.text import file_name
from inspector.mcp.pace import size_text
from inspector.mcp.reading import Argument, Kind, Offer, Offered, Offers, Read, declares
from widgets import Column, Field, Record, RecordList, SchemaForm, TextView, plain, visible

COLUMNS: Mapping[Kind, tuple[Column, ...]] = {
    "resources": (
        Column("name", "name", weight=4, shorten="name"),
        Column("uri", "URI", weight=5, shorten="middle"),
        Column("type", "type", weight=2, hide_below=70),
        Column("size", "size", align="right", weight=2),
    ),
    "prompts": (
        Column("name", "name", weight=4, shorten="name"),
        Column("arguments", "arguments", weight=3),
        Column("about", "description", weight=2, hide_below=70),
    ),
}
_NONE, _LISTING = "The server lists none.", "Listing …"
_AWAY = "Not connected. Nothing of this is stored, so a replay has none of it."
_READING = Content.styled("reading …   esc goes back", "$text-warning")
_MOST_TROUBLES = 4


def offer_row(offer: Offer, uri: str) -> Record:
    """Return an entry in one line, with its URI as it is shown; the filter searches its description too."""
    search = f"{offer.name} {uri} {offer.description} {offer.mime}"
    if offer.is_prompt:
        asked = ", ".join(f"{one.name}{'*' if one.required else ''}" for one in offer.arguments)
        cells = (offer.name, asked or "none", offer.description)
        return Record(offer.key, cells, search=search, copy=offer.id)
    size = "template" if offer.is_template else "" if offer.size is None else size_text(offer.size)
    return Record(offer.key, (offer.name, uri, offer.mime, size), search=search, copy=offer.id)


def offer_heading(offer: Offer) -> Content:
    """Return the name, the URI and the description of what is opened."""
    name = plain(offer.name, limit=200, newlines=False).stylize("bold")
    uri = "" if offer.id == offer.name else f"   {visible(offer.id, limit=300, newlines=False)}"
    about = f"\n{visible(offer.description, limit=400, newlines=False)}" if offer.description else ""
    return Content.assemble(name, (uri, MUTED), about)


class _Shelf(Struct):
    """A server's list over one connection."""

    link: object = None
    is_listed: bool = False
    offered: Offered | None = None
    rows: dict[str, tuple[Offer, Record]] = field(default_factory=dict)


class Reading(InContext, Vertical):
    """What is opened: a form for what it asks, and what was read."""

    form = query_one(SchemaForm)
    text = query_one(TextView)

    def __init__(self) -> None:
        super().__init__(classes="reading")
        self._server = ""
        self._values: dict[str, str] = {}
        self.offer: Offer | None = None
        self.uri = ""
        self.result: Read | None = None

    def compose(self) -> ComposeResult:
        yield Static(classes="reading-of", markup=False)
        yield SchemaForm(submit="Read", classes="reading-form")
        yield Static(classes="reading-line", markup=False)
        yield TextView(empty="", classes="reading-text")

    def show(self, server: str, offer: Offer | None) -> None:
        """Show the form of what is opened, or read it at once if it has none; without any, nothing."""
        self.drop_job("read")
        self._server, self.offer, self.uri, self._values, self.result = server, offer, "", {}, None
        self.text.text = self.text.empty = ""
        self.write("", ".reading-line")
        asked: tuple[Argument, ...] = ()
        if offer is not None:
            self.write(offer_heading(offer), ".reading-of")
            try:
                asked = offer.asks()
            except ToolsightError as error:
                self._failed(error)
            else:
                if not asked:
                    self.fetch()
        self.form.fields = tuple(self._field(one) for one in asked)
        self.form.display = bool(asked)

    def focus_first(self) -> None:
        """Move the focus to the first field, or to the text."""
        self.form.focus_first() if self.form.fields else self.text.focus()

    def _field(self, asked: Argument) -> Field:
        info = self.session.state.servers[self._server].info
        propose = partial(self._propose, asked.name) if declares(info, "completions") else None
        return Field(asked.name, "string", asked.required, asked.description, propose=propose)

    async def _propose(self, name: str, typed: str) -> tuple[tuple[str, ...], str]:
        """What the server proposes for a field, or why it proposes nothing."""
        others = {key: str(value) for key, value in self.form.values().items() if key != name}
        offers = self.session.offers(self._server)
        if offers is None or self.offer is None:
            return (), ""
        try:
            return await offers.proposals(self.offer, name, typed, others), ""
        except ToolsightError as error:
            return (), f"nothing proposed: {error.message}"

    @on(SchemaForm.Submitted)
    def _submitted(self, event: SchemaForm.Submitted) -> None:
        event.stop()
        self._values = {name: str(value) for name, value in event.values.items()}
        self.fetch()

    def fetch(self) -> None:
        """Read it with what is filled in."""
        offers, offer, values = self.session.offers(self._server), self.offer, self._values
        if offers is None or offer is None:
            self._say(Content.styled(_AWAY, "$text-warning"))
            return
        self.uri = "" if offer.is_prompt else offer.uri(values)
        self._say(_READING)

        async def work(_job: Job) -> tuple[Read, int]:
            read = await (offers.prompt(offer.id, values) if offer.is_prompt else offers.read(self.uri))
            tokens = self.session.accounting.meter.text
            return read, read.counted.in_whole(await asyncio.to_thread(tokens, read.counted.text))

        self.run_job("read", work, self._show_result, failed=self._failed)

    def _show_result(self, found: tuple[Read, int]) -> None:
        self.result, size = found
        told = f"{self.result.told}   {count(size, 'token')}"
        self._say(Content.assemble(("✓ ", "$text-success"), visible(told, limit=200, newlines=False)))
        self.text.empty, self.text.text = "It is empty.", self.result.text
        if self.form.has_focus_within:
            self.text.focus()
        self.screen.refresh_bindings()

    def _failed(self, error: Exception) -> None:
        self._say(Content.assemble(("✕ ", "$text-error"), failure_line(error)))

    def _say(self, line: Content) -> None:
        self.write(line, ".reading-line")

    def save(self) -> None:
        """Write what was read to a file: the first bytes if there are any, else the text."""
        if self.offer is None or self.result is None:
            return
        one, name = self.result.attachment, file_name((self.uri or self.offer.id).rpartition("/")[2])
        try:
            data = self.result.text if one is None else one.data()
        except ToolsightError as error:
            self.fail(error)
        else:
            path = Path(name[-80:] or "read")
            self.export(
                path if path.suffix else path.with_suffix(one.suffix if one else ".txt"), data, what=name
            )


class ReadingPanel(InContext, Vertical):
    """A list; what is opened stands in its place until esc leads back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "list", show=False, id="reading.back"),
        Binding("r", "again", "read again", id="reading.again"),
        Binding("x", "save", "save", id="reading.save"),
    ]
    rows = query_one(RecordList)
    reading = query_one(Reading)

    @dataclass
    class Counted(Message):
        """Another number of entries is shown."""

        kind: Kind
        number: str

    def __init__(self, kind: Kind, **options: Any) -> None:
        super().__init__(**options)
        self.kind: Kind = kind
        self._server = ""
        self._shelf = _Shelf()
        self._shelves: dict[str, _Shelf] = {}

    def compose(self) -> ComposeResult:
        yield Static(classes="reading-trouble", markup=False)
        yield RecordList(COLUMNS[self.kind], header=True, id=f"{self.kind}-list")
        yield Reading()

    def show(self, server: str) -> None:
        """Show what a server has; "" for one that has none of it."""
        if server != self._server:
            self._server = server
            self._shelf = self._shelves.setdefault(server, _Shelf())
            self._open(None)
        self.look()

    @property
    def is_offered(self) -> bool:
        """Whether the server declares it, and has listed something, has not yet, or has failed to."""
        offered = self._shelf.offered
        return bool(self._server) and (offered is None or bool(offered.offers or offered.troubles))

    def look(self) -> None:
        """List what is there, once for each connection."""
        if not self._server:
            return
        offers, shelf = self.session.offers(self._server), self._shelf
        link = (offers.link, self.session.session_id) if offers is not None else None
        if link != shelf.link:
            # Another connection, another user, or a replay.
            shelf = self._shelf = self._shelves[self._server] = _Shelf(link)
            self._open(None)
        if offers is not None and not shelf.is_listed:
            shelf.is_listed = True
            self._list(offers, shelf)

    def _list(self, offers: Offers, shelf: _Shelf) -> None:
        """List everything in the background."""

        async def work(_job: Job) -> tuple[Offered, dict[str, tuple[Offer, Record]]]:
            offered = await offers.listed(self.kind)
            return offered, await asyncio.to_thread(_rows, offered, offers)

        def done(found: tuple[Offered, dict[str, tuple[Offer, Record]]]) -> None:
            shelf.offered, shelf.rows = found
            self._draw()

        self.run_job(f"list {self._server}", work, done)

    def _draw(self) -> None:
        """Draw the list of the server that is shown, or what is opened of it."""
        shelf, offered, is_open = self._shelf, self._shelf.offered, self.reading.offer is not None
        self.rows.empty = _AWAY if shelf.link is None else _LISTING if offered is None else _NONE
        self.rows.records = tuple(row for _, row in shelf.rows.values())
        troubles = offered.troubles[:_MOST_TROUBLES] if offered is not None else ()
        told = [f"⚠ {visible(one, limit=300, newlines=False)}" for one in troubles]
        self.write(Content("\n".join(told)), ".reading-trouble")
        self.query_one(".reading-trouble").display = bool(told) and not is_open
        self.rows.display, self.reading.display = not is_open, is_open
        number = (
            f"{len(self.rows.records):,}" if offered is not None else "…" if shelf.link is not None else ""
        )
        self.post_message(self.Counted(self.kind, number))
        self.refresh_bindings()

    @on(RecordList.Selected)
    def _selected(self, event: RecordList.Selected) -> None:
        event.stop()
        if (found := self._shelf.rows.get(event.key)) is not None:
            self._open(found[0])

    def _open(self, offer: Offer | None) -> None:
        """Show an entry in place of the list, or the list again, and put the focus there."""
        had_focus = self.has_focus_within
        self.reading.show(self._server, offer)
        self._draw()
        if had_focus:
            self.rows.focus() if offer is None else self.reading.focus_first()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Offer the keys of what is opened; the list is listed again."""
        if action == "back":
            return self.reading.offer is not None
        is_list = action == "again" and self.reading.offer is None
        return is_list or self.reading.result is not None if action in ("again", "save") else True

    def action_back(self) -> None:
        """Show the list again."""
        self._open(None)

    def action_again(self) -> None:
        """Read again what is opened, or list again what is there."""
        if self.reading.offer is not None:
            self.reading.fetch()
        else:
            self._shelf.is_listed = False
            self.look()

    def action_save(self) -> None:
        """Write what was read to a file."""
        self.reading.save()


def _rows(offered: Offered, offers: Offers) -> dict[str, tuple[Offer, Record]]:
    return {one.key: (one, offer_row(one, offers.redact(one.id))) for one in offered.offers}
