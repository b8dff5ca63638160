"""How well the next tool was predicted, beside simpler guesses, and what was bound ahead for it.

Only the first use of a tool in a session is scored: a tool that was called before is bound as a rule.
"""

from collections.abc import Iterator

from inspector.core.events import (
    CallFinished,
    CallStarted,
    NextPredicted,
    Record,
    ToolEvicted,
    ToolLoaded,
    ToolRefreshed,
    UserSaid,
)
from inspector.core.report import Table
from inspector.measure.telemetry.cell import Cases, Row, facts, number_row, share_row

_READ = (NextPredicted, UserSaid, CallStarted, CallFinished, ToolLoaded, ToolRefreshed, ToolEvicted)
KINDS = tuple(each.kind for each in _READ)
"""The kinds of events that are counted here."""
RULES = {
    "order_1": "what follows the last call",
    "most_used": "most used overall",
    "same_server": "most used on the same server",
}
_TOP = 3


class InertiaCount:
    """Counts predictions, which of them came true, and which tools that were bound ahead were called."""

    def __init__(self) -> None:
        self.predictions = 0
        self.first = {rule: Cases() for rule in RULES}
        self.three = {rule: Cases() for rule in RULES}
        self.ahead = Cases()
        self._called = ""
        self._said: NextPredicted | None = None
        self._used: set[str] = set()
        self._waiting: set[str] = set()

    def begin(self) -> None:
        """Another session begins."""
        self._called, self._said = "", None
        self._used, self._waiting = set(), set()

    def after(self, record: Record) -> None:
        """Count one record."""
        event = record.event
        match event:
            case UserSaid():
                # Another task, which begins with no call.
                self._called, self._said = "", None
            case CallStarted(tool=tool, by="model"):
                self._call(record.session, tool)
            case CallFinished(tool=tool):
                self._used.add(tool)
            case ToolLoaded(tool=tool, cause="inertia"):
                self.ahead.add(record.session, 0)
                self._waiting.add(tool)
            case ToolEvicted(tool=tool) | ToolRefreshed(tool=tool):
                # What is searched for after all was not of use for being ahead.
                self._waiting.discard(tool)
            case NextPredicted():
                self.predictions += 1
                self._said = event

    def _call(self, session: str, tool: str) -> None:
        said = self._said
        if said is not None and tool not in self._used and said.after == self._called:
            for rule in RULES:
                named = _named(said, rule)
                self.first[rule].add(session, tool in named[:1])
                self.three[rule].add(session, tool in named[:_TOP])
        if tool in self._waiting:
            self._waiting.discard(tool)
            self.ahead.add(session, 1, 0)
        self._called = tool


def _named(said: NextPredicted, rule: str) -> tuple[str, ...]:
    """The tools that a rule would have said, most likely first."""
    if rule == "order_1":
        return tuple(one.tool for one in said.predicted)
    return said.most_used if rule == "most_used" else said.same_server


def inertia_tables(found: InertiaCount) -> Iterator[Table]:
    """How often predictions were right, beside simpler guesses."""
    if not found.predictions and not found.ahead.count:
        return
    rows: list[Row] = [number_row("predictions", found.predictions)]
    for rule, name in RULES.items():
        rows.append(share_row(f"{name}: correct", found.first[rule], "first use"))
        rows.append(share_row("… in the top three", found.three[rule], "first use"))
    rows.append(share_row("bound ahead and then called", found.ahead, "tool"))
    yield facts(rows, notes=("Only a session's first call to each tool is scored.",))
