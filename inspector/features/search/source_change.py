"""A proposal as a change of the server's source: shown, written after a yes, or kept as a draft."""

from abc import abstractmethod
from pathlib import Path

from msgspec.structs import replace
from textual import on
from textual.content import Content

from inspector.app.base_screen import ToolKeys
from inspector.app.draw.line import MUTED, failure_text, shown_place
from inspector.config.program import source_files
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.core.tool import Tool
from inspector.features.check.facts import FALLS, LOSES, RISES, effect_lines
from inspector.features.check.finding import Effect, Place
from inspector.features.check.source_text import Replacement, place_of, replacement
from inspector.features.search.why_not_pane import WhyNotPane
from widgets import Choice, Confirm, Hanging, plain, safe

WRITE, COPY, DRAFT, NO = "write", "copy", "edit as a draft", "no"
# The safe answer comes first: it has the focus, so a second enter writes nothing.
_CHOICES = (Choice("e", DRAFT), Choice("c", COPY), Choice("y", WRITE), Choice("n", NO))
_EFFECT = {RISES: "$text-success", FALLS: "$text-error", LOSES: "$text-warning"}
# The lines of a difference that name its files.
_HEAD = 2


def change_in_source(spec: ServerSpec, tool: Tool, description: str) -> tuple[Place, Replacement]:
    """Where a tool's description stands in its server's files, and that file with another one.

    Raises ConfigError with the reason if it stands nowhere, in several places, or cannot be written there.
    """
    files = source_files(spec).files
    place = place_of(files, tool.description)
    if place is None:
        problem = "no source file of its server is known"
        if files:
            problem = "its description stands nowhere in its server's files, or in several places"
        raise ConfigError(problem, hint="This is a draft: ctrl+y copies it, x saves it.")
    return place, replacement(place.path, tool.description, description)


def question(place: Place, change: Replacement, tokens: int, effect: Effect | None = None) -> Content:
    """Return the change as a difference, what it costs in tokens, and what it was measured to change."""
    where = Content.assemble((shown_place(place.path, place.line), "bold"), (f"   {tokens:+,} tokens", MUTED))
    lines = [line for line in change.difference.splitlines()[_HEAD:] if line.strip() and line[0] != "@"]
    measured = [Content(), *map(_effect_line, effect_lines(effect))] if effect is not None else []
    return Content("\n").join([where, Content(), *map(_line, lines), *measured])


def _line(line: str) -> Content:
    style = {"+": "$text-success", "-": "$text-error"}.get(line[:1], MUTED)
    return plain(line, newlines=False, limit=2_000).stylize(style)


def _effect_line(line: str) -> Content:
    return plain(line, newlines=False, limit=300).stylize(_EFFECT.get(line.strip()[:1], ""))


class SourceDialog(Confirm):
    """Shows what would be written, and returns one of the answers; esc means no."""

    DEFAULT_CSS = """
    SourceDialog {
        & > Vertical { width: 110; }
        &.-roomy .confirm--body { max-height: 60vh; }
    }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (34, "-roomy")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, path: Path, body: Content) -> None:
        super().__init__(f"Write this into {path.name}?", Hanging(safe(body), 2), _CHOICES)


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

        dialog = SourceDialog(place.path, question(place, change, tokens, event.effect))
        self.app.push_screen(dialog, answered)

    def _write(self, event: WhyNotPane.Proposed, place: Place, change: Replacement) -> None:
        """Write a file after a yes; if it has changed meanwhile, the text stays as a draft."""

        def written(_: None) -> None:
            then = (
                "Its server restarts now."
                if self.context.opened.watches
                else "Restart its server: 2, then r."
            )
            where = shown_place(place.path, place.line)
            self.notify(f"{where}\n{then}", title="Written", markup=False)

        def refused(error: Exception) -> None:
            self.draft(event.tool_id, event.description)
            self.fail(error)

        self.run_job("write", lambda _: change.write(), written, failed=refused)
