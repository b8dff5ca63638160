"""What is to be raced: the last question or a chosen scenario, and the profile against static binding."""

from collections.abc import Mapping
from typing import Any

from textual.content import Content

from inspector.app.pages.chat.race import entry
from inspector.app.scenario_job import ScenarioFile, choice
from inspector.config.setting import DEFAULT_PROFILE
from inspector.core.error import ConfigError
from inspector.scenario.comparison import STATIC
from inspector.scenario.ground import estimate, require_fit, require_own_mind
from inspector.scenario.race import Race
from inspector.session.view import SessionView
from widgets import Record


class Selection:
    """The chosen scenario, None for the last question, and the chosen profile, "" for the session's."""

    def __init__(self) -> None:
        self.files: tuple[ScenarioFile, ...] = ()
        self.chosen: ScenarioFile | None = None
        self.profile = ""

    def file(self, session: SessionView) -> ScenarioFile | None:
        """Return what would be raced now; None if nothing was asked yet."""
        return self.chosen or entry.last_question(session.state.conversation)

    def other(self, session: SessionView) -> str:
        """Return the profile that races against static binding."""
        own = self.profile or session.profile
        return DEFAULT_PROFILE if own == STATIC else own

    def choose(self, path: str, session: SessionView) -> None:
        """Choose a scenario by its path, or the last question. Raises ConfigError if it does not fit."""
        chosen = next((file for file in self.files if str(file.path) == path), None)
        if chosen is not None and chosen.scenario is not None:
            require_fit(chosen.scenario, session.catalog)
        self.chosen = chosen

    @property
    def current(self) -> str:
        """The key of what is chosen, among `rows`."""
        return str(self.chosen.path) if self.chosen is not None else entry.QUESTION

    def rows(self, session: SessionView) -> tuple[Record, ...]:
        """Return everything that can be chosen."""
        asked = entry.last_question(session.state.conversation)
        return entry.choices(self.files, asked, self.current, session.catalog)

    def spends(self, session: SessionView) -> str:
        """Return what a race will take of a real model; "" if it takes nothing."""
        if self.chosen is not None or entry.is_stand_in(session.state.model):
            return ""
        return entry.spending(session.state.model_label, estimate(session))

    def require_ready(self, session: SessionView) -> None:
        """Raise ConfigError if the race cannot be run on the session's servers."""
        if not session.state.ready_servers:
            raise ConfigError("no server is ready", hint="A race needs connected servers.")
        if self.chosen is None:
            require_own_mind(session.state.model)
        elif self.chosen.scenario is not None:
            require_fit(self.chosen.scenario, session.catalog)

    def race(self, file: ScenarioFile, session: SessionView) -> tuple[Race, Mapping[str, Any]]:
        """Return the race of a file on a session, and the session's values that it takes along."""
        assert file.scenario is not None
        run = choice(file.scenario, session, self.other(session))
        leaves_out = self.chosen is None and not entry.is_alone(session.state.conversation)
        race = Race(
            file.scenario,
            (STATIC, run.profile),
            scripted=self.chosen is not None,
            prices=session.accounting.prices(),
            notes=(entry.ALONE,) if leaves_out else (),
        )
        return race, run.values

    def before(self, session: SessionView, *, has_lab: bool) -> Content:
        """Return what is said before the first race."""
        asked, spends = self.chosen is None, self.spends(session)
        return entry.before(
            self.file(session), self.other(session), has_lab=has_lab, asked=asked, spends=spends
        )
