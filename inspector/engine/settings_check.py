"""Runs every check of the settings; what they find is in the stream and in the session's state.

To add a check, write a function of the type `domain.setting_problem.Check` and name it in `CHECKS`.
"""

from collections.abc import Callable, Sequence

from inspector.domain.events import SettingsChecked
from inspector.domain.setting_problem import Check, Checked, SettingProblem, worst_first
from inspector.domain.tool import Tool
from inspector.domain.unmatched_pattern import unmatched_patterns
from inspector.engine.live import Live
from inspector.engine.session import Session
from inspector.engine.setting_conflict import setting_conflicts

CHECKS: tuple[Check, ...] = (unmatched_patterns, setting_conflicts)


class SettingsCheck:
    """Checks the settings of a session; `connected` returns the tools of its connected servers.

    `granted` returns the patterns of the policy that its user may be told of.
    """

    def __init__(
        self,
        session: Session,
        live: Live,
        connected: Callable[[], Sequence[Tool]],
        granted: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._granted = granted
        self._session = session
        self._live = live
        self._connected = connected
        self._seen: frozenset[str] = frozenset()
        self._found: tuple[SettingProblem, ...] = ()
        self._is_closed = False

    def close(self) -> None:
        """Check nothing more: that the servers stop when the session ends is no problem."""
        self._is_closed = True

    def run(self) -> None:
        """Check everything again, and emit what was found if that has changed."""
        state = self._session.state
        if self._is_closed or not (state.servers or state.is_restricted):
            return  # The session is over, or has not started.
        checked = self._checked()
        self._seen |= checked.tools
        found = worst_first(problem for check in CHECKS for problem in check(checked))
        # The state's copy may be redacted, so it cannot be compared with.
        if found != self._found:
            self._found = found
            self._session.emit(SettingsChecked(found))

    def _checked(self) -> Checked:
        live, servers = self._live, self._session.state.servers
        # A server lists a tool that had to be skipped too: a pattern for it is no typo.
        skipped = {f"{server.name}:{tool.name}" for server in servers.values() for tool in server.skipped}
        tools = skipped.union(tool.id for tool in self._connected())
        return Checked(
            live.configuration,
            live.settings,
            live.toolset,
            servers,
            tools=frozenset(tools),
            gone=self._seen - tools,
            index=self._session.state.index,
            features=live.features,
            sight=live.sight,
            granted=self._granted(),
        )
