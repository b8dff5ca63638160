"""A setting as a documented field of its section."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any


def knob(
    default: Any,
    about: str,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """A field with its documentation; `low` and `high` are inclusive, `about` names the unit."""
    metadata = {"about": about, "low": low, "high": high}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)
