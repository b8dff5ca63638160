"""Why a search does not return a tool, or not first, and which additions to its description would help."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.access.reach import EvalCase
from inspector.app.draw.line import failure_line
from inspector.app.job import Job
from inspector.app.pages.find.pane import Pane, Topic
from inspector.app.pages.find.why_not import content
from inspector.app.pages.find.why_not.missing_tool import missing_tool
from inspector.core.events import CallStarted, SearchPerformed, TurnEnded, UserSaid
from inspector.core.ranking import SearchRequest
from inspector.measure.evalset import added_cases
from inspector.search.explanation.addition import Addition, AdditionTrial
from inspector.search.explanation.why_not import WhyNot, why_not
from inspector.search.rules import SearchRules
from widgets import RecordList

_JOB = "why-not"
_KINDS = tuple(event.kind for event in (SearchPerformed, CallStarted, UserSaid, TurnEnded))
_NO_QUERY = "Search first: press i, type a query and press enter."
_NO_TOOL = "Press w on a tool in the list, or p to pick one."


class WhyNotPane(Pane):
    """One tool beside the one it has to beat."""

    first = ("#proposals RecordRows", "#ledger RecordRows")

    class Proposed(Message):
        """An addition was taken: the tool's description with it is to be edited."""

        def __init__(self, tool_id: str, description: str) -> None:
            super().__init__()
            self.tool_id, self.description = tool_id, description

    def __init__(self) -> None:
        super().__init__(id="why-not")
        self._tool_id = ""
        self._shown: object = None
        self._index: object = None
        self._additions: tuple[Addition, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="verdict")
        yield Static(id="reasons")
        yield RecordList(content.PROPOSALS, empty="", filterable=False, id="proposals")
        yield Static(id="overtaken")
        yield RecordList(content.LEDGER, header=True, empty="", id="ledger")

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
            self._say(Content.styled(_NO_QUERY if topic.request.is_empty else _NO_TOOL, "$text-warning"))
        elif topic.tool_id in rankers.index.position:
            self._wait(topic)
            self._look(topic.tool_id, topic.request)
        else:
            self._tell_missing(topic)

    def _clear(self) -> None:
        self._additions = ()
        for name in ("#reasons", "#overtaken"):
            self.query_one(name, Static).update("")
        for name in ("#proposals", "#ledger"):
            self.query_one(name, RecordList).records = ()
            self.query_one(name, RecordList).empty = ""
        self._show_lists(False)

    def _show_lists(self, shown: bool) -> None:
        for name in ("#proposals", "#ledger"):
            self.query_one(name).display = shown

    def _say(self, text: Content) -> None:
        self.query_one("#verdict", Static).update(text)

    def _tell_missing(self, topic: Topic) -> None:
        self.drop_job(_JOB)
        toolset = self.session.configuration.toolset(self.session.state.toolset)
        reason = missing_tool(topic.tool_id, self.session.catalog, self.session.state, toolset)
        self._say(content.missing(topic.tool_id, topic.request.query, reason))

    def _wait(self, topic: Topic) -> None:
        self._say(content.waiting(topic.tool_id, topic.request.query))
        self.query_one("#ledger", RecordList).empty = "scoring …"
        self._show_lists(True)
        self._propose(())

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

        self.run_job(_JOB, explain, lambda _: None, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self._say(failure_line(error))

    def _found(self, found: WhyNot, rules: SearchRules, tools: int) -> None:
        self._say(content.verdict(found, limit=rules.limit, closest=rules.closest_threshold, tools=tools))
        self.query_one("#reasons", Static).update(content.reasons(found))
        ledger = self.query_one("#ledger", RecordList)
        ledger.border_title = content.ledger_title(found)
        ledger.empty = content.no_ledger(found)
        ledger.records = content.ledger_rows(found)

    def _propose(self, additions: tuple[Addition, ...], *, is_done: bool = False) -> None:
        listed = self.query_one("#proposals", RecordList)
        listed.border_title = content.proposals_title(additions, is_done=is_done)
        listed.empty = content.no_proposal(is_done=is_done)
        if additions != self._additions:
            self._additions = additions
            listed.records = content.proposals(additions)
            self._tell_overtaken()

    @on(RecordList.Highlighted, "#proposals")
    def _tell_overtaken(self) -> None:
        current = self.query_one("#proposals", RecordList).current
        chosen = (one for one in self._additions if current is not None and one.description == current.key)
        self.query_one("#overtaken", Static).update(content.overtaken(next(chosen, None)))

    @on(RecordList.Selected, "#proposals")
    def _take(self, event: RecordList.Selected) -> None:
        self.post_message(self.Proposed(self._tool_id, event.key))

    @on(RecordList.Selected, "#ledger")
    def _open(self) -> None:
        self.open_tool(self._tool_id)
