"""Servers of tests are given up sooner than a person's."""

import pytest

from inspector.mcp.client import process


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that ignores the end of its input is killed after tenths of a second."""
    monkeypatch.setattr(process, "STDIN_CLOSED_GRACE", 0.2)
    monkeypatch.setattr(process, "TERMINATED_GRACE", 0.2)
