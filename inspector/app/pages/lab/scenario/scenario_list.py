"""The list of scenarios with the outcome of each."""

import asyncio
from collections.abc import Mapping

from inspector.app.pages.lab.scenario.content import SCENARIO_COLUMNS, scenario_rows
from inspector.app.scenario_job import Choice, Lab, ScenarioFile, choice
from inspector.engine.scenario.run import ScenarioResult
from inspector.engine.view import SessionView
from widgets import RecordList

_READING = "Reading the scenarios …"
_NO_LAB = "No scenarios to run in this session. Try `toolsight demo`."
_NO_SCENARIO = "No scenarios found. Toolsight ships with some; reinstall it."


class ScenarioList(RecordList):
    """Reads the scenarios once, and knows the one under the cursor."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(SCENARIO_COLUMNS, empty=_READING, id=id, classes="pane")
        self.border_title = "Scenarios"
        self._files: tuple[ScenarioFile, ...] = ()

    async def read(self, lab: Lab | None) -> None:
        """Read the scenarios. Raises ToolsightError."""
        if lab is None:
            self.empty = _NO_LAB
            return
        try:
            self._files = tuple(await asyncio.to_thread(lab.scenarios))
        finally:
            self.empty = _NO_SCENARIO

    @property
    def file(self) -> ScenarioFile | None:
        """The scenario under the cursor."""
        current = self.current
        return next((file for file in self._files if current and str(file.path) == current.key), None)

    @property
    def key(self) -> str:
        """The path of the scenario under the cursor, "" if there is none."""
        return str(self.file.path) if self.file is not None else ""

    def choice(self, session: SessionView, chosen: str) -> Choice | None:
        """Return what the scenario under the cursor runs under; None if it cannot run."""
        file = self.file
        return (
            choice(file.scenario, session, chosen) if file is not None and file.scenario is not None else None
        )

    def show(self, results: Mapping[str, ScenarioResult], running: str) -> None:
        """Draw the scenarios; `running` is the path of the running one."""
        self.records = scenario_rows(self._files, results, running)
