"""What the list of sessions shows of each one's findings: misses and cost, read in the background."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from inspector.app.job import Job
from inspector.domain.number import money, tokens
from inspector.engine.agents.finding import Findings
from inspector.engine.store_ports import SessionSummary

# Sessions are read newest first; their rows are drawn once per batch.
_BATCH = 20


@dataclass(frozen=True, slots=True)
class Outline:
    """What a row shows of a session's findings, made when it had so many events."""

    events: int = 0
    missed: str = ""
    cost: str = ""


UNREAD = Outline()


def outline(events: int, found: Findings) -> Outline:
    """Return how many searches missed, and what the session cost: dollars if reported, else tokens sent."""
    reported = found.reported
    cost = money(reported.dollars) if reported.priced else f"{tokens(reported.input or found.sent)} tok"
    missed = f"{len(found.misses):,}" if found.searches else "–"
    return Outline(events, missed, cost if found.model_calls else "–")


def unread(found: Sequence[SessionSummary], known: Mapping[str, Outline]) -> list[SessionSummary]:
    """Return the sessions without an outline, or with more events than their outline knows."""
    return [one for one in found if known.get(one.id, UNREAD).events != one.events]


def outlines(
    sessions: Sequence[SessionSummary], findings: Callable[[str], Findings], job: Job
) -> Iterator[dict[str, Outline]]:
    """Read the sessions batch by batch, until the job is stopped."""
    for first in range(0, len(sessions), _BATCH):
        made: dict[str, Outline] = {}
        for one in sessions[first : first + _BATCH]:
            if job.is_stopped:
                return
            made[one.id] = outline(one.events, findings(one.id))
        yield made
