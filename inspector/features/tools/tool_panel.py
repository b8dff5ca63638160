"""Everything about one tool on one page: what it takes and costs, its clients, its requests, its calls."""

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.context import InContext, Job
from inspector.app.draw.definition import cost_of, definition_lines, hanging, section, title_line
from inspector.app.draw.line import MUTED, change_lines
from inspector.app.draw.table import fact, fact_lines
from inspector.clients.delivery import Delivery, ServerDelivery
from inspector.core.definition import definition_changes
from inspector.core.events import CallFinished, CallStarted, DefinitionChanged, SearchPerformed
from inspector.core.number import count, shown_moment
from inspector.core.ranking import Hit, SearchRequest
from inspector.core.session import ToolState
from inspector.core.tool import Catalog, Tool, definition
from inspector.features.tools.call_answer import PastCall, past_calls, saved_for
from inspector.features.tools.call_panel import CallPanel
from inspector.features.tools.facts import tool_facts
from inspector.loop.approval import why_ask
from inspector.search.answer.standing import hit_of
from inspector.session.client_matrix import fate
from inspector.session.client_view import deliveries_in, listed_in
from inspector.session.setup import exemptions
from inspector.session.view import SessionView
from widgets import TextView, ViewPanel, ViewStrip, plain, visible

# Enough of a hash to tell definitions apart by eye.
_DIGITS = 12
_TOOL_LABELS = 21


def changed_text(
    state: ToolState | None, versions: Sequence[Tool], change: DefinitionChanged | None = None
) -> Content:
    """Return how a tool's definition differs from the one before; empty if it never changed.

    `versions` are its definitions in the session, the current one last, and `change` is what the last change
    means for a caller.
    """
    if state is None or len(versions) < 2:
        return Content("")
    changes = definition_changes(*versions[-2:])
    parts = ", ".join(change.part for change in changes) or "only parts that are not recorded"
    known = f"now {state.definition[:_DIGITS]}, {count(len(versions), 'definition')}"
    since = f"since {shown_moment(change.since)} UTC" if change and change.since else ""
    text = f"{parts}; {known} {since or 'in this session'}"
    changed = fact("changed", plain(text, limit=300, newlines=False), _TOOL_LABELS, 0)
    return Content("\n").join([changed, *_verdict(change), *change_lines(changes)])


def _verdict(change: DefinitionChanged | None) -> Iterator[Content]:
    """What a change means for a caller: the verdict, and what speaks for it, the worst first."""
    if change is None or change.verdict == "same":
        return
    label = "wording only" if change.verdict == "words" else change.verdict
    color = "$text-error" if change.verdict == "breaking" else ""
    yield fact("for a caller", Content.styled(label, color), _TOOL_LABELS, 0)
    for number, reason in enumerate(change.reasons):
        color = "$text-error" if number < change.breaking else MUTED
        yield plain(f"  {reason}", limit=300, newlines=False).stylize(color)


def exact_json(tool: Tool) -> str:
    """Return the definition as sent to the model, indented."""
    return json.dumps(definition(tool), ensure_ascii=False, indent=2, default=str)


# Seconds that the cursor rests on a tool before more is found out about it.
_RESTS = 0.15
# So many requests and calls are shown, the newest ones.
_MOST = 12
_EVENTS = (SearchPerformed.kind, CallStarted.kind, CallFinished.kind)


class ToolRecord(Struct, frozen=True):
    """What is known of a tool beside its definition; it takes a moment to find out.

    `clients` has what becomes of it in each, by the client's name, `requests` its places in searches, each
    with who asked: the newest ones of this session, then the labelled requests that should find it.
    """

    clients: Mapping[str, Delivery]
    requests: Sequence[tuple[str, str, Hit]]
    calls: Sequence[PastCall]


def record_of(session: SessionView, tool: Tool, deliveries: Sequence[ServerDelivery], job: Job) -> ToolRecord:
    """Find out what is known of a tool. Raises ToolsightError."""
    records = session.records(_EVENTS)
    requests: dict[str, tuple[str, str, Hit]] = {}
    for event in (one.event for one in reversed(records)):
        if isinstance(event, SearchPerformed) and len(requests) < _MOST:
            found = next((hit for hit in event.report.hits if hit.tool_id == tool.id), None)
            if found is not None:
                asked, by = event.report.request, "you" if event.by == "user" else event.by
                label = asked.query or asked.label()
                requests.setdefault(label, (label, by, found))
    retrieval = session.retrieval
    rankers, rules = retrieval.rankers, replace(retrieval.rules, pinned=frozenset(session.state.pinned))
    wanted = [case for case in retrieval.given(rankers.index) if any(tool.id in one for one in case.relevant)]
    for case in wanted[:_MOST]:
        if tool.id in rankers.index.position and not job.stopped():
            hit = hit_of(rankers, retrieval.ranker_name, SearchRequest(case.query), tool.id, rules)
            requests[case.query] = (case.query, "labelled", hit)
    clients = {one.client.name: each for one in deliveries for each in one.tools if each.id == tool.id}
    calls = [*reversed(past_calls(records, tool.id)), *saved_for(tool)]
    return ToolRecord(clients, tuple(requests.values()), calls[:_MOST])


def record_lines(record: ToolRecord, asked: Sequence[str] = ()) -> Iterator[Content]:
    """Yield requests, `asked` being the file's for the tool, and calls, each below its heading."""
    none = "" if record.requests or asked else "no search of this session scored it; w asks why"
    yield section("Requests", none)
    for line in asked:
        yield plain(f"   {line}", newlines=False, limit=300)
    for label, by, hit in record.requests:
        color = "$text-success" if hit.outcome.is_result else "$text-warning"
        place = Content.styled(f"{hit.rank:>4,}. ", color)
        yield Content.assemble(
            place, plain(label, newlines=False, limit=200), (f"   {hit.outcome}, {by}", MUTED)
        )
    yield section("Calls", "" if record.calls else "none yet; c calls it")
    for one in record.calls:
        mark, arguments, took = map(str, one.row.cells)
        said = f"   {'  '.join(filter(None, (took, str(one.row.detail))))}"
        yield Content.assemble(f" {mark} ", plain(arguments, newlines=False, limit=200), (said, MUTED))


def client_lines(clients: Mapping[str, Delivery], width: int) -> Iterator[Content]:
    """Yield what becomes of the tool, the worst first: a line for all clients with the same reason."""
    same: dict[tuple[str, str], list[str]] = {}
    for name, one in clients.items():
        same.setdefault((fate(one), one.reasons[0].says if one.reasons else ""), []).append(name)
    colors = {"✕": "$text-error", "∅": "$text-error", "~": "$text-warning"}
    for word, says in sorted(same, key=lambda one: "∅✕~✓".find(one[0][0])):
        names = same[word, says]
        told = plain(": ".join(filter(None, (", ".join(names), says))), limit=400, newlines=False)
        yield fact(Content.styled(f" {word}", colors.get(word[0], MUTED)), told, 12, width)


TOOL_VIEWS = ("about", "JSON", "call")
_GONE = "Its server may have stopped, or a toolset may hide it. It reappears once it is available."


class ToolPanel(InContext, ViewPanel):
    """The views of the tool that `show` names; only the one on screen is drawn."""

    call = query_one(CallPanel)
    _tool_id = ""
    _drawn: tuple[object, ...] = ()
    _waits: Timer | None = None
    _deliveries: tuple[str, Catalog | None, Sequence[ServerDelivery]] = ("", None, ())

    def compose(self) -> ComposeResult:
        yield ViewStrip(TOOL_VIEWS, {"a": "about", "J": "JSON", "c": "call"}, id="tool-views")
        yield Static(id="tool-title")
        yield Static(_GONE, id="tool-gone", markup=False)
        with Container(id="tool-parts", classes="parts"):
            with VerticalScroll(id="tool-page", classes="part about", can_focus=True):
                yield Static(id="tool-definition")
                yield Static(id="tool-record")
            yield TextView(id="definition", classes="part JSON")
            with Container(classes="part call"):
                yield CallPanel(id="call")

    def on_mount(self) -> None:
        self.show_part()

    @property
    def tool(self) -> Tool | None:
        """The tool, as it was listed last while its server is away; None if it is gone."""
        return self.session.catalog.get(self._tool_id) or self.session.state.recorded(self._tool_id)

    def show(self, tool_id: str) -> None:
        """Show a tool, in the view that was chosen last, from its top."""
        if tool_id != self._tool_id:
            self.query_one("#tool-page").scroll_home(animate=False)
        self._tool_id = tool_id
        self.draw()

    def open_call(self) -> None:
        """Choose the view with the form."""
        self.strip.current = "call"
        self.show_part()

    def draw(self) -> None:
        """Draw the chosen view."""
        if not self._tool_id:
            return
        tool, title = self.tool, self.query_one("#tool-title", Static)
        self.set_class(tool is None, "-gone")
        if tool is None:
            name = visible(self._tool_id, limit=200, newlines=False)
            title.update(Content.styled(f"{name} is no longer in the catalog.", "$text-warning"))
            return
        known = self.session.state.known(tool.id)
        title.update(title_line(tool, known, self.text_width, cost_of(self.session, tool)))
        match self.strip.current:
            case "about":
                self._draw_about(tool)
            case "JSON":
                keep(self.query_one("#definition", TextView), exact_json(tool))
            case _:
                self.call.show(tool)

    def _draw_about(self, tool: Tool) -> None:
        """Draw the definition now, and what else is known of the tool once it is found out."""
        session, state = self.session, self.session.state
        known, news = (
            state.known(tool.id),
            [one.seq for one in self.context.shown.feed if one.event.kind in _EVENTS],
        )
        changes = state.versions(tool.id), state.changes.get(tool.id)
        told = why_ask(tool, state), session.retrieval.tags.of(tool), exemptions(session.setup, tool.id)
        self.follow_requests(self.draw)
        asked = self.context.requests.of(tool.id, session)
        drawn = (session, tool, known, changes, told, self.size.width, news[-1:], asked)
        if drawn == self._drawn:
            return
        is_other, self._drawn = drawn[:2] != self._drawn[:2], drawn
        lines = changed_text(known, *changes), *definition_lines(tool)
        self.query_one("#tool-definition", Static).update(hanging(filter(None, lines)))
        width = self.text_width // 2 - 2 if self.screen.has_class("-wide") else self.text_width
        facts = fact_lines(tool_facts(tool, known, *told), _TOOL_LABELS, width)

        def show(record: ToolRecord) -> None:
            clients = section("Clients", "" if record.clients else "…"), *client_lines(record.clients, width)
            lines = *record_lines(record, asked), section("About"), facts, *clients
            self.query_one("#tool-record", Static).update(hanging(lines))

        if is_other:
            show(ToolRecord({}, (), ()))

        def find_out(job: Job) -> ToolRecord:
            catalog, known = session.catalog, self._deliveries
            if known[0] != tool.server or known[1] is not catalog:
                known = tool.server, catalog, deliveries_in(listed_in(session), tool.server, job.stopped)
                # Where it was stopped, some clients are missing.
                self._deliveries = self._deliveries if job.stopped() else known
            return record_of(session, tool, known[2], job)

        # Not for each tool that the cursor passes.
        if self._waits is not None:
            self._waits.stop()
        self._waits = self.set_timer(_RESTS, lambda: self.run_job("tool", find_out, show))


def keep(view: TextView, text: str) -> None:
    """Show a text, and leave the one that is there where it was scrolled to if it is the same."""
    if view.text != text:
        view.text = text
