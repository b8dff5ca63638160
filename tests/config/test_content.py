"""Only regular files are read: a pipe may never end, and reading a device may do anything."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.access.policy_file import load_policy
from inspector.cli.audit.command import _read_baseline
from inspector.cli.bench.command import _stored
from inspector.clients.transcript_file.reader import open_transcript
from inspector.config.file import followed_lines, read_bytes
from inspector.config.predicate import digest
from inspector.config.reader import read
from inspector.core.error import ConfigError
from inspector.measure.evalset import is_there, read_cases
from inspector.registry.export import is_export, read_export
from inspector.registry.marketplace.reader import read_catalog
from inspector.scenario.scenario import load_scenario

READERS: dict[str, Callable[[Path], object]] = {
    "configuration": lambda path: read(path, environment={}),
    "policy": load_policy,
    "predicates": digest,
    "catalog": read_catalog,
    "labelled requests": read_cases,
    "labelled requests to add to": is_there,
    "export": lambda path: list(read_export(path)),
    "transcript": open_transcript,
    "followed": lambda path: next(followed_lines(path, lambda: False)),
    "scenario": load_scenario,
    "audit": _read_baseline,
    "bench": _stored,
}


def special(kind: str, folder: Path) -> Path:
    """A pipe that nobody writes to, a device without an end, or a link to it."""
    if kind == "pipe":
        os.mkfifo(folder / "pipe.json")
        return folder / "pipe.json"
    if kind == "device":
        return Path("/dev/zero")
    (folder / "linked.json").symlink_to("/dev/zero")
    return folder / "linked.json"


@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device"])
@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_or_a_device_is_refused_and_never_waited_for(reader: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a regular file") as refused:
        READERS[reader](special(kind, tmp_path))
    assert "pipe or device" in refused.value.hint


def test_a_pipe_is_no_export(tmp_path: Path) -> None:
    assert not is_export(special("pipe", tmp_path))


def test_what_became_a_pipe_after_the_look_is_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    regular, pipe = tmp_path / "a.json", special("pipe", tmp_path)
    regular.write_text("{}")
    before = regular.stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: before)
    with pytest.raises(ConfigError, match="is not a regular file"):
        read_bytes(pipe, "configuration")
