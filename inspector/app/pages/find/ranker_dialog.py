"""The dialog to choose the session's ranker."""

from inspector.app.context import Context
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.engine.discovery.rankers.ranker_list import INFO, RANKERS
from widgets import Record


class RankerDialog(ChoiceDialog):
    """Every ranker with its formula; closes once the session uses the chosen one."""

    def __init__(self, context: Context) -> None:
        current = context.session.retrieval.ranker_name
        rows = tuple(
            Record(name, ("✓" if name == current else " ", name, ""), detail=INFO[name].formula)
            for name in RANKERS
        )
        super().__init__(
            "Ranker of this session, for the model's searches too",
            rows,
            lambda name: context.commands.change_setting("discovery.ranker", name),
            current,
        )
