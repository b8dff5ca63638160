"""Which settings are in force: the file's, the profile's over them, the session's over both."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspector.domain.configuration import Configuration
from inspector.domain.error import ConfigError, ToolsightError
from inspector.domain.knob import differences, find_knob, with_values
from inspector.domain.profile import DEFAULT_PROFILE, find_profile, profile_settings
from inspector.domain.settings import Settings
from inspector.engine.discovery.rankers.ranker_name import require_ranker

_AT_START = frozenset({"access.predicates"})


class Policy:
    """Defaults < the file's `tool_discovery` < the profile < the file's `settings` < the session's values.

    Changes are in force from the next model call on; `on_change` hears which paths changed.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        profile: str = "",
        values: Mapping[str, Any] | None = None,
        on_change: Callable[[Sequence[str]], None] = lambda _paths: None,
    ) -> None:
        """Raises ConfigError for a profile or a value that there is not."""
        self._configuration = configuration
        self._on_change = on_change
        self.profile = find_profile(profile or configuration.profile or DEFAULT_PROFILE).name
        given = (values or {}).items()
        self.session_values: Mapping[str, Any] = {path: find_knob(path).check(value) for path, value in given}
        self.settings = self._settings(self.profile, self.session_values)

    def use(self, profile: str) -> None:
        """Take another profile; values that were set stay set. Raises ConfigError."""
        self._change(find_profile(profile).name, self.session_values)

    def set(self, path: str, value: Any) -> None:
        """Set one knob. Raises ConfigError, ToolsightError for a ranker, and then nothing has changed."""
        self._change(self.profile, {**self.session_values, path: find_knob(path).check(value)})

    def reset(self, path: str) -> None:
        """Let the file, or else the profile, say what a knob is. Raises ConfigError."""
        find_knob(path)
        self._change(self.profile, {key: value for key, value in self.session_values.items() if key != path})

    def _change(self, profile: str, values: Mapping[str, Any]) -> None:
        before, after = self.settings, self._settings(profile, values)
        self.profile, self.session_values, self.settings = profile, values, after
        self._on_change(tuple(differences(after, before)))

    def _settings(self, profile: str, values: Mapping[str, Any]) -> Settings:
        configuration = self._configuration
        profiled = profile_settings(profile, configuration.settings, configuration.values)
        settings = with_values(profiled, values)
        try:
            require_ranker(settings.discovery.ranker)
            require_ranker(settings.gate.ranker)
        except ToolsightError as error:
            raise ConfigError(error.message, hint=error.hint) from error
        return settings
