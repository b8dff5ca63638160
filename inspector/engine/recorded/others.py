"""What the other recorded runs say about one: never what another attempt at its task did."""

from collections.abc import Iterator, Sequence

from inspector.domain.inertia import OWN_PERSONA, TaskCalls
from inspector.domain.past_call import PastCall
from inspector.domain.recorded_run import RecordedRun

_PREFIX = "recorded-"


def session_of(run: RecordedRun) -> str:
    """The id of the session in which a run is played."""
    return f"{_PREFIX}{run.id}"


class OtherRuns:
    """A CallHistory of recorded runs, whose tools have their servers; what was asked is not told."""

    def __init__(self, runs: Sequence[RecordedRun]) -> None:
        self._runs = runs

    def successful_calls(self, *, but: str = "") -> Iterator[PastCall]:  # noqa: ARG002
        """None: played runs search as if nothing had been learned."""
        return iter(())

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """The calls of every run but those of the task of the one played in that session."""
        left_out = {run.task for run in self._runs if session_of(run) == but}
        for run in self._runs:
            if run.task in left_out:
                continue
            for message in run.messages:
                calls = [f"{call.server}:{call.tool}" for step in message.steps for call in step.calls]
                if calls:
                    yield TaskCalls(OWN_PERSONA, tuple((tool, 0.0) for tool in calls))
