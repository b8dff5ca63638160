"""One search for a whole request beside one search per step: ranks, and what only one side finds."""

from collections.abc import Iterator

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.line import MUTED, failure_line
from inspector.app.pages.find.pane import NO_QUERY, Pane, Topic, stands_for
from inspector.core.ranking import Answer
from inspector.search.answer_text import confidence_beside
from inspector.search.standing import Steps, StepSearch, by_step
from widgets import Column, Record, RecordList, middle, plain

_TEXT = 40


def columns(steps: int) -> tuple[Column, ...]:
    return (
        Column("tool", "tool", shorten="name", min_width=14, weight=9),
        Column("whole", "whole", align="right", width=5, weight=8),
        *(Column(f"step{n}", f"step {n}", align="right", width=6, weight=7) for n in range(1, steps + 1)),
        Column("found", "found by", min_width=8, weight=1),
    )


def rows(found: Steps) -> tuple[Record, ...]:
    """Return the tools that the whole request finds, by rank, then those that only the steps find."""

    def row(tool_id: str, by: str, style: str) -> Record:
        ranks = (_rank(search, tool_id) for search in (found.whole, *found.steps))
        return Record(tool_id, (tool_id, *ranks, Content.styled(by, style)), copy=tool_id)

    by = dict.fromkeys(found.only_whole, ("▼ whole", "$text-warning"))
    whole = (row(tool_id, *by.get(tool_id, ("both", MUTED))) for tool_id in found.whole.tool_ids)
    return (*whole, *(row(tool_id, "▲ steps", "$text-success") for tool_id in found.only_steps))


def _rank(search: StepSearch, tool_id: str) -> Content:
    if tool_id not in search.tool_ids:
        return Content.styled("–", MUTED)
    rank = search.tool_ids.index(tool_id) + 1
    return Content.styled(str(rank), "bold" if rank == 1 else "")


def waiting(text: str) -> Content:
    """Return the text shown until the answer arrives."""
    return Content.assemble(plain(f"“{middle(text, _TEXT)}”"), "\n", ("searching …", "$text-warning"))


def searches(found: Steps, ranker: str, limit: int, threshold: float) -> Content:
    """Return the searches with their texts, and what splitting into steps changes."""
    steps = ((f"step {n}", step) for n, step in enumerate(found.steps, start=1))
    lines = [
        Content.assemble((f"{name:<7}", "bold"), plain(middle(one.text, _TEXT)), *_fate(one, threshold))
        for name, one in (("whole", found.whole), *steps)
    ]
    facts = (f"   {stands_for(ranker)}, limit {limit}", MUTED)
    return Content("\n").join([*lines, Content.assemble(_summary(found), facts)])


def _fate(search: StepSearch, threshold: float) -> Iterator[Content]:
    if search.probability is None:
        return
    said = f"{search.answer}   {confidence_beside(search.probability, threshold)}"
    if search.answer is Answer.FOUND:
        yield Content.styled(f"   {said}", MUTED)
    else:
        yield Content.styled(f"   ⚠ {said}", "$text-warning")


def _summary(found: Steps) -> Content:
    if len(found.steps) < 2:
        return Content.styled("Only one step, so nothing to split.", MUTED)
    gained, lost = len(found.only_steps), len(found.only_whole)
    return Content.assemble(
        (f"▲ {gained} found only by steps", "$text-success" if gained else MUTED),
        "   ",
        (f"▼ {lost} found only by the whole query", "$text-warning" if lost else MUTED),
    )


class StepsPane(Pane):
    """The results of the whole request and of its steps, as columns."""

    first = ("#step-results RecordRows",)

    def __init__(self) -> None:
        super().__init__(id="steps")
        self._shown: object = None

    def compose(self) -> ComposeResult:
        yield Static(id="searches")
        yield RecordList(columns(1), header=True, empty=NO_QUERY, id="step-results")

    @property
    def tool_id(self) -> str:
        current = self.query_one("#step-results", RecordList).current
        return current.key if current is not None else ""

    def show(self, topic: Topic) -> None:
        retrieval, query = self.retrieval, topic.request.query
        rankers, ranker, rules = retrieval.rankers, retrieval.ranker_name, retrieval.rules
        asked = (query, retrieval.settings, rankers.index)
        if asked == self._shown:
            return
        self._shown = asked
        results = self.query_one("#step-results", RecordList)
        facts = self.query_one("#searches", Static)
        results.records, results.empty = (), "searching …" if query.strip() else NO_QUERY
        facts.update(waiting(query) if query.strip() else "")
        if not query.strip():
            self.drop_job("steps")
            return

        def tell(found: Steps) -> None:
            facts.update(searches(found, ranker, rules.limit, rules.threshold))
            results.empty = "No search returned a tool. Press i to rephrase the query."
            results.columns = columns(len(found.steps))
            results.records = rows(found)

        self.run_job(
            "steps",
            lambda _: by_step(rankers, ranker, query, rules),
            tell,
            failed=lambda error: facts.update(failure_line(error)),
        )

    @on(RecordList.Selected, "#step-results")
    def _open(self, event: RecordList.Selected) -> None:
        self.open_tool(event.key)
