"""The place Find: one query, its results, and on the right what explains them."""

from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import ContentSwitcher, Input, Static, TextArea

from inspector.app.context import Job
from inspector.app.dialogs.export import ToolPicker
from inspector.app.place import Destination, EditPage, FindingsPage, SearchPage, WhyNotPage, WorklistPage
from inspector.app.stream import View
from inspector.core.error import ToolsightError
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.core.session import ServerState, SessionState
from inspector.features.check.proposal import ProposalTrial
from inspector.features.search.edit_pane import EditPane
from inspector.features.search.rankers_pane import RankersPane
from inspector.features.search.results_pane import NO_RANKS, ResultList
from inspector.features.search.right_half import DEFINITION, EDIT, RANKERS, SCORE, WHY_NOT, RightHalf
from inspector.features.search.score_text import LETTERS, DefinitionPane, ScorePane
from inspector.features.search.search_job import NO_QUERY, AskBar, Pane, Rewords, Search, Topic, heading
from inspector.features.search.source_change import SourceChanges
from inspector.features.search.why_not_pane import WhyNotPane
from inspector.features.search.worklist import Worklist
from inspector.search.answer.rewording import Rewording
from widgets import RecordList, ViewStrip

# The line above the right half: what can be shown. Each has its key, which is underlined.
_KEYS = {"f": DEFINITION, "s": SCORE, "w": WHY_NOT, "e": EDIT, "c": RANKERS}
_INTRO = Content(f"Describe a tool and press enter. Every tool is scored; none is loaded.\n{LETTERS}.")
_NOTHING_SCORED = "No tools were scored. Press i to edit the query."
_NO_TOOLS = "No tools to search yet. The search reruns when tools arrive."
_NOTHING_ASKED = "Nothing to search for: type a query, a server or tool names, then press enter."
_NOT_FOUND_BY_SEARCH = "This tool is not in the search index, so it has no score that an edit could change."


# Long because the query, the list and the right half meet here; what each shows is in its own file.
class SearchScreen(RightHalf, Rewords, SourceChanges):
    """Searches as a person; the right half explains. Query, cursor, own tool and right half are kept."""

    page = "search"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#query"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "findings", "findings", id="find.findings"),
        Binding("f", f"pane('{DEFINITION}')", "definition", show=False, id="find.definition"),
        Binding("s", f"pane('{SCORE}')", "score", id="find.score"),
        Binding("c", f"pane('{RANKERS}')", "rankers", show=False, id="find.rankers"),
        Binding("i", "ask", "query", id="find.ask"),
        Binding("m", "reword", "reword", id="find.reword"),
        Binding("M", "write", "sentences by the model", show=False, id="find.write"),
        Binding("a", "keep", "keep request", id="find.keep"),
        Binding("A", "keep_failing", "all that miss", show=False, id="find.keep_failing"),
        Binding("p", "pick", "pick your tool", id="find.pick"),
        Binding("u", "ranker", "ranker", id="find.ranker"),
        Binding("x", "save", "export", id="find.save"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Type what a tool should do and press enter; nothing is loaded. m searches as the model would ask.",
        "`server` limits the search to one server or to a tag (#TAG). `names` looks up tools by name.",
        "Tools are listed by rank with their state; grey rows are not results. w or p picks your tool.",
        "short: beyond the limit, a search that is sure still returns a few tools with short definitions.",
        "f definition of the tool under the cursor; s score: every part, minus an average tool's (A).",
        "w why not: missing words, sentences tried (e edits with the best), the tool to beat. There",
        "M asks the session's model for sentences once; each is tried as ours are, and shown as the model's.",
        "e edit: a draft; ctrl+s shows it as a change of the source, x exports it, ctrl+y copies its text.",
        "too alike: a cosine of 0.8 or more. Below stand the requests of the file toolsight.requests:",
        "a adds the request and your tool to it, A all labelled requests and searches that miss.",
        "They are ranked again at each key and save (▲ ▼ =): D removes one, enter shows it, tab leads there.",
        "c rankers: the tool's rank under each; u uses the one under the cursor. esc: to the list.",
    )

    _ask_bar = query_one(AskBar)
    _worklist = query_one(Worklist)

    def __init__(self) -> None:
        super().__init__()
        self.own_tool = ""
        self._made = Search()
        self._intro = _INTRO
        self._explained: tuple[Pane, Topic] | None = None
        self._away: tuple[ServerState, ...] = ()
        self._drawn: tuple[object, ...] = ()

    def words(self) -> list[str]:
        why = ["--why", self.own_tool] if self.pane_name == WHY_NOT and self._pane_is_in_sight else []
        return ["search", self.request.query, *why, *self.context.opened.source]

    def body(self) -> ComposeResult:
        yield AskBar(id="ask")
        yield Static(_INTRO, id="facts")
        strip = ViewStrip(tuple(_KEYS.values()), _KEYS, id="strip")
        strip.can_focus = False
        yield strip
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield ResultList()
            yield DefinitionPane()
            with Vertical(id="right"), ContentSwitcher(initial=SCORE, id="panes"):
                yield ScorePane()
                yield WhyNotPane()
                yield EditPane()
                yield RankersPane()
        yield Worklist()

    def on_mount(self) -> None:
        self.add_class("-card")
        self._show_strip()
        self._results.show(None, NO_RANKS, "")

    def on_resize(self) -> None:
        self._show_facts()
        # What is in sight may be another half now.
        self.call_after_refresh(self._show_pane)

    def show_view(self, view: View) -> None:
        self._made = self._made.again(self.session)
        self._worklist.follow()
        # A search is an event too: when that comes, its results are there already.
        if self._drawn_from(view.state) != self._drawn:
            self._show_results()

    def _drawn_from(self, state: SessionState) -> tuple[object, ...]:
        """What decides how the results look."""
        tools = (state.tools, state.held, state.places, state.servers)
        return (self._made, self.own_tool, *tools, state.settings, state.index, state.marketplace)

    def arrive(self, destination: Destination) -> None:
        """Show what another page asks for; what was there gives way only as far as it has to."""
        match destination:
            case SearchPage(request, report):
                self._ask_bar.type(request)
                self._take(Search(request, report)) if report is not None else self.search(request)
            case WhyNotPage(tool_id, request):
                if not request.is_empty:
                    self._look(request)
                self._explain(tool_id)
            case EditPage(tool_id, query):
                if query.strip():
                    self._look(SearchRequest(query))
                self._set_own(tool_id)
                self._open_pane(EDIT)
            case WorklistPage(wanted):
                self._worklist.add((request.query, tool_id) for request, tool_id in wanted)

    @on(AskBar.Asked)
    def _asked(self, event: AskBar.Asked) -> None:
        if not event.request.is_empty:
            is_awaited = self._report is None and self.pane_name == WHY_NOT
            self.search(event.request)
            if is_awaited:
                self._open_pane(WHY_NOT)
            return
        self.drop_running()
        self._made, self._intro = Search(event.request), Content.styled(_NOTHING_ASKED, "$text-warning")
        self._show_results()

    def search(self, request: SearchRequest, reworded: Rewording | None = None) -> None:
        try:
            report = self.commands.search(request)
        except ToolsightError as error:
            self.fail(error)
        else:
            self._take(replace(Search.over(request, self.session, report), reworded=reworded))

    def _look(self, request: SearchRequest) -> None:
        """Show the results of a request that another page comes with."""
        if request != self.request or self._report is None:
            self._ask_bar.type(request)
            self._take(Search.over(request, self.session))

    def _take(self, made: Search) -> None:
        """Show a search and go to its list, unless a model's comes while something is typed."""
        self.drop_running()
        goes = made.reworded is None or not isinstance(self.focused, Input | TextArea)
        self._made = made
        self._results.found.empty = _NOTHING_SCORED if self.session.retrieval.index.tools else _NO_TOOLS
        if goes:
            self.remove_class("-pane")
        self._show_results()
        self._results.move_to_best()
        if goes:
            self._go_to_list()

    @property
    def request(self) -> SearchRequest:
        return self._made.request

    @property
    def _report(self) -> SearchReport | None:
        return self._made.report

    def _show_facts(self) -> None:
        self.set_class(bool(self._away), "-away")
        width = self.size.width - 2
        self.write(heading(self._made, self.session, self._intro, self._away, width), "#facts")

    def _show_results(self) -> None:
        session = self.session
        self._away, self._drawn = self._made.away(session), self._drawn_from(session.state)
        self._show_facts()
        self._results.show(self._report, self._made.ranks, self.own_tool, self._away)
        self._show_pane()

    @on(ResultList.Moved)
    def _show_pane(self) -> None:
        self._show_strip()
        self._fit_list()
        if not self._pane_is_in_sight:
            return
        also = self._worklist.queries_for(self.own_tool)
        shown = self._pane, Topic(self.request, self._report, self._results.hit, self.own_tool, also)
        # What is known of a tool stays beside it while its server is away.
        if shown != self._explained or not self._away:
            self._explained = shown
            for pane in (self._pane, *self.query(".-wide DefinitionPane").results(Pane)):
                pane.show(shown[1])

    @on(ViewStrip.Chosen)
    def _choose(self, event: ViewStrip.Chosen) -> None:
        opens = {WHY_NOT: self.action_why, EDIT: self.action_edit_tool}
        opens.get(event.view, lambda: self._open_pane(event.view))()
        self._show_strip()

    def leave_input(self) -> None:
        """Go to the list, from the query and from the editor."""
        self._go_to_list()

    async def action_leave(self) -> None:
        """Go to the list, or back from there; a model that is asked is stopped first."""
        if self.running is None and not self._results.has_focus_within and self._report is not None:
            self._go_to_list()
        else:
            await super().action_leave()

    def action_pane(self, name: str) -> None:
        """Show another part of the right half."""
        if name in (DEFINITION, SCORE) or self._has_query():
            self._open_pane(name)

    @property
    def tool_id(self) -> str:
        """The tool under the cursor, in the list or on the right; "" if there is none."""
        if self._pane.has_focus_within or (self.has_class("-narrow") and self._pane_is_in_sight):
            return self._pane.tool_id
        if self._worklist.has_focus_within:
            return self._worklist.tool_id
        return self._results.hit.tool_id if self._results.hit is not None else ""

    def action_why(self) -> None:
        """Explain why the tool under the cursor is not found or not first; without one, ask for a tool."""
        if not self._has_query():
            return
        if self.tool_id:
            self._explain(self.tool_id)
        else:
            self.action_pick()

    def action_pick(self) -> None:
        """Name your tool, then explain its rank."""
        self.app.push_screen(ToolPicker(self.session, "Which tool is yours?"), self._explain)

    def _explain(self, name: str | None) -> None:
        """Make a tool the person's own, by its id or by a name that only one tool has."""
        if name:
            self._set_own(name)
            self._open_pane(EDIT if self.pane_name == EDIT and not self.request.query.strip() else WHY_NOT)

    def _set_own(self, name: str) -> None:
        named = self.session.catalog.named(name)
        self.own_tool = named[0].id if len(named) == 1 else name
        self._results.show(self._report, self._made.ranks, self.own_tool, self._away)
        self._results.found.move_to(self.own_tool)

    def action_edit_tool(self) -> None:
        """Edit the tool under the cursor, or your tool, and see what that would change."""
        tool_id = self.tool_id or self.own_tool
        if tool_id not in self.session.retrieval.index.position:
            self.warn(_NOT_FOUND_BY_SEARCH if tool_id else "Put the cursor on a tool first.")
            return
        self._set_own(tool_id)
        sentence = self.query_one(WhyNotPane).sentence_for(tool_id) if self.pane_name == WHY_NOT else ""
        if sentence and not self.query_one(EditPane).has_draft(tool_id):
            self.draft(tool_id, sentence)
        else:
            self._open_pane(EDIT)

    def draft(self, tool_id: str, description: str) -> None:
        """Open the editor with another description."""
        self.query_one(EditPane).propose(tool_id, description)
        self._open_pane(EDIT)

    @on(EditPane.Asked)
    def _ask_instead(self, event: EditPane.Asked) -> None:
        request, tool_id = SearchRequest(event.query_text), self.own_tool
        self._look(request)
        self._set_own(tool_id)
        self._open_pane(EDIT)

    @on(Worklist.Ranked)
    def _try_again(self) -> None:
        self.query_one(EditPane).try_again()

    @on(EditPane.Tried)
    def _show_tried(self) -> None:
        self._worklist.draw()

    def action_write(self) -> None:
        """Ask the session's model for sentences for the tool that is explained."""
        pane = self.query_one(WhyNotPane)
        trial = pane.trial if self.pane_name == WHY_NOT and self._pane_is_in_sight else None
        if trial is None:
            self.warn("Press w on a tool that is not first, then M.")
            return

        async def work(_: Job) -> ProposalTrial:
            return await self.commands.ask_writer(trial.written_by)

        self.run_stoppable("writing", work, pane.try_written)

    def action_keep(self) -> None:
        """Keep the request in sight with the tool it should find: yours, or one that is asked for."""
        if not self._has_query():
            return
        request = self.request

        def keep(tool_id: str | None) -> None:
            if tool_id:
                self._set_own(tool_id)
                self._worklist.add([(request.query, self.own_tool)])

        if self.own_tool:
            keep(self.own_tool)
        else:
            self.app.push_screen(ToolPicker(self.session, "Which tool should it find?"), keep)

    def action_keep_failing(self) -> None:
        """Keep in sight every labelled request and search of this session that misses its tool."""
        self._worklist.add_failing()

    @on(Worklist.Chosen)
    def _show_kept(self, event: Worklist.Chosen) -> None:
        self._look(event.item.request)
        if event.item.tool_id:
            self._set_own(event.item.tool_id)
        self._show_pane()
        self.call_later(self._worklist.query_one(RecordList).focus)

    def action_findings(self) -> None:
        """Show what is found about the tool under the cursor, or about all."""
        self.open(FindingsPage(self.tool_id or self.own_tool))

    def action_ask(self) -> None:
        """Go back to the query."""
        self._ask_bar.focus_query()

    def action_ranker(self) -> None:
        """Use the ranker under the cursor of the rankers in this session; without one, go to them."""
        ranker = self.query_one(RankersPane).ranker if self._pane.has_focus_within else ""
        if self.pane_name != RANKERS or not ranker:
            self.action_pane(RANKERS)
            return
        try:
            self.commands.change_setting("discovery.ranker", ranker)
        except ToolsightError as error:
            self.fail(error)
        if self._made.index is not None and self._made.ranker != self.session.retrieval.ranker_name:
            self.search(self.request, self._made.reworded)

    def action_save(self) -> None:
        """Save the draft that is being edited, or else the page."""
        if self.pane_name == EDIT and self._pane_is_in_sight:
            self.query_one(EditPane).save()
        else:
            self.share()

    def _has_query(self) -> bool:
        if not self.request.query.strip():
            self.warn(NO_QUERY)
            self.action_ask()
            return False
        return True
