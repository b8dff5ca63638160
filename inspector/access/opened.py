"""A configuration as a command gets it: with what is left of it for the person who runs the command."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from inspector.access.control import AccessControl
from inspector.access.restriction import restricted_configuration
from inspector.core.access import EVERYTHING, AccessPolicy, Sight
from inspector.core.configuration import Configuration
from inspector.core.settings import AccessSettings, Settings


@dataclass(frozen=True, slots=True)
class OpenedConfiguration:
    """`seen` is what may be looked up, printed and named in an error.

    `unrestricted` is what a person consents to and what a session is made of, which restricts it for itself:
    nothing else reads it. With `is_part` it is not all that the file has, so that a pattern without a match
    may be about the rest.
    """

    unrestricted: Configuration
    sight: Sight = EVERYTHING
    is_part: bool = False

    @classmethod
    def under(
        cls,
        chosen: AccessSettings,
        whole: Configuration,
        read: Callable[[str], AccessPolicy],
        servers_for: Callable[[Sight], frozenset[str] | None],
    ) -> Self:
        """The configuration as the settings say who sees it. Raises ConfigError, see `AccessControl`."""
        return cls(whole, AccessControl(chosen, read, servers_for).sight)

    @property
    def seen(self) -> Configuration:
        return restricted_configuration(self.unrestricted, self.sight)

    def only(self, server: str) -> Self:
        """With one server that is seen, and without toolsets: no other has to start."""
        servers = tuple(spec for spec in self.seen.servers if spec.name == server)
        return replace(
            self, unrestricted=replace(self.unrestricted, servers=servers, toolsets={}), is_part=True
        )

    def using(self, settings: Settings) -> Self:
        """With other settings."""
        return replace(self, unrestricted=replace(self.unrestricted, settings=settings))
