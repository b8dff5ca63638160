"""A configuration file in memory, for installing and removing servers."""

from dataclasses import replace

from inspector.config.configuration import Configuration
from inspector.config.editor import with_member, without_member
from inspector.config.installation import FileChange, ServerChange
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.schema.json_value import JsonObject

_SECTION = ("mcpServers",)
_TEXT = '{"mcpServers": {"shop": {"command": "shop"}}}'


class MemoryEditor:
    """Keeps the file as `text`; `fault` is raised instead of writing, and `written` counts the changes."""

    def __init__(self, text: str = _TEXT, *, fault: ConfigError | None = None) -> None:
        self.text = text
        self.fault = fault
        self.written = 0

    def with_server(self, configuration: Configuration, name: str, entry: JsonObject) -> ServerChange:
        """The configuration with a server made of the entry."""
        text = with_member(self.text, _SECTION, name, dict(entry))
        spec = ServerSpec(
            name,
            command=str(entry.get("command", "")),
            args=tuple(entry.get("args", ())),
            env=dict(entry.get("env", {})),
            url=str(entry.get("url", "")),
            headers=dict(entry.get("headers", {})),
            defer_loading=True,
        )
        return self._becomes(configuration, name, (*configuration.servers, spec), text)

    def without_server(self, configuration: Configuration, name: str) -> ServerChange:
        """The configuration without the server."""
        servers = tuple(spec for spec in configuration.servers if spec.name != name)
        return self._becomes(configuration, name, servers, without_member(self.text, _SECTION, name))

    def _becomes(
        self, configuration: Configuration, name: str, servers: tuple[ServerSpec, ...], text: str
    ) -> ServerChange:
        change = FileChange(configuration.source, self.text.encode(), text.encode())
        return ServerChange(name, replace(configuration, servers=servers), change)

    def write(self, change: FileChange) -> str:
        """Write the text if it is as it was. Raises ConfigError."""
        if self.fault is not None:
            raise self.fault
        if self.text.encode() != change.before:
            raise ConfigError(f"{change.path} has changed in the meantime, so it was left alone")
        self.text, self.written = change.after.decode(), self.written + 1
        return f"{change.path}.bak"
