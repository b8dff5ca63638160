"""Why a search does not return a tool, or not first, and which additions to its description would help."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.access.reach import EvalCase
from inspector.app.draw.line import failure_line
from inspector.app.job import Job
from inspector.app.pages.find import why_not_text as text
from inspector.app.pages.find.pane import NO_QUERY, Pane, Topic
from inspector.core.events import CallStarted, SearchPerformed, TurnEnded, UserSaid
from inspector.core.ranking import SearchRequest
from inspector.measure.evalset import added_cases
from inspector.search.addition import Addition, AdditionTrial
from inspector.search.search import SearchRules
from inspector.search.why_not import WhyNot, why_not
from widgets import RecordList

_JOB = "why-not"
_KINDS = tuple(event.kind for event in (SearchPerformed, CallStarted, UserSaid, TurnEnded))
_LISTS = ("#proposals", "#ledger")


class WhyNotPane(Pane):
    """One tool beside the one it has to beat."""

    first = ("#proposals RecordRows", "#ledger RecordRows")

    @dataclass
    class Proposed(Message):
        """An addition was taken: the tool's description with it is to be edited."""

        tool_id: str
        description: str

    def __init__(self) -> None:
        super().__init__(id="why-not")
        self._tool_id = ""
        self._shown: object = None
        self._index: object = None
        self._additions: tuple[Addition, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="verdict")
        yield Static(id="reasons")
        yield RecordList(text.PROPOSALS, empty="", filterable=False, id="proposals")
        yield Static(id="overtaken")
        yield RecordList(text.LEDGER, header=True, empty="", id="ledger")

    @property
    def tool_id(self) -> str:
        return self._tool_id

    def show(self, topic: Topic) -> None:
        rankers = self.retrieval.rankers
        asked = (topic.tool_id, topic.request, self.retrieval.settings, rankers.index.tools)
        is_same = asked == self._shown and (topic.tool_id in rankers.index.position or topic.request.is_empty)
        if is_same and rankers.index is self._index:
            return
        self._shown, self._index, self._tool_id = asked, rankers.index, topic.tool_id
        if is_same and not topic.request.is_empty:
            # Only vectors have arrived: what is shown stays until it is known better.
            self._look(topic.tool_id, topic.request)
            return
        self._clear()
        if not topic.tool_id or topic.request.is_empty:
            self.drop_job(_JOB)
            no_tool = "Press w on a tool in the list, or p to pick one."
            self._say(Content.styled(NO_QUERY if topic.request.is_empty else no_tool, "$text-warning"))
        elif topic.tool_id in rankers.index.position:
            self._say(text.waiting(topic.tool_id, topic.request.query))
            self.query_one("#ledger", RecordList).empty = "scoring …"
            self._show_lists(True)
            self._propose(())
            self._look(topic.tool_id, topic.request)
        else:
            self.drop_job(_JOB)
            toolset = self.session.configuration.toolset(self.session.state.toolset)
            why = text.missing_tool(topic.tool_id, self.session.catalog, self.session.state, toolset)
            self._say(text.missing(topic.tool_id, topic.request.query, *why))

    def _clear(self) -> None:
        self._additions = ()
        for name in ("#reasons", "#overtaken"):
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

    def _look(self, tool_id: str, request: SearchRequest) -> None:
        """Explain the tool under the ranker in use, then try additions to its description."""
        rankers, ranker = self.retrieval.rankers, self.retrieval.ranker_name
        rules = replace(self.retrieval.rules, pinned=frozenset(self.session.state.pinned))
        count, records = self.session.accounting.meter.tool, self.session.records(_KINDS)

        def cases() -> Sequence[EvalCase]:
            given = self.retrieval.given(rankers.index)
            return (*given, *added_cases(records, given))

        trial = AdditionTrial(rankers, ranker, request, tool_id, rules, count, cases)

        def explain(job: Job) -> None:
            found = why_not(rankers, ranker, request, tool_id, rules)
            job.tell(partial(self._found, found, rules, len(rankers.index.tools)))
            proposed: tuple[Addition, ...] = ()
            for proposed in trial.run(job.stopped):
                job.tell(partial(self._propose, proposed))
            job.tell(partial(self._propose, proposed, is_done=True))

        self.run_job(_JOB, explain, lambda _: None, failed=lambda error: self._say(failure_line(error)))

    def _found(self, found: WhyNot, rules: SearchRules, tools: int) -> None:
        self._say(text.verdict(found, limit=rules.limit, closest=rules.closest_threshold, tools=tools))
        self.write(text.reasons(found), "#reasons")
        ledger = self.query_one("#ledger", RecordList)
        ledger.border_title = text.ledger_title(found)
        ledger.empty = text.no_ledger(found)
        ledger.records = text.ledger_rows(found)

    def _propose(self, additions: tuple[Addition, ...], *, is_done: bool = False) -> None:
        listed = self.query_one("#proposals", RecordList)
        if is_done:
            chosen = "Additions tried, smallest first; enter drafts one"
            listed.border_title = chosen if additions else "Additions tried"
            listed.empty = "No wording we tried ranks it higher."
        else:
            listed.border_title = "Trying additions …"
            listed.empty = "trying additions to its description …"
        if additions != self._additions:
            self._additions = additions
            listed.records = tuple(map(text.proposal, additions))
            self._tell_overtaken()

    @on(RecordList.Highlighted, "#proposals")
    def _tell_overtaken(self) -> None:
        current = self.query_one("#proposals", RecordList).current
        chosen = (one for one in self._additions if current is not None and one.description == current.key)
        self.write(text.overtaken(next(chosen, None)), "#overtaken")

    @on(RecordList.Selected, "#proposals")
    def _take(self, event: RecordList.Selected) -> None:
        self.post_message(self.Proposed(self._tool_id, event.key))

    @on(RecordList.Selected, "#ledger")
    def _open(self) -> None:
        self.open_tool(self._tool_id)
