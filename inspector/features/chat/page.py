"""The session: conversation, budget, tools and events on one screen."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.style import Style
from textual.worker import Worker

from inspector.app.base_screen import ToolKeys
from inspector.app.dialogs.detail import DetailScreen
from inspector.app.dialogs.export import ToolPicker
from inspector.app.draw.line import COLUMNS, MUTED, feed_rows, problem_lines
from inspector.app.place import Page, RacePage, SearchPage, WhyNotPage
from inspector.app.stream import View
from inspector.core.conversation import ItemKind
from inspector.core.error import refusal
from inspector.core.events import SearchPerformed, TurnEnded
from inspector.core.number import count, plural
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.core.text import first_sentence, shortened
from inspector.core.tool import Tool
from inspector.features.chat.budget_panel import BudgetPanel, ToolsPanel
from inspector.features.chat.conversation import ConversationPanel, detail_title
from widgets import Blocks, Prompt, RecordList, link

_LONGEST = 72


@lru_cache(8_192)
def _request(description: str) -> str:
    """What a tool does, to be asked for. Every view asks for that of all tools."""
    return shortened(first_sentence(description).rstrip("."), _LONGEST)


def example_requests(tools: Sequence[Tool], most: int = 3) -> tuple[str, ...]:
    """The first sentences of up to `most` tools, of another server each as far as there are others.

    Tools that only read come before the others; one without a description is no example.
    """
    before, ranked = Counter[str](), list[tuple[int, str]]()
    for tool in sorted(tools, key=lambda tool: not tool.annotations.read_only):
        if request := _request(tool.description):
            ranked.append((before[tool.server], request))
            before[tool.server] += 1
    ranked.sort(key=lambda pair: pair[0])
    return tuple(dict.fromkeys(sentence for _, sentence in ranked))[:most]


_PROBLEMS = 4
_SEARCHES = "The model starts with search_tools and finds the other tools by searching."
_BOUND = "All tools go with every request, so there is nothing to search."


def welcome(session: SessionState, examples: Sequence[str]) -> Content:
    """Return the state of the servers, and what to try; a click on an example is `example(its place)`."""
    phases = [server.phase for server in session.servers.values()]
    connecting = phases.count(ServerPhase.CONNECTING)
    failed = phases.count(ServerPhase.FAILED)
    problems = _problems(session)
    if not phases and refusal(session.problems):
        # A server that nobody may see is not started, so there is none to wait for.
        return Content("\n").join(problems[1:])
    if not phases or connecting == len(phases):
        servers = count(len(phases), "server") if phases else "the servers"
        return Content("\n").join([Content.styled(f"Connecting to {servers} …", MUTED), *problems])
    lines = [
        Content.assemble(
            (f"{count(session.ready_servers, 'server')} ready", "bold $text-success"),
            f", {count(len(session.tools), 'tool')}"
            + (f", {connecting} still connecting" if connecting else "")
            + (f", {failed} failed (see Tools)" if failed else ""),
        ),
        *problems,
        Content(_SEARCHES if session.has_search else _BOUND) if session.tools else Content(""),
        Content(""),
    ]
    if examples:
        lines.append(Content.styled("Type a request. ↑ recalls an example, or click one:", MUTED))
        lines += [
            Content.assemble(("  › ", "bold $accent"), link(text, f"screen.example({place})"))
            for place, text in enumerate(examples)
        ]
    return Content("\n").join(lines)


def _problems(session: SessionState) -> list[Content]:
    """Return what is wrong with the settings, set apart from the rest."""
    if not session.problems:
        return []
    says = refusal(session.problems)
    what = "Messages get no answer until the settings are fixed" if says else "Setting problems"
    lead = Content.assemble((f"{what} (ctrl+o):", "bold" if says else ""))
    return [Content(""), lead, *problem_lines(session.problems, _PROBLEMS), Content("")]


_KEY = "$text-accent"


def hint(session: SessionState) -> Content:
    """Return the keys that go on from a finished turn; empty while there is none."""
    if session.busy or not any(item.kind is ItemKind.USER for item in session.conversation.items):
        return Content()
    offers = [("w", "why a tool was not found", "why")] if session.conversation.last_search else []
    shown = (
        Content.assemble((key, _KEY), f": {text}").stylize(Style.from_meta({"@click": f"screen.{action}"}))
        for key, text, action in (*offers, ("r", "race", "race"))
    )
    return Content.assemble("esc, then ", Content("   ").join(shown))


class _Turn(Struct, frozen=True):
    """A message that was sent, and the work on it."""

    text: str
    worker: Worker[TurnEnded]


class SessionScreen(ToolKeys):
    """The home page. Narrow terminals show one part at a time, wide ones all of them."""

    page = "session"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#prompt"
    help_lines: ClassVar[tuple[str, ...]] = (
        "Type a request and press enter: the model searches for tools, loads them and calls them.",
        "enter opens a block of the conversation in full; on a search it opens the scores.",
        "enter on a tool opens its description, schema and a form to call it.",
        "⌂ pinned  ● loaded  ○ deferred  ✕ evicted.  tab goes to the next part.",
        "esc stops the model. Messages sent while it works are queued; esc returns them to the prompt.",
        "esc leaves the prompt, i returns. Outside, r races the question, w tells why a tool was not found.",
        "ctrl+j starts a new line, up recalls earlier messages, pageup and pagedown scroll.",
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: esc stops the model before it leaves the prompt.
        Binding("escape", "stop", "stop", priority=True, id="session.stop"),
        Binding("escape", "leave_input", "then r: race, 1-6: places", priority=True, id="session.leave"),
        Binding("r", "race", "race", id="session.race"),
        Binding("i", "write", "write", priority=True, id="session.write"),
        Binding("tab", "app.focus_next", "next part", show=False),
        Binding("pageup", "scroll_conversation('up')", "earlier", show=False),
        Binding("pagedown", "scroll_conversation('down')", "later", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._turns: list[_Turn] = []

    def body(self) -> ComposeResult:
        with Horizontal(id="session"):
            with Vertical(id="chat"):
                yield ConversationPanel(id="conversation")
                yield Prompt(placeholder="Type a request, enter sends", id="prompt")
            with Vertical(id="side"):
                yield BudgetPanel(id="budget")
                yield ToolsPanel(id="tools")
                feed = RecordList(COLUMNS, empty="No events yet.", follow=True, id="feed", classes="pane")
                feed.border_title = "Events"
                yield feed

    def show_view(self, view: View) -> None:
        session = view.state
        conversation = self.query_one(ConversationPanel)
        said = [item.text for item in session.conversation.items if item.kind is ItemKind.USER]
        # The key that brings back the newest message brings the first example.
        self.set_class(bool(said), "-talking")
        examples = () if said else self._examples
        conversation.empty = welcome(session, examples)
        conversation.conversation = session.conversation
        offered = hint(session)
        if bool(offered) != bool(conversation.hint):
            self.refresh_bindings()
        conversation.hint = offered
        self._show_progress()
        prompt = self.query_one(Prompt)
        prompt.sent = said or examples[::-1]
        prompt.border_subtitle = _stand_in(session.model)
        self.query_one(BudgetPanel).session = session
        tools = self.query_one(ToolsPanel)
        tools.ttl = self.session.settings.binding.ttl_seconds
        tools.session = session
        self.query_one("#feed", RecordList).records = feed_rows(view.feed)

    @on(Prompt.Submitted, "#prompt")
    def _send(self, event: Prompt.Submitted) -> None:
        text = event.value
        turn = self.run_command(lambda commands: commands.chat(text), group="chat")
        self._turns = [*self._unfinished, _Turn(text, turn)]
        self._show_progress()

    @property
    def tool_id(self) -> str:
        """The tool under the cursor of the focused list."""
        panes = (pane for pane in self.query_one(ToolsPanel).query(RecordList) if pane.has_focus_within)
        current = next((pane.current for pane in panes), None)
        return current.key if current is not None else ""

    @property
    def _unfinished(self) -> list["_Turn"]:
        """The turn of the model, and the messages that wait for its end."""
        return [turn for turn in self._turns if not turn.worker.is_finished]

    @on(Worker.StateChanged)
    def _show_progress(self) -> None:
        """Tell that the model works, and how many messages wait for it."""
        waiting = len(self._unfinished) - 1
        waits = f"{count(waiting, 'message')} {plural(waiting, 'waits', 'wait')}   " if waiting > 0 else ""
        is_busy = self.view.state.busy
        self.query_one(ConversationPanel).border_subtitle = f"{waits}working … esc stops" if is_busy else ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to stop what runs; else esc leaves the prompt, and then nothing has to be left."""
        if action == "stop":
            return bool(self._unfinished)
        if action in ("leave_input", "write"):
            is_writing = self.is_mounted and isinstance(self.focused, Prompt)
            return not self._unfinished and is_writing == (action != "write")
        return super().check_action(action, parameters)

    def why_not(self, action: str) -> str:
        """Only what was answered can be raced."""
        if action == "race" and not hint(self.view.state):
            return "There is no answered request to race yet."
        return super().why_not(action)

    def action_race(self) -> None:
        """Race the last question: with everything bound, and with discovery."""
        self.open(RacePage())

    def action_why(self) -> None:
        """Explain the tool under the cursor; elsewhere, ask for one that the last search did not find."""
        request = self.view.state.conversation.last_search
        if self.tool_id or request is None:
            super().action_why()
            return

        def explain(tool_id: str | None) -> None:
            if tool_id:
                self.open(WhyNotPage(tool_id, request))

        self.app.push_screen(ToolPicker(self.session, "Why was this tool not found?"), explain)

    def leave_input(self) -> None:
        """Put the cursor on the newest block of the conversation, or nowhere."""
        conversation = self.query_one(ConversationPanel)
        conversation.cursor = None
        self.set_focus(conversation if conversation.focusable else None)

    def action_write(self) -> None:
        """Go back to the prompt."""
        self.set_focus(self.query_one("#prompt", Prompt))

    def action_stop(self) -> None:
        """Stop the model, if it is working; messages that waited come back to the prompt."""
        unfinished = self._unfinished
        for turn in reversed(unfinished):
            turn.worker.cancel()
        prompt = self.query_one("#prompt", Prompt)
        taken_back = [*(turn.text for turn in unfinished[1:]), prompt.value]
        if len(unfinished) > 1:
            prompt.value = "\n".join(filter(None, taken_back))

    def action_scroll_conversation(self, way: str) -> None:
        """Scroll the conversation by a page, also from the prompt."""
        panel = self.query_one(ConversationPanel)
        (panel.scroll_page_up if way == "up" else panel.scroll_page_down)()

    def action_example(self, index: int) -> None:
        """Fill an example into the prompt."""
        prompt = self.query_one("#prompt", Prompt)
        prompt.value = self._examples[index]
        prompt.focus()

    @property
    def _examples(self) -> tuple[str, ...]:
        """Requests to try first: the configuration's own, or made of the tools."""
        return self.session.setup.settings.chat.examples or example_requests(self.session.catalog.tools)

    @on(Blocks.Opened)
    def _open_item(self, event: Blocks.Opened) -> None:
        item = self.query_one(ConversationPanel).blocks[event.index]
        if item.kind is ItemKind.SEARCH and item.report is not None:
            # With the parts of its scores, as it was recorded.
            found = (record.event for record in self.session.between(item.seq - 1, item.seq))
            whole = (event.report for event in found if isinstance(event, SearchPerformed))
            self.open(SearchPage(item.report.request, next(whole, item.report)))
        else:
            text = item.text or item.title
            if item.kind is ItemKind.ERROR:
                text = "\n\n".join(filter(None, (item.title, item.text, item.raw)))
            self.app.push_screen(DetailScreen(detail_title(item), text, item.arguments))

    @on(RecordList.Selected, "ToolsPanel RecordList")
    def _open_tool(self, event: RecordList.Selected) -> None:
        self.open_tool(event.key)

    @on(RecordList.Selected, "#feed")
    def _open_events(self) -> None:
        self.open(Page("events"))


def _stand_in(model: str) -> str:
    """What is to be said of a model that only stands in for one."""
    if not model.startswith("demo/"):
        return ""
    how = "a script" if model.startswith("demo/script") else "rules"
    return f"answered by {how}, no LLM; ctrl+o picks a model"
