"""Choosing the ranker of the session."""

from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.pages.find.formula import formula
from inspector.engine.discovery.rankers.ranker_name import RANKERS
from inspector.engine.workbench import Workbench
from widgets import Record


class RankerDialog(ChoiceDialog):
    """Every ranker with its formula. It closes when the session ranks with the one that was chosen."""

    def __init__(self, bench: Workbench) -> None:
        current = bench.retrieval.ranker_name
        rows = tuple(
            Record(name, ("✓" if name == current else " ", name, ""), detail=formula(name))
            for name in RANKERS
        )
        super().__init__(
            "Ranker of this session: the model's searches use it too",
            rows,
            bench.retrieval.use_ranker,
            current,
        )
