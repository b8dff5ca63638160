"""Measures one draft of a tool, in a thread and cancellable."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from inspector.app.pages.find.edit.content import Reading
from inspector.domain.evaluation import EvalSet
from inspector.domain.tool import Tool
from inspector.engine.discovery.explanation.draft import ToolText, reworded
from inspector.engine.discovery.explanation.tool_edit import EditTrial
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers

# Requests between progress reports.
_STEP = 25


@dataclass(frozen=True, slots=True)
class Measurement:
    """One draft and what it is measured against."""

    tool: Tool
    wording: ToolText
    query: str
    rankers: CatalogRankers
    ranker_name: str

    def run(
        self,
        count_tokens: Callable[[Tool], int],
        requests: Callable[[], EvalSet],
        tell: Callable[[Reading], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Report the effect on the query first, then the slower one on the labelled requests.

        Raises ToolsightError if the draft cannot be measured.
        """
        edited = reworded(self.tool, self.wording)
        before, after = (count_tokens(tool) for tool in (self.tool, edited))
        trial = EditTrial.of(self.rankers, edited, self.tool.id, self.ranker_name)
        reading = Reading(before, after, trial.on(self.query))
        tell(reading)
        if stopped():
            return
        evalset = requests()
        total = sum(case.is_possible for case in evalset.cases)
        reading = replace(reading, total=total, requests=evalset.name)
        done = 0

        def between() -> bool:
            nonlocal done
            if done % _STEP == 0:
                tell(replace(reading, done=done))
            done += 1
            return stopped()

        tell(replace(reading, cases=trial.over(evalset.cases, between)))
