"""Resolves the current settings from the defaults, the file, the profile and the session."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspector.core.configuration import Configuration
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.knob import differences, find_knob, value_of, with_values
from inspector.core.profile import DEFAULT_PROFILE, find_profile, profile_settings
from inspector.core.settings import Settings
from inspector.search.rankers.ranker_list import require_ranker

_AT_START = frozenset({"access.predicates"})


class Policy:
    """Defaults < the file's `tool_discovery` < the profile < the file's `settings` < the session's values.

    Changes take effect with the next model call; `on_change` receives the paths that changed.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        profile: str = "",
        values: Mapping[str, Any] | None = None,
        on_change: Callable[[Sequence[str]], None] = lambda _paths: None,
        restrict: Callable[[Settings], Settings] = lambda settings: settings,
    ) -> None:
        """`restrict` leaves of the settings what may be seen.

        Raises ConfigError for an unknown profile or setting, or a value that is not allowed.
        """
        self._configuration = configuration
        self._restrict = restrict
        self._on_change = on_change
        self.profile = find_profile(profile or configuration.profile or DEFAULT_PROFILE).name
        given = (values or {}).items()
        self._values: Mapping[str, Any] = {path: find_knob(path).check(value) for path, value in given}
        self._given = self._values
        self.settings = self._settings(self.profile, self._values)

    @property
    def session_values(self) -> Mapping[str, Any]:
        """The settings of the session itself, by path, with what is left of their values."""
        return {path: value_of(self.settings, path) for path in self._values}

    def renew(self, restrict: Callable[[Settings], Settings]) -> None:
        """Begin anew for somebody else: what was changed in the session is gone."""
        self._restrict, self._values = restrict, self._given
        self.settings = self._settings(self.profile, self._values)

    def restrict_again(self) -> None:
        """What may be seen may have changed, and with it what is left of the settings."""
        if self._settings(self.profile, self._values) != self.settings:
            self._change(self.profile, self._values)

    def use(self, profile: str) -> None:
        """Switch to another profile; the session's values stay. Raises ConfigError."""
        self._change(find_profile(profile).name, self._values)

    def set(self, path: str, value: Any) -> None:
        """Change one setting. Raises ConfigError and changes nothing on failure."""
        self._change(self.profile, {**self._values, path: find_knob(path).check(value)})

    def set_all(self, values: Mapping[str, Any]) -> None:
        """Change these settings, by path, at once. Raises ConfigError and changes nothing on failure."""
        checked = {path: find_knob(path).check(value) for path, value in values.items()}
        self._change(self.profile, {**self._values, **checked})

    def reset(self, path: str) -> None:
        """Reset a setting to the value from the file or the profile. Raises ConfigError."""
        find_knob(path)
        self._change(self.profile, {key: value for key, value in self._values.items() if key != path})

    def _change(self, profile: str, values: Mapping[str, Any]) -> None:
        before, after = self.settings, self._settings(profile, values)
        self.profile, self._values, self.settings = profile, values, after
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
        return self._restrict(settings)
