"""A configuration that was read, checked and expanded: the servers, the toolsets, the settings."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from inspector.domain.closest import closest
from inspector.domain.error import ConfigError
from inspector.domain.jsonvalue import canonical
from inspector.domain.server import ServerSpec
from inspector.domain.settings import Settings
from inspector.domain.toolset import Toolset


@dataclass(frozen=True, slots=True)
class Configuration:
    """`source` is the file it came from; `trusted` is true only for the demo that ships with Toolsight."""

    source: str
    servers: tuple[ServerSpec, ...]
    toolsets: Mapping[str, Toolset] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    trusted: bool = False

    def fingerprint(self) -> str:
        """What a consent is tied to: a change of any command, argument, folder or variable voids it."""
        parts = sorted((server.name, server.fingerprint()) for server in self.servers)
        return hashlib.sha256(canonical(parts).encode()).hexdigest()

    def toolset(self, name: str) -> Toolset | None:
        """The toolset of that name; None for "", which permits everything. Raises ConfigError."""
        if name and name not in self.toolsets:
            near = (
                ", ".join(closest(name, list(self.toolsets)) or tuple(self.toolsets)) or "none is configured"
            )
            raise ConfigError(f"there is no toolset '{name}'", hint=f"Toolsets: {near}.")
        return self.toolsets.get(name)

    def is_deferred(self, server: str) -> bool:
        """Whether a server's tools wait for a search; `defer_all` overrides the per-server switch."""
        discovery = self.settings.discovery
        if not discovery.enabled:
            return False
        return discovery.defer_all or any(s.defer_loading for s in self.servers if s.name == server)
