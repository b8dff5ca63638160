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
            command="sessions show SESSION",
        ),
        PageInfo(
            "events",
            "events",
            "Every event of the session.",
            "trace",
            at="events_page:EventsScreen",
            command="sessions show SESSION --as events",
        ),
        PageInfo(
            "sessions",
            "sessions",
            "Every session; import sessions of real agents.",
            "trace",
            at="sessions_page:SessionsScreen",
            command="sessions",
        ),
        PageInfo(
            "telemetry",
            "metrics",
            "Searches, calls, latency, failures; unmet requests.",
            "trace",
            at="metrics.page:TelemetryScreen",
            command="sessions metrics SESSION",
        ),
    ),
    commands=(
        CommandInfo("export", "export_command:export", "Talk"),
        CommandInfo("sessions", "command:sessions", "Talk"),
        CommandInfo("sessions show", "command:show_session"),
        CommandInfo("sessions metrics", "command:metrics"),
        CommandInfo("sessions next", "command:next_tools"),
    ),
)
