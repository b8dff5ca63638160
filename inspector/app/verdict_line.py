"""The line that says whether discovery pays for the connected servers: the same on every page."""

from textual.content import Content
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.core.server import ServerPhase
from inspector.session.verdict import Answer, Verdict

_ANSWERS = {
    Answer.PAYS: ("✓", "$text-success"),
    Answer.DEPENDS: ("◐", "$text-warning"),
    Answer.COSTS: ("✕", "$text-warning"),
}


def verdict_text(answer: Answer, text: str) -> Content:
    """Return whether discovery pays, with a sign and a color for the answer."""
    sign, color = _ANSWERS[answer]
    return Content.assemble((f"{sign} ", color), (text, "bold"))


class VerdictLine(InContext, Static):
    """Judges in the background when what decides has changed; empty until that is done."""

    DEFAULT_CSS = "VerdictLine { height: auto; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__("", id=id)
        self._judged: tuple[object, ...] = ()

    def look(self) -> None:
        """Judge again if something changed; while servers connect, every answer would be too early."""
        state = self.session.state
        if any(server.phase is ServerPhase.CONNECTING for server in state.servers.values()):
            return
        session = self.session
        key = (session.setup, session.accounting.meter, state.model)
        if key != self._judged:
            self._judged = key
            self.run_job("verdict", lambda job: self.context.verdicts.of(session, job.stopped), self._show)

    def _show(self, found: Verdict | None) -> None:
        self.update("" if found is None else verdict_text(found.answer, found.short))
