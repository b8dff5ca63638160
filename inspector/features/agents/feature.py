"""Sessions of real agents: their transcripts, and the tap on their servers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector.core.feature import CommandInfo, Feature, Part

if TYPE_CHECKING:
    from inspector.cli.options import Options
    from inspector.features.agents.library import AgentLibrary
    from inspector.session.workbench import Workbench


AGENTS: "Part[AgentLibrary]" = Part(beside_session=True)


def provide(options: "Options", _bench: "Workbench") -> Mapping[Part[Any], object]:
    """What imports transcripts."""
    from inspector.features.agents.agents_command import MachineLibrary

    return {AGENTS: MachineLibrary(options)}


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
    provide=provide,
)
