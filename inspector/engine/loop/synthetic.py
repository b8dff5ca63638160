"""Synthetic tools: handled here, never sent to a server (PRD section 2.8)."""

from typing import Protocol

from inspector.domain.jsonvalue import JsonObject


class SyntheticTool(Protocol):
    """A tool of Toolsight's own. It may change the session; what it returns goes to the model."""

    @property
    def name(self) -> str: ...

    def execute(self, arguments: JsonObject) -> str: ...
