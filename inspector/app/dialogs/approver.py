"""Questions on top of a page: how one is drawn; approvals, consent, what earlier runs left running."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.screen import Screen

from inspector.app.draw.line import MUTED, diff_lines
from inspector.core.ports import ApprovalRequest, Decision
from inspector.core.report import Address, Diff, Fact, Facts, Question
from inspector.mcp.question import approval_question
from widgets import Choice, GuardedConfirm, Hanging, plain

if TYPE_CHECKING:
    from textual.app import App

_WARNING = "$text-warning"
# Nobody is asked about what is not shown whole, as far as that can be read at all.
_LONGEST = 200_000


def question_body(question: Question) -> Hanging:
    """Return what to know before an answer; what to look at is marked with `!`."""
    lines: list[tuple[Content, int]] = []
    for block in question.blocks:
        lines += [(Content(""), 0)] if lines else []
        lines += _lines(question, block)
    return Hanging(Content("\n").join(line for line, _ in lines), [indent for _, indent in lines])


def _lines(question: Question, block: str | Facts | Diff) -> Iterator[tuple[Content, int]]:
    """The lines of a block, and where each goes on if it is wrapped."""
    if isinstance(block, str):
        yield plain(block, newlines=False), 0
    elif isinstance(block, Diff):
        yield from ((line, 2) for line in diff_lines(block))
    else:
        if block.title:
            title = plain(block.title, newlines=False, exact=question.is_exact)
            yield title.stylize("bold $accent"), 0
        for fact in block.facts:
            yield from _fact_lines(question, fact)


def _fact_lines(question: Question, fact: Fact) -> Iterator[tuple[Content, int]]:
    """A fact behind its label, or alone; further lines of it stand below its first, so that none is faked."""
    if isinstance(fact, Address):
        yield _marked(fact, is_exact=question.is_exact), 0
        return
    text = plain(fact.text.expandtabs(4), limit=_LONGEST, exact=question.is_exact)
    label = plain(fact.label, newlines=False, exact=question.is_exact).plain
    head = f"{'!' if fact.warns else ' '} {label:<{question.label_width}} "
    if not label:
        head = "! " * fact.warns
    style, color = ("bold" if label else _WARNING, _WARNING) if fact.warns else ("", MUTED)
    for line in text.split("\n", allow_blank=True):
        yield Content.assemble((head, color), line.stylize(style)), len(head)
        head = " " * len(head)


def _marked(address: Address, *, is_exact: bool) -> Content:
    """An address with its host marked."""
    text, start, end = address.text, address.start, address.end
    parts = (text[:start], MUTED), (text[start:end], "bold reverse"), (text[end:], MUTED)
    shown = (plain(part, newlines=False, exact=is_exact).stylize(style) for part, style in parts)
    return Content.assemble(*shown)


class Withdrawable(Screen[Any]):
    """A question that whoever asked it can take back.

    It closes itself without an answer when it is taken back, at the latest when it is on top again.
    """

    _is_withdrawn = False

    def withdraw(self) -> None:
        """Take the question back."""
        self._is_withdrawn = True
        self._close_if_withdrawn()

    def on_screen_resume(self) -> None:
        self._close_if_withdrawn()

    def _close_if_withdrawn(self) -> None:
        if self._is_withdrawn and self.is_current:
            self.dismiss(None)


class QuestionDialog(GuardedConfirm, Withdrawable):
    """Returns the value of the answer. The focus is on the refusal, which esc gives."""

    DEFAULT_CSS = "QuestionDialog > Vertical { width: 100; }"

    def __init__(self, question: Question) -> None:
        self.question = question
        choices = [Choice(one.key, one.label, one.value) for one in question.options]
        super().__init__(question.title, question_body(question), choices)


async def agrees(app: "App[Any]", question: Question) -> bool:
    """Ask a question that has one yes; whether the answer is that."""
    return await app.push_screen_wait(QuestionDialog(question)) not in (None, question.refusal)


class ModalApprover:
    """An `Approver` that asks on screen. It is created before the app and attached to it later."""

    def __init__(self, *, yes: bool = False) -> None:
        """With `yes`, every call is approved without asking."""
        self._yes = yes
        self._app: App[None] | None = None

    def attach(self, app: "App[None]") -> None:
        self._app = app

    async def ask(self, request: ApprovalRequest) -> Decision:
        if self._yes:
            return Decision.SESSION
        if self._app is None:
            return Decision.NO
        # A future instead of push_screen_wait, because any task may ask, not only a worker.
        answer = self._app.push_screen(QuestionDialog(approval_question(request)), wait_for_dismiss=True)
        return Decision(await answer or Decision.NO)
