"""One step of a run in four sections: guard windows, events, what the model read, what is bound."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.pages.lab.scenario import step
from inspector.app.pages.lab.scenario.counter import windows
from inspector.app.pages.lab.scenario.walkthrough import Walkthrough

_LEAST = 20


class StepDetail(VerticalScroll):
    """Shows a step of a walkthrough or, without a walkthrough, what the scenario is about."""

    DEFAULT_CSS = """
    StepDetail { scrollbar-size-vertical: 1; }
    StepDetail #about { height: auto; padding: 0 1; }
    StepDetail .section { height: auto; padding: 0 1; border-top: solid $border; border-title-color: $text-muted; }
    StepDetail:focus .section { border-top: solid $primary; }
    """  # noqa: E501

    def compose(self) -> ComposeResult:
        yield Static(id="about")
        for name in ("guard", "happened", "read", "bound"):
            yield Static(id=name, classes="section")

    def show_about(self, text: Content) -> None:
        """Show what a scenario is about."""
        self._show_sections(shown=False)
        self.query_one("#about", Static).update(text)

    def show_step(self, walkthrough: Walkthrough, number: int) -> None:
        """Show the step of this number."""
        self._show_sections(shown=True)
        frame = walkthrough.frames[number]
        width = max(self.scrollable_content_region.width - 2, _LEAST)
        title, read = step.read(frame)
        self._show("guard", step.guard_title(frame), windows(frame, width))
        self._show("happened", step.step_title(frame), step.happened(frame, width))
        self._show("read", title, read)
        self._show("bound", "Bound after this step", step.bound(walkthrough, number, width))

    def _show_sections(self, *, shown: bool) -> None:
        self.query_one("#about").display = not shown
        for section in self.query(".section"):
            section.display = shown

    def _show(self, name: str, title: str, text: Content) -> None:
        section = self.query_one(f"#{name}", Static)
        section.border_title = title
        section.update(text)
