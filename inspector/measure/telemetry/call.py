"""Tool calls and model calls: how many, how long they took, and which failed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from inspector.core.events import CallFinished, CallRejected, Failed, ModelResponded, Record, TurnEnded
from inspector.core.inertia import server_of
from inspector.measure.telemetry.cell import Cases, Sample

KINDS = tuple(each.kind for each in (CallFinished, CallRejected, ModelResponded, Failed, TurnEnded))
"""The kinds of events that are counted here."""
UNTOLD = "unknown"
"""The kind of a failure in a record that does not say it."""


@dataclass(slots=True)
class CallUse:
    """The calls of one tool or one server; `kinds` are those of its failures."""

    calls: Cases = field(default_factory=Cases)
    kinds: Counter[str] = field(default_factory=Counter)
    latency: Sample = field(default_factory=Sample)

    def add(self, session: str, event: CallFinished) -> None:
        """Count one call."""
        self.calls.add(session, not event.ok)
        if not event.ok:
            self.kinds[_kind(event)] += 1
        if event.milliseconds:
            self.latency.add(event.milliseconds)


class CallCount:
    """Counts calls by tool and by server, and what never reached one."""

    def __init__(self) -> None:
        self.all = CallUse()
        self.tools: dict[str, CallUse] = {}
        self.servers: dict[str, CallUse] = {}
        self.rejected: Counter[str] = Counter()
        self.model = Sample()
        self.model_calls = self.errors = 0
        self.outcomes: Counter[str] = Counter()

    def after(self, record: Record) -> None:
        """Count one record."""
        match record.event:
            case CallFinished(tool=tool) as event:
                for known, name in ((self.tools, tool), (self.servers, server_of(tool))):
                    known.setdefault(name, CallUse()).add(record.session, event)
                self.all.add(record.session, event)
            case CallRejected(reason=reason):
                self.rejected[reason] += 1
            case ModelResponded(milliseconds=took):
                self.model_calls += 1
                if took:
                    self.model.add(took)
            case Failed():
                self.errors += 1
            case TurnEnded(outcome=outcome):
                self.outcomes[outcome] += 1

    @property
    def kinds(self) -> Mapping[str, int]:
        """The failures of all tools by their kind."""
        return self.all.kinds


def _kind(event: CallFinished) -> str:
    return event.failure or UNTOLD
