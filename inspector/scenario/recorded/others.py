"""What the other recorded runs say about one: never what another attempt at its task did."""

from collections.abc import Iterator, Sequence

from inspector.core.inertia import OWN_PERSONA, TaskCalls
from inspector.core.past_call import PastCall, Viewer
from inspector.mcp.recorded_run import RecordedCall, RecordedRun

_PREFIX = "recorded-"


def session_of(run: RecordedRun) -> str:
    """The id of the session in which a run is played."""
    return f"{_PREFIX}{run.id}"


class OtherRuns:
    """A CallHistory of recorded runs, whose tools have their servers; requests are not included."""

    def __init__(self, runs: Sequence[RecordedRun]) -> None:
        self._runs = runs

    def successful_calls(self, *, but: str = "", viewer: Viewer | None = None) -> Iterator[PastCall]:
        """The calls that succeeded, each without its request; a run has no viewer."""
        for run in self._others(but) if viewer is None else ():
            for call in run.calls:
                if not call.failed:
                    yield PastCall(_id(call), "", 0.0)

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """The calls of every run but those of the task of the one played in that session."""
        for run in self._others(but):
            for message in run.messages:
                calls = [_id(call) for step in message.steps for call in step.calls]
                if calls:
                    yield TaskCalls(OWN_PERSONA, tuple((tool, 0.0) for tool in calls))

    def _others(self, but: str) -> Iterator[RecordedRun]:
        left_out = {run.task for run in self._runs if session_of(run) == but}
        return (run for run in self._runs if run.task not in left_out)


def _id(call: RecordedCall) -> str:
    return f"{call.server}:{call.tool}"
