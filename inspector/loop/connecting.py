"""What the loop needs of a session's servers."""

from typing import Protocol


class Connecting(Protocol):
    """The servers of a session, of which some may be connecting."""

    @property
    def connecting(self) -> tuple[str, ...]: ...

    async def settled(self) -> None:
        """Wait until none is connecting."""

    def catch_up(self) -> None:
        """Put what the servers have changed into the catalog."""
