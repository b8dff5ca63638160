"""Sessions of real agents: their transcripts, and the tap on their servers."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, Part

if TYPE_CHECKING:
    from inspector.features.agents.library import AgentLibrary


AGENTS: "Part[AgentLibrary]" = Part(beside_session=True)


FEATURE = Feature(
    "agents",
    commands=(
        CommandInfo("sessions import", "import_command:import_sessions"),
        CommandInfo("sessions forget", "import_command:forget"),
        CommandInfo("sessions agents", "agents_command:agents"),
        CommandInfo("tap", "tap.command:tap", "Talk"),
        CommandInfo("tap add", "tap.command:add"),
        CommandInfo("tap remove", "tap.command:remove"),
    ),
    provide="agents_command:provide",
)
