"""Synthetic tools: handled here, never sent to a server (PRD section 2.8)."""

from typing import Protocol

from inspector.domain.jsonvalue import JsonObject


class SyntheticTool(Protocol):
    """One of Toolsight's own tools. It may change the session; the text it returns goes to the model."""

    @property
    def name(self) -> str: ...

    def execute(self, arguments: JsonObject) -> str: ...
