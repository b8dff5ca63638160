"""A configuration after reading, checking and expansion: servers, toolsets and settings."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.domain.client_capabilities import declared
from inspector.domain.closest import closest
from inspector.domain.error import ConfigError
from inspector.domain.jsonvalue import canonical
from inspector.domain.profile import DEFAULT_PROFILE
from inspector.domain.server import ServerSpec
from inspector.domain.settings import ClientCapabilities, DiscoverySettings, Settings
from inspector.domain.toolset import Toolset


@dataclass(frozen=True, slots=True)
class Configuration:
    """`source` is the file it came from; `trusted` is true only for the bundled demo.

    `settings` holds the defaults and the file's `tool_discovery`, the base below the profile's values;
    `values` holds the file's `settings` by path, which override the profile. `predicates` is the absolute
    path of a Python file that would be executed, `predicates_digest` the SHA-256 of its content when it was
    read. `disabled` names the servers that the file has, but turns off. `client` is what is declared to every
    server whose entry says nothing else, and `folders` the absolute paths that those may learn to which roots
    are declared.
    """

    source: str
    servers: tuple[ServerSpec, ...]
    toolsets: Mapping[str, Toolset] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    trusted: bool = False
    profile: str = DEFAULT_PROFILE
    values: Mapping[str, Any] = field(default_factory=dict)
    predicates: str = ""
    predicates_digest: str = ""
    disabled: tuple[str, ...] = ()
    client: ClientCapabilities = ClientCapabilities()
    folders: tuple[str, ...] = ()

    def fingerprint(self) -> str:
        """The hash a consent is tied to: changing any command, argument, folder or variable voids it.

        So does another file found for a command, another variable of the person's own that is handed over,
        one changed byte of the predicates file, which is executed too, and trusting another server: that lets
        its tools be called without asking; and letting another server learn the folder.
        """
        servers = sorted((server.name, server.consent_fingerprint()) for server in self.servers)
        own = [self.predicates, self.predicates_digest]
        trusted = sorted(server.name for server in self.servers if server.trust_annotations)
        more = {"predicates": own if any(own) else (), "trusted": trusted, "roots": self._told}
        given = {name: value for name, value in more.items() if value}
        parts = {"servers": servers, **given} if given else servers
        return hashlib.sha256(canonical(parts).encode()).hexdigest()

    @property
    def _told(self) -> list[str]:
        """The servers that may learn the folders."""
        return sorted(spec.name for spec in self.servers if self.folders_for(spec))

    def folders_for(self, spec: ServerSpec) -> tuple[str, ...]:
        """The folders that a server may learn: what the person agreed to, whatever is declared later."""
        is_asked = not spec.listing and declared(self.client, spec).roots
        return self.folders if is_asked else ()

    def toolset(self, name: str) -> Toolset | None:
        """The toolset of that name, or None for "", which permits everything. Raises ConfigError."""
        if name and name not in self.toolsets:
            near = (
                ", ".join(closest(name, list(self.toolsets)) or tuple(self.toolsets)) or "none is configured"
            )
            raise ConfigError(f"there is no toolset '{name}'", hint=f"Toolsets: {near}.")
        return self.toolsets.get(name)

    def deferred_servers(self, discovery: DiscoverySettings) -> frozenset[str]:
        """The servers whose tools are deferred; `defer_all` overrides the per-server switch."""
        if not discovery.enabled:
            return frozenset()
        return frozenset(spec.name for spec in self.servers if discovery.defer_all or spec.defer_loading)
