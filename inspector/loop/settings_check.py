"""Runs every check of the settings: conflicts, patterns without tools, what a model cannot do.

To add a check, write a function like those in `CHECKS`, and name it there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.config.configuration import Configuration
from inspector.config.profile import DEFAULT_PROFILE, find_profile, profile_settings
from inspector.config.setting import differences, find_knob, value_of, with_values
from inspector.core.error import ConfigError, SettingProblem, ToolsightError, worst_first
from inspector.core.events import SettingsChecked
from inspector.core.ranking import IndexPhase, IndexState
from inspector.core.session import ServerState
from inspector.core.settings import Settings
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.unmatched_pattern import Checked, unmatched_patterns
from inspector.search.answer.retrieval import Live
from inspector.search.ranker.ranker_list import INFO, require_ranker
from inspector.tokens.delivery import effective_delivery, is_native


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


# Checks for settings that make each other void.


def setting_conflicts(checked: Checked) -> Iterator[SettingProblem]:
    """Every setting in force that another one keeps from having its effect."""
    yield from _no_way_to_load(checked)
    yield from _ranker_without_vectors(checked)
    yield from _impossible_delivery(checked)


def _no_way_to_load(checked: Checked) -> Iterator[SettingProblem]:
    settings = checked.settings
    is_needed = settings.binding.policy not in ("gate", "all")
    if (
        is_needed
        and not settings.discovery.search_tool
        and checked.configuration.deferred_servers(settings.discovery)
    ):
        yield SettingProblem(
            "discovery.search_tool",
            "",
            "is off, so nothing can load a deferred tool",
            "Turn it on, set binding.policy to gate or all, or turn discovery.enabled off.",
        )


def _ranker_without_vectors(checked: Checked) -> Iterator[SettingProblem]:
    settings = checked.settings
    if settings.discovery.embedding_model != "none" and checked.index.phase is not IndexPhase.FAILED:
        return
    why = (
        "discovery.embedding_model is set to none"
        if settings.discovery.embedding_model == "none"
        else checked.index.reason
    )
    for path, ranker, effect in _rankers(settings):
        if ranker in INFO and INFO[ranker].matching == "meaning":
            yield SettingProblem(
                path, ranker, f"{effect} without vectors: {why}", "Choose a ranker that also matches words."
            )


def _rankers(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """The rankers in use: the path of each, its name, and what happens if it scores nothing."""
    if settings.discovery.enabled and settings.binding.policy == "gate":
        yield "gate.ranker", settings.gate.ranker, "lets no tool through the gate"
    elif settings.discovery.enabled and settings.discovery.search_tool:
        yield "discovery.ranker", settings.discovery.ranker, "finds nothing"


def _impossible_delivery(checked: Checked) -> Iterator[SettingProblem]:
    """A delivery that the gate or the model cannot use."""
    binding = checked.settings.binding
    wanted, actual = binding.delivery, effective_delivery(binding, checked.features)
    if wanted == actual or (wanted == "native" and is_native(actual)):
        return
    why = "the gate" if binding.policy == "gate" else "this model"
    yield SettingProblem(
        "binding.delivery", wanted, f"is not possible with {why}, so {actual} is used", f"Set it to {actual}."
    )


CHECKS: tuple[Callable[[Checked], Iterable[SettingProblem]], ...] = (
    unmatched_patterns,
    setting_conflicts,
    lambda checked: checked.configuration.problems,
)


@dataclass(eq=False)
class SettingsCheck:
    """Checks the settings of a session, until it is closed."""

    session: Session
    live: Live
    _seen: frozenset[str] = field(default=frozenset(), init=False)
    _found: tuple[SettingProblem, ...] = field(default=(), init=False)
    _last: Checked | None = field(default=None, init=False)
    _is_closed: bool = field(default=False, init=False)

    def close(self) -> None:
        """Check nothing more: that the servers stop when the session ends is no problem."""
        self._is_closed = True

    @property
    def is_due(self) -> bool:
        """Whether the session runs: it has started, and is not over."""
        state = self.session.state
        return not self._is_closed and bool(state.servers or state.is_restricted)

    def run(self, connected: Sequence[Tool], granted: tuple[str, ...] = ()) -> None:
        """Check everything again if what is looked at has changed, and emit what was found if that has.

        `connected` are the tools of the connected servers, `granted` the patterns of the policy that the
        session's user may be told of.
        """
        checked = self._checked(connected, granted)
        if checked == self._last:
            return
        self._last, self._seen = checked, self._seen | checked.tools
        found = worst_first(problem for check in CHECKS for problem in check(checked))
        # The state's copy may be redacted, so it cannot be compared with.
        if found != self._found:
            self._found = found
            self.session.emit(SettingsChecked(found))

    def _checked(self, connected: Sequence[Tool], granted: tuple[str, ...]) -> Checked:
        """What the checks look at, without what they do not: progress of the index, tokens, instructions."""
        live, state = self.live, self.session.state
        has_failed = state.index.phase is IndexPhase.FAILED
        # A server lists a tool that had to be skipped too: a pattern for it is no typo.
        skipped = {
            f"{server.name}:{tool.label}" for server in state.servers.values() for tool in server.skipped
        }
        tools = skipped.union(tool.id for tool in connected)
        return Checked(
            live.configuration,
            live.settings,
            live.toolset,
            {one.name: ServerState(one.name, one.phase, one.target) for one in state.servers.values()},
            tools=frozenset(tools),
            gone=self._seen - tools,
            index=IndexState(state.index.phase, reason=state.index.reason) if has_failed else IndexState(),
            features=live.features,
            sight=live.sight,
            granted=granted,
        )
