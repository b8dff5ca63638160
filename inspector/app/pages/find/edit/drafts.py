"""The drafts of a session, by tool; they outlive the page."""

from collections.abc import MutableMapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from textual.app import App

from inspector.domain.tool import Tool
from inspector.engine.discovery.explanation.draft import ToolText, wording_of


@dataclass(frozen=True, slots=True)
class Draft:
    """A tool's wording in the editor, and the draft put aside for the server's text."""

    wording: ToolText
    aside: ToolText | None = None


class Drafts:
    """One session's drafts."""

    def __init__(self) -> None:
        self._by_tool: dict[str, Draft] = {}

    def of(self, tool: Tool) -> Draft:
        """A tool's draft, or the server's text."""
        return self._by_tool.get(tool.id) or Draft(wording_of(tool))

    def keep(self, tool: Tool, wording: ToolText, aside: ToolText | None = None) -> None:
        self._by_tool[tool.id] = Draft(wording, aside)

    def describe(self, tool: Tool, description: str) -> None:
        """Draft another description; what else was drafted stays."""
        self.keep(tool, replace(self.of(tool).wording, description=description))

    def follow(self, before: Tool, now: Tool) -> None:
        """Take a changed definition: a draft stays, an unedited text becomes the server's new one."""
        draft = self._by_tool.get(before.id)
        if draft is not None and draft.wording == wording_of(before):
            self.keep(now, wording_of(now), draft.aside)


_DRAFTS: MutableMapping[App[object], Drafts] = WeakKeyDictionary()


def drafts_of(app: App[object]) -> Drafts:
    """The drafts of the session that an app shows."""
    return _DRAFTS.setdefault(app, Drafts())
