"""What every command can be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DEMO_MODEL = "demo/planner"


@dataclass(frozen=True, slots=True)
class Options:
    """The shared options of the commands, see their help. `values` go by the path of the setting."""

    config: Path | None = None
    model: str = DEMO_MODEL
    api_base: str = ""
    toolset: str = ""
    database: Path | None = None
    approve: bool = False
    yes: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
