"""The scenarios of a lab with what came of each."""

import asyncio
from collections.abc import Mapping

from inspector.app.pages.lab.scenario.content import SCENARIO_COLUMNS, scenario_rows
from inspector.app.scenario_job import Choice, Lab, ScenarioFile, choice
from inspector.engine.scenario.run import ScenarioResult
from inspector.engine.view import SessionView
from widgets import RecordList

_READING = "Reading the scenarios …"
_NO_LAB = "There is no lab in this session. `toolsight demo` opens one with scenarios to run."
_NO_SCENARIO = (
    "No scenario was found. Those that come with Toolsight are part of its package: install it anew."
)


class ScenarioList(RecordList):
    """Reads the scenarios once, and knows which one the cursor is on."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(SCENARIO_COLUMNS, empty=_READING, id=id, classes="pane")
        self.border_title = "Scenarios"
        self._files: tuple[ScenarioFile, ...] = ()

    async def read(self, lab: Lab | None) -> None:
        """Read what there is to run. Raises ToolsightError."""
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
        return next((one for one in self._files if current and str(one.path) == current.key), None)

    @property
    def key(self) -> str:
        """The path of the scenario under the cursor, "" without one."""
        return str(self.file.path) if self.file is not None else ""

    def choice(self, session: SessionView, chosen: str) -> Choice | None:
        """What the scenario under the cursor runs under; None for one that cannot be run."""
        file = self.file
        return (
            choice(file.scenario, session, chosen) if file is not None and file.scenario is not None else None
        )

    def show(self, results: Mapping[str, ScenarioResult], running: str) -> None:
        """Draw the scenarios; `running` is the path of the one that runs."""
        self.records = scenario_rows(self._files, results, running)
