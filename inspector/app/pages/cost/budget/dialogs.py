"""Dialogs of the what-if: another model, another toolset."""

from collections.abc import Callable

from inspector.app.dialogs.choice import ChoiceDialog, NamedDialog
from inspector.app.dialogs.choice_row import model_rows, toolset_rows
from inspector.engine.view import SessionView

_ALL_TOOLS = "all tools"


class OtherModelDialog(NamedDialog):
    """Any model by its name, only to count tokens for."""

    hint = "any litellm model: openai/…, anthropic/…, ollama/…"

    def __init__(self, current: str, choose: Callable[[str], None]) -> None:
        super().__init__("What if: another model", model_rows(current), choose, current)


class OtherToolsetDialog(ChoiceDialog):
    """Every toolset of the configuration, and all tools."""

    def __init__(self, session: SessionView, choose: Callable[[str], None]) -> None:
        toolsets, current = session.configuration.toolsets, session.state.toolset
        everything = _ALL_TOOLS
        while everything in toolsets:
            everything = f"({everything})"
        super().__init__(
            "What if: another toolset",
            toolset_rows(toolsets, current, everything),
            lambda key: choose("" if key == everything else key),
            current or everything,
        )
