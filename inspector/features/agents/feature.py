"""Sessions of real agents: their transcripts, and the tap on their servers."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, Part

if TYPE_CHECKING:
    from inspector.features.agents.importing import AgentLibrary


AGENTS: "Part[AgentLibrary]" = Part(beside_session=True)


FEATURE = Feature(
    "agents",
    commands=(
        CommandInfo("sessions import", "command:import_sessions"),
        CommandInfo("sessions forget", "command:forget"),
        CommandInfo("sessions agents", "command:agents"),
        CommandInfo("sessions unused", "unused_command:unused_tools"),
        CommandInfo("tap", "tap.command:tap", "Talk"),
        CommandInfo("tap add", "tap.command:add"),
        CommandInfo("tap remove", "tap.command:remove"),
    ),
    provide="command:provide",
)
