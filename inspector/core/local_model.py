"""Models that servers on this machine offer, and that need no key."""

from dataclasses import dataclass

from inspector.core.number import byte_size, count


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model of a local server: litellm's name for it, and the server's address.

    `size` is in bytes and `window` in tokens; both are None, and `parameters` is "", if the server does not
    report them.
    """

    name: str
    api_base: str
    server: str
    size: int | None = None
    parameters: str = ""
    window: int | None = None

    @property
    def about(self) -> str:
        """Its server and what that reports of it."""
        reported = (
            self.parameters and f"{self.parameters} parameters",
            f"window {count(self.window, 'token')}" if self.window else "",
        )
        return ", ".join(filter(None, (self.server, *reported)))

    @property
    def size_text(self) -> str:
        return byte_size(self.size) if self.size else ""
