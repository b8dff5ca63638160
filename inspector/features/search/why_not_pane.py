"""Why a search does not return a tool, or not first, and which sentences in its description would help."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.draw.line import MUTED, failure_line
from inspector.app.draw.table import report_lines
from inspector.core.events import CallStarted, SearchPerformed, TurnEnded, UserSaid
from inspector.core.number import ordinal
from inspector.core.ranking import SearchRequest
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.core.text import closest
from inspector.core.tool import Catalog
from inspector.features.check.finding import Effect, Proposal
from inspector.features.check.proposal import ProposalTrial, is_first
from inspector.features.search.facts import (
    LEDGER,
    cut_text,
    ledger_cells,
    ledger_total,
    rank_text,
    reasons,
    rival_text,
)
from inspector.features.search.score_text import COLORS
from inspector.features.search.search_job import NO_QUERY, Pane, Topic
from inspector.search.answer.evalset import added_cases
from inspector.search.answer.search import SearchRules
from inspector.search.answer.why_not import LOOKED_UP, LedgerLine, WhyNot, why_not
from widgets import Column, Record, RecordList, middle, plain, visible

PROPOSALS = (
    Column("text", "", shorten="middle", min_width=20, weight=9),
    Column("rank", "rank", align="right", width=6, weight=10),
    Column("tokens", "tokens", align="right", width=6, weight=5),
)
COLUMNS = (
    Column("signal", LEDGER[0], width=9, weight=4),
    Column("term", LEDGER[1], shorten="middle", min_width=12, weight=5),
    Column("mine", LEDGER[2], align="right", width=9, weight=5),
    Column("rival", LEDGER[3], align="right", width=9, weight=5),
    Column("difference", LEDGER[4], align="right", width=10, weight=6),
)


def waiting(tool_id: str, query: str) -> Content:
    """Return the text shown until the answer arrives."""
    return Content.assemble(_about(tool_id, query), "\n", ("scoring …", "$text-warning"))


def missing(tool_id: str, query: str, reason: str, hint: str) -> Content:
    """Return the text for a tool that no search can find."""
    return Content.assemble(_about(tool_id, query), "\n", (f"✕ {reason}", "$text-warning"), "\n", hint)


def verdict(found: WhyNot, *, limit: int, closest: float, tools: int) -> Content:
    """Return the tool, its rank, and what cut it, in words."""
    told = cut_text(found, limit, closest)
    color = "$text-success" if told.startswith("✓") else "bold $text-warning"
    cut = plain(told, newlines=False, limit=300).stylize(color)
    lines = [_about(found.tool_id, found.request.query), plain(rank_text(found, tools), newlines=False), cut]
    if found.note:
        lines.append(plain(found.note, limit=300, newlines=False).stylize("$text-warning"))
    return Content("\n").join(lines)


def _about(tool_id: str, query: str) -> Content:
    name = plain(tool_id, limit=120, newlines=False).stylize("bold")
    return Content.assemble(name, ("   for ", MUTED), plain(f"“{middle(query, 60)}”"))


def ledger_rows(found: WhyNot) -> tuple[Record, ...]:
    """Return the sums of both bills, then their lines, the biggest loss first."""
    if found.rival is None:
        return ()
    label, said, mine, rival, difference = ledger_total(found)
    cells = (
        Content.styled(label, "bold"),
        Content.styled(said, "$text-success" if said.startswith("✓") else "$text-error"),
        *(Content.styled(value, "bold") for value in (mine, rival)),
        _difference(difference).stylize("bold"),
    )
    return (Record("\0total", cells), *(_ledger_row(line, found.request.query) for line in found.ledger))


def _ledger_row(line: LedgerLine, query: str) -> Record:
    signal, *cells, difference = ledger_cells(line, query)
    colored = Content.styled(signal, COLORS[line.signal])
    return Record(f"{line.signal.value} {line.term}", (colored, *cells, _difference(difference)))


def _difference(text: str) -> Content:
    return Content.styled(text, {"-": "$text-error", "+": "$text-success"}.get(text[0], MUTED))


def no_ledger(found: WhyNot) -> str:
    """Return the text of an empty ledger."""
    if found.note == LOOKED_UP:
        return "Nothing was ranked, so there are no scores to compare."
    first = "It ranks first" if found.cut is None else "No tool was returned"
    return f"{first}: nothing to beat."


def proposal(one: Proposal) -> Record:
    """Return the row of a proposed sentence, with the rank that the tool reaches with it."""
    sentence = visible(one.sentence, limit=2_000, newlines=False)
    reached = Content.styled(f"→ {ordinal(one.effect.reached)}", "bold $text-success")
    where = " as the first sentence" if is_first(one) else ""
    where += f" by {visible(one.by, limit=60, newlines=False)}" if one.by else ""
    cells = (
        Content.assemble(("+ ", "$accent"), sentence, (where, MUTED)),
        reached,
        f"{one.effect.tokens:+,}",
    )
    return Record(one.description, cells, copy=one.sentence)


# Why a tool is not in the search index.


def missing_tool(tool_id: str, catalog: Catalog, session: SessionState) -> tuple[str, str]:
    """Return why no search can find the tool, and what to do about it."""
    server, _, name = tool_id.partition(":")
    state = session.servers.get(server)
    if catalog.get(tool_id) is not None:
        reason = "It existed at that moment, but searches use the current tools."
        return reason, "Go back to now on the timeline to search it."
    if state is not None and state.phase is not ServerPhase.READY:
        reason = visible(f": {state.reason}" if state.reason else ".", limit=300, newlines=False)
        return f"Its server is {state.phase}{reason}", "Its stderr is in Tools; press r there to connect it."
    skipped = next((tool for tool in (state.skipped if state else ()) if tool.name == name), None)
    if skipped is not None:
        reason = f"Its definition is invalid: {visible(skipped.reason, limit=300, newlines=False)}"
        return reason, "The server must fix it; Tools lists every skipped tool."
    hidden = f", or the toolset '{_name(session.toolset)}' hides it" if session.toolset else ""
    near = ", ".join(map(_name, closest(tool_id, list(catalog.by_id))))
    pick = "Press p to pick another tool."
    return f"No connected server has this tool{hidden}.", f"Closest: {near}. {pick}" if near else pick


def _name(name: str) -> str:
    return visible(name, limit=80, newlines=False)


_JOB = "why-not"
_FIRST = "It ranks first already."
_NO_SENTENCE = "No true sentence that we could make ranks it higher without harm to others."
_KINDS = tuple(event.kind for event in (SearchPerformed, CallStarted, UserSaid, TurnEnded))
_LISTS = ("#proposals", "#ledger")


class WhyNotPane(Pane):
    """One tool beside the one it has to beat."""

    first = ("#proposals RecordRows", "#ledger RecordRows")

    @dataclass
    class Proposed(Message):
        """A proposal was taken: the tool's description with it is to be edited."""

        tool_id: str
        description: str
        effect: Effect | None = None

    def __init__(self) -> None:
        super().__init__(id="why-not")
        self._tool_id = ""
        self._shown: object = None
        self._index: object = None
        self._proposals: tuple[Proposal, ...] = ()
        self._is_first = False
        self.trial: ProposalTrial | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="verdict")
        yield Static(id="reasons")
        yield RecordList(PROPOSALS, empty="", filterable=False, id="proposals")
        yield Static(id="sentence", markup=False)
        yield RecordList(COLUMNS, header=True, empty="", id="ledger")

    @property
    def tool_id(self) -> str:
        return self._tool_id

    def show(self, topic: Topic) -> None:
        rankers = self.retrieval.rankers
        asked = (topic.tool_id, topic.request, topic.also, self.retrieval.settings, rankers.index.tools)
        is_same = asked == self._shown and (topic.tool_id in rankers.index.position or topic.request.is_empty)
        if is_same and rankers.index is self._index:
            return
        self._shown, self._index, self._tool_id = asked, rankers.index, topic.tool_id
        if is_same and not topic.request.is_empty:
            # Only vectors have arrived: what is shown stays until it is known better.
            self._look(topic.tool_id, topic.request, topic.also)
            return
        self._clear()
        if not topic.tool_id or topic.request.is_empty:
            self.drop_job(_JOB)
            no_tool = "Press w on a tool in the list, or p to pick one."
            self._say(Content.styled(NO_QUERY if topic.request.is_empty else no_tool, "$text-warning"))
        elif topic.tool_id in rankers.index.position:
            self._say(waiting(topic.tool_id, topic.request.query))
            self.query_one("#ledger", RecordList).empty = "scoring …"
            self._show_lists(True)
            self._propose(())
            self._look(topic.tool_id, topic.request, topic.also)
        else:
            self.drop_job(_JOB)
            why = missing_tool(topic.tool_id, self.session.catalog, self.session.state)
            self._say(missing(topic.tool_id, topic.request.query, *why))

    def _clear(self) -> None:
        self._proposals, self.trial = (), None
        for name in ("#reasons", "#sentence"):
            self.query_one(name, Static).update("")
        for name in _LISTS:
            self.query_one(name, RecordList).records = ()
            self.query_one(name, RecordList).empty = ""
        self._show_lists(False)

    def _show_lists(self, shown: bool) -> None:
        for name in _LISTS:
            self.query_one(name).display = shown

    def _say(self, told: Content) -> None:
        self.write(told, "#verdict")

    def _look(self, tool_id: str, request: SearchRequest, also: Sequence[str] = ()) -> None:
        """Explain the tool under the ranker in use, then try sentences for its description."""
        rankers, ranker = self.retrieval.rankers, self.retrieval.ranker_name
        rules = replace(self.retrieval.rules, pinned=frozenset(self.session.state.pinned))
        count, records = self.session.accounting.meter.tool, self.session.records(_KINDS)

        def explain(job: Job) -> None:
            found = why_not(rankers, ranker, request, tool_id, rules)
            job.tell(partial(self._found, found, rules, len(rankers.index.tools)))
            proposed: tuple[Proposal, ...] = ()
            if not request.tool_names and (found.rival is not None or found.cut is not None):
                given = self.retrieval.given(rankers.index)
                cases = (*given, *added_cases(records, given))
                missed = tuple(dict.fromkeys((request.query, *also)))
                trial = ProposalTrial(rankers, ranker, tool_id, missed, cases, count)
                job.tell(partial(setattr, self, "trial", trial))
                proposed = self._tried(job, trial)
            job.tell(partial(self._propose, proposed, is_done=True))

        self.run_job(_JOB, explain, lambda _: None, failed=lambda error: self._say(failure_line(error)))

    def _tried(self, job: Job, trial: ProposalTrial) -> tuple[Proposal, ...]:
        proposed: tuple[Proposal, ...] = ()
        for proposed in trial.run(job.stopped):
            job.tell(partial(self._propose, proposed))
        return proposed

    def try_written(self, trial: ProposalTrial) -> None:
        """Try what a model wrote beside what is made of phrases, unless another tool is explained by now."""
        if self.trial is None or replace(trial, answer="", writer="") != self.trial:
            return

        def work(job: Job) -> None:
            job.tell(partial(self._propose, self._tried(job, trial), is_done=True))

        self._propose(())
        self.run_job(_JOB, work, lambda _: None)

    def _found(self, found: WhyNot, rules: SearchRules, tools: int) -> None:
        self._say(verdict(found, limit=rules.limit, closest=rules.closest_threshold, tools=tools))
        lines = report_lines(reasons(found), self.size.width)
        self.write(Content("\n").join(lines), "#reasons")
        self._is_first = found.rival is None and found.cut is None
        ledger = self.query_one("#ledger", RecordList)
        rival = middle(found.rival.tool_id, 24) if found.rival is not None else ""
        ledger.border_title = plain(rival_text(found, rival), newlines=False)
        ledger.empty = no_ledger(found)
        ledger.records = ledger_rows(found)

    def _propose(self, proposals: tuple[Proposal, ...], *, is_done: bool = False) -> None:
        listed = self.query_one("#proposals", RecordList)
        if is_done:
            chosen = "Sentences tried; M asks the model, enter shows the change"
            listed.border_title = chosen if proposals else "Sentences tried; M asks the model for some"
            listed.empty = _FIRST if self._is_first else _NO_SENTENCE
        else:
            listed.border_title = "Trying sentences …"
            listed.empty = "trying sentences for its description …"
        if proposals != self._proposals:
            self._proposals = proposals
            listed.records = tuple(map(proposal, proposals))
            self._show_sentence()

    def sentence_for(self, tool_id: str) -> str:
        """A tool's description with the sentence under the cursor, "" if none that was tried helps it."""
        current = self.query_one("#proposals", RecordList).current
        return current.key if current is not None and tool_id == self._tool_id else ""

    @on(RecordList.Highlighted, "#proposals")
    def _show_sentence(self) -> None:
        """Show the whole sentence under the cursor: a row may cut it, and it is what one would paste."""
        current = self.query_one("#proposals", RecordList).current
        self.write(plain(current.copy, newlines=False) if current is not None else "", "#sentence")

    @on(RecordList.Selected, "#proposals")
    def _take(self, event: RecordList.Selected) -> None:
        effect = next((one.effect for one in self._proposals if one.description == event.key), None)
        self.post_message(self.Proposed(self._tool_id, event.key, effect))

    @on(RecordList.Selected, "#ledger")
    def _open(self) -> None:
        self.open_tool(self._tool_id)
