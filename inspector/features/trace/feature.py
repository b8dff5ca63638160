"""What was recorded: model calls, events, sessions, and statistics over them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part

if TYPE_CHECKING:
    from inspector.cli.options import Options
    from inspector.loop.flow import FlowLibrary
    from inspector.session.workbench import Workbench


FLOWS: "Part[FlowLibrary]" = Part(beside_session=True)


def provide(options: "Options", _bench: "Workbench") -> Mapping[Part[Any], object]:
    """What knows which tools other sessions called one after another."""
    from inspector.features.trace.command import RecordedFlows

    return {FLOWS: RecordedFlows(options)}


FEATURE = Feature(
    "trace",
    pages=(
        PageInfo(
            "timeline",
            "timeline",
            "Every model call; replay any moment.",
            "trace",
            at="timeline_page:TimelineScreen",
        ),
        PageInfo("events", "events", "Every event of the session.", "trace", at="events_page:EventsScreen"),
        PageInfo(
            "sessions",
            "sessions",
            "Every session; import sessions of real agents.",
            "trace",
            at="sessions_page:SessionsScreen",
        ),
        PageInfo(
            "telemetry",
            "metrics",
            "Searches, calls, latency, failures; unmet requests.",
            "trace",
            at="metrics.page:TelemetryScreen",
        ),
    ),
    commands=(
        CommandInfo("sessions", "command:sessions", "Talk"),
        CommandInfo("sessions show", "command:show_session"),
        CommandInfo("sessions metrics", "metrics.command:metrics"),
        CommandInfo("sessions next", "command:next_tools"),
    ),
    provide=provide,
)
