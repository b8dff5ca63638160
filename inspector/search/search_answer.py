"""What a search answers, and what of it is left once it shares the room with other searches."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from inspector.core.ranking import Outcome, SearchReport
from inspector.core.settings import ResultForm
from inspector.core.tool import Tool
from inspector.search.ranked_text import matches_text


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A report, the text the model reads, and the tools to load.

    `already` holds the results that were already bound. `caution` is the sentence that an unsure search
    begins with; `missing` is the part of the text about unknown names, withheld tools, and tools that are not
    connected. Both are read whatever there is room for.
    """

    report: SearchReport
    text: str
    to_load: tuple[Tool, ...] = ()
    already: tuple[Tool, ...] = ()
    missing: str = ""
    caution: str = ""
    form: ResultForm = "full"

    def placed(self, staying: Collection[str], earlier: Collection[str]) -> "SearchAnswer":
        """The answer with room only for the results in `staying`; it reports the others as not loaded.

        Those in `earlier` were loaded by an earlier search of the same reply.
        """
        results = (*self.to_load, *self.already)
        no_room = tuple(tool for tool in results if tool.id not in staying)
        known = {tool.id for tool in self.to_load if tool.id in staying and tool.id in earlier}
        if not no_room and not known:
            return self
        over = {tool.id for tool in no_room}
        loaded = tuple(tool for tool in self.to_load if tool.id not in over | known)
        already = tuple(tool for tool in results if tool.id not in over and tool not in loaded)
        outcomes = dict.fromkeys(known, Outcome.ALREADY_LOADED) | dict.fromkeys(over, Outcome.OVER_LIMIT)
        hits = tuple(
            replace(hit, outcome=outcomes.get(hit.tool_id, hit.outcome)) if hit.outcome.is_result else hit
            for hit in self.report.hits
        )
        found = matches_text(self.report, loaded, already, no_room, form=self.form)
        text = "\n\n".join(filter(None, (self.caution, found, self.missing)))
        report = replace(self.report, hits=hits)
        return replace(self, report=report, text=text, to_load=loaded, already=already)
