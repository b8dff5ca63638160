"""What was recorded: model calls, events, sessions, and statistics over them."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

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
        CommandInfo("export", "export_command:export", "Talk"),
        CommandInfo("sessions", "command:sessions", "Talk", shows=("sessions",)),
        CommandInfo("sessions show", "command:show_session", shows=("timeline", "events", "session")),
        CommandInfo("sessions metrics", "command:metrics", shows=("telemetry",)),
        CommandInfo("sessions next", "command:next_tools"),
    ),
)
