"""Where an imported session comes from: the transcript of a real agent."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """The agent whose transcript a session was imported from.

    `session` is the agent's own name of it, `parent` that of the session that started it as a sub-agent.
    `file` is the transcript's name without its folder. `reading` is the version of the rules by which entries
    became events: what was imported by other rules is imported anew.
    """

    agent: str
    version: str = ""
    session: str = ""
    parent: str = ""
    file: str = ""
    reading: int = 0

    @property
    def label(self) -> str:
        """The agent and its version."""
        return f"{self.agent} {self.version}".strip()
