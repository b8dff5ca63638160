"""What is to be raced: the last question or a chosen scenario, and the profile against static binding."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.config.profile import DEFAULT_PROFILE
from inspector.core.conversation import ItemKind
from inspector.core.error import ConfigError
from inspector.core.number import count, money, tokens
from inspector.core.session import SessionState
from inspector.features.lab.comparison import STATIC
from inspector.features.lab.ground import estimate, lacking, question, require_fit, require_own_mind
from inspector.features.lab.race.race import Race
from inspector.features.lab.scenario_job import ScenarioFile, choice
from inspector.session.view import SessionView
from widgets import Record, visible

# The key of the last question among the choices; scenarios have their paths.
_QUESTION = ""


class Selection:
    """The chosen scenario, None for the last question, and the chosen profile, "" for the session's."""

    def __init__(self) -> None:
        self.chosen: ScenarioFile | None = None
        self.profile = ""

    def file(self, session: SessionView) -> ScenarioFile | None:
        """Return what would be raced now; None if nothing was asked yet."""
        return self.chosen or last_question(session.state)

    def other(self, session: SessionView) -> str:
        """Return the profile that races against static binding."""
        own = self.profile or session.profile
        return DEFAULT_PROFILE if own == STATIC else own

    def choose(self, files: Sequence[ScenarioFile], path: str, session: SessionView) -> None:
        """Choose a scenario by its path, or the last question. Raises ConfigError if it does not fit."""
        chosen = next((file for file in files if str(file.path) == path), None)
        if chosen is not None and chosen.scenario is not None:
            require_fit(chosen.scenario, session.catalog)
        self.chosen = chosen

    @property
    def current(self) -> str:
        """The key of what is chosen, among `rows`."""
        return str(self.chosen.path) if self.chosen is not None else _QUESTION

    def rows(self, files: Sequence[ScenarioFile], session: SessionView) -> tuple[Record, ...]:
        """Return what can be raced: the last question, the scenarios that fit, then those that do not."""
        rows = []
        for file in files:
            if file.scenario is not None:
                missing = lacking(file.scenario, session.catalog)
                misfit = f"does not fit: needs {', '.join(missing)}" if missing else ""
                rows.append(_scenario_row(file, self.current, misfit))
        rows.sort(key=lambda row: row.tone == "muted")
        asked = last_question(session.state)
        if asked is not None:
            mark = "✓" if self.current == _QUESTION else " "
            cells = (mark, visible(asked.title, limit=200, newlines=False), "")
            rows.insert(0, Record(_QUESTION, cells, detail="The last question in the conversation."))
        return tuple(rows)

    def spends(self, session: SessionView) -> str:
        """Return what a race will take of a real model; "" if it takes nothing."""
        if self.chosen is not None or session.state.model.startswith("demo/"):
            return ""
        name, guess = visible(session.state.model_label, limit=60, newlines=False), estimate(session)
        if guess is None:
            return f"This asks {name} twice; the cost is unknown until it has answered once."
        price = ""
        if guess.dollars is not None and guess.prices is not None:
            price = f" ({money(guess.dollars)} at {guess.prices.model} prices)"
        took = f"about {count(guess.calls, 'call')} with {tokens(guess.tokens)} input tokens{price}"
        return f"This asks {name} twice: {took}, plus its answers."

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
        leaves_out = self.chosen is None and len(_said(session.state)) > 1
        alone = "The question was asked alone, without the earlier conversation."
        race = Race(
            file.scenario,
            (STATIC, run.profile),
            scripted=self.chosen is not None,
            prices=session.accounting.prices(),
            notes=(alone,) if leaves_out else (),
        )
        return race, run.values

    def before(self, session: SessionView, *, has_lab: bool) -> Content:
        """Return what the page is for, before the first race."""
        file = self.file(session)
        if not has_lab:
            return Content("Nothing to race in this session. Try `toolsight demo`.")
        if file is None:
            return Content("Ask something in Chat first, or press c to choose a scenario.")
        if file.scenario is None:
            return Content.assemble(("✕ ", "$text-error"), visible(file.problem, limit=400))
        what = "it asks the question" if self.chosen is None else "it runs the scenario"
        other = visible(self.other(session), limit=40)
        where = f"once with every tool bound and once under {other}, each on its own servers"
        calls = "Calls that need your approval are skipped, except for tools you allowed for this session."
        keys = "c picks the question or scenario, p the profile to race against static binding."
        lines = [
            Content.assemble(("r or enter starts the race", "bold"), f": {what} {where}."),
            Content.styled(self.spends(session), "$text-warning"),
            Content.styled(calls, MUTED),
            Content.styled(keys, MUTED),
        ]
        return Content("\n").join(line for line in lines if line)


def last_question(session: SessionState) -> ScenarioFile | None:
    """Return the user's newest message as something to race."""
    said = _said(session)
    return ScenarioFile(Path("question"), question(said[-1])) if said else None


def _said(session: SessionState) -> list[str]:
    return [item.text for item in session.conversation.items if item.kind is ItemKind.USER]


def _scenario_row(file: ScenarioFile, chosen: str, misfit: str = "") -> Record:
    """Return a readable scenario by its path, muted with the reason if it does not fit."""
    about = file.scenario.about if file.scenario is not None else ""
    return Record(
        str(file.path),
        ("✓" if str(file.path) == chosen else " ", visible(file.title, limit=200, newlines=False), ""),
        detail=visible(misfit or " ".join(about.split()), limit=200, newlines=False),
        search=f"{file.title} {file.path.stem}",
        tone="muted" if misfit else "",
    )
