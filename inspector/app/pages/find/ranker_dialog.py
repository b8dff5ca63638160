"""Choosing the ranker of the session."""

from inspector.app.context import Context
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.pages.find.formula import formula
from inspector.engine.discovery.rankers.ranker_name import RANKERS
from widgets import Record


class RankerDialog(ChoiceDialog):
    """Every ranker with its formula. It closes when the session ranks with the one that was chosen."""

    def __init__(self, context: Context) -> None:
        current = context.session.retrieval.ranker_name
        rows = tuple(
            Record(name, ("✓" if name == current else " ", name, ""), detail=formula(name))
            for name in RANKERS
        )
        super().__init__(
            "Ranker of this session: the model's searches use it too",
            rows,
            lambda name: context.commands.change_setting("discovery.ranker", name),
            current,
        )
