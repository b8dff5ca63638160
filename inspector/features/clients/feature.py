"""What real clients make of the tools."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "clients",
    pages=(
        PageInfo(
            "clients",
            "clients",
            "What Claude Code, Codex, VS Code and others do with the tools.",
            "tools",
            at="page:ClientsScreen",
        ),
        PageInfo(
            "manifest",
            "request",
            "The next request, as the model gets it.",
            "tools",
            at="request_page:ManifestScreen",
            view_of="clients",
        ),
    ),
    commands=(
        CommandInfo("clients", "command:clients", "See", shows=("clients",)),
        CommandInfo("clients measure", "measure_command:measure"),
    ),
    lends={"client race": "race:race_client"},
)
