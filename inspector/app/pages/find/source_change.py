"""A proposal as a change of the server's source: shown, written after a yes, or kept as a draft."""

from abc import abstractmethod
from dataclasses import replace

from textual import on

from inspector.app.base_screen import ToolKeys
from inspector.app.dialogs.source import COPY, DRAFT, WRITE, SourceDialog, change_in_source, question
from inspector.app.draw.line import failure_text, shown_place
from inspector.app.pages.find.why_not import WhyNotPane
from inspector.core.tool import Tool
from inspector.measure.check.finding import Place
from inspector.measure.check.source_text import Replacement


class SourceChanges(ToolKeys):
    """A page on which a sentence can be taken into the source of a tool's server."""

    @abstractmethod
    def draft(self, tool_id: str, description: str) -> None:
        """Open the editor with another description."""

    @on(WhyNotPane.Proposed)
    def _proposed(self, event: WhyNotPane.Proposed) -> None:
        """Show a proposal as a change of the source; where that is not known, as a draft."""
        tool = self.session.catalog.get(event.tool_id)
        servers = {spec.name: spec for spec in self.session.configuration.servers}
        spec = servers.get(tool.server) if tool is not None else None
        if tool is None or spec is None or self.context.replay.is_replay or not self.session.sight.is_whole:
            self.draft(event.tool_id, event.description)
            return

        def unknown(error: Exception) -> None:
            self.draft(event.tool_id, event.description)
            self.warn(failure_text(error)[1])

        self.run_job(
            "source",
            lambda _: change_in_source(spec, tool, event.description),
            lambda found: self._ask_to_write(event, tool, *found),
            failed=unknown,
        )

    def _ask_to_write(
        self, event: WhyNotPane.Proposed, tool: Tool, place: Place, change: Replacement
    ) -> None:
        measure = self.session.accounting.meter.tool
        tokens = measure(replace(tool, description=event.description)) - measure(tool)

        def answered(answer: str | None) -> None:
            if answer == WRITE:
                self._write(event, place, change)
            elif answer == COPY:
                self.copy(event.description, "the description")
            elif answer == DRAFT:
                self.draft(event.tool_id, event.description)

        dialog = SourceDialog(place.path, question(place, change, tokens, event.effects))
        self.app.push_screen(dialog, answered)

    def _write(self, event: WhyNotPane.Proposed, place: Place, change: Replacement) -> None:
        """Write a file after a yes; if it has changed meanwhile, the text stays as a draft."""

        def written(_: None) -> None:
            then = (
                "Its server restarts now." if self.context.parts.watches else "Restart its server: 2, then r."
            )
            where = shown_place(place.path, place.line)
            self.notify(f"{where}\n{then}", title="Written", markup=False)

        def refused(error: Exception) -> None:
            self.draft(event.tool_id, event.description)
            self.fail(error)

        self.run_job("write", lambda _: change.write(), written, failed=refused)
