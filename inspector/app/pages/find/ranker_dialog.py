"""The dialog to choose the session's ranker."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import Context
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.search.rankers.ranker_list import INFO, RANKERS
from widgets import Record, RecordList


class RankerDialog(ChoiceDialog):
    """Every ranker by what it stands for; closes once the session uses the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f", "formula", "formula", id="ranker.formula")]

    def __init__(self, context: Context, at: str = "") -> None:
        """The cursor is on the ranker `at`, or else on the one in use."""
        current = context.session.retrieval.ranker_name
        rows = tuple(
            Record(
                name, ("✓" if name == current else " ", INFO[name].stands_for, ""), detail=INFO[name].about
            )
            for name in RANKERS
        )
        super().__init__(
            "Ranker for this session, including the model's searches",
            rows,
            lambda name: context.commands.change_setting("discovery.ranker", name),
            at or current,
        )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#choice").border_subtitle = "enter chooses, f shows the formula, esc closes"

    def action_formula(self) -> None:
        """Show how the ranker under the cursor computes a score."""
        current = self.query_one(RecordList).current
        if current is not None:
            info = INFO[current.key]
            told = Content.styled(f"{info.name}: {info.formula}", "$foreground")
            self.query_one("#choice-error", Static).update(told)
