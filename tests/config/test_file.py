"""Files that people write: only regular ones are read, and their changes are noticed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.access.policy_file import load_policy
from inspector.cli.audit import _read_baseline
from inspector.cli.bench import _stored
from inspector.clients.transcript_file.reader import open_transcript
from inspector.config.file import Looks, State, file_state, followed_lines, read_bytes, server_files
from inspector.config.predicate import digest
from inspector.config.reader import read
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.measure.evalset import is_there, read_cases
from inspector.registry.marketplace.reader import read_catalog
from inspector.registry.peer import read_export
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


def test_what_became_a_pipe_after_the_look_is_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    regular, pipe = tmp_path / "a.json", special("pipe", tmp_path)
    regular.write_text("{}")
    before = regular.stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: before)
    with pytest.raises(ConfigError, match="is not a regular file"):
        read_bytes(pipe, "configuration")


def test_a_servers_files_are_its_script_and_what_lies_beside_it(tmp_path: Path) -> None:
    for name in ("server.py", "tools.py", "notes.txt"):
        (tmp_path / name).write_text("")
    spec = ServerSpec("s", "python3", (str(tmp_path / "server.py"), "--port", "1"))
    assert server_files(spec) == [tmp_path / "server.py", tmp_path / "tools.py"]
    assert server_files(ServerSpec("s", "python3", ("server.py",), cwd=str(tmp_path))) == server_files(spec)
    assert server_files(ServerSpec("s", listing=str(tmp_path / "a.json"))) == [tmp_path / "a.json"]
    assert server_files(ServerSpec("s", "npx", ("-y", "@scope/server"))) == []


def test_a_change_is_told_once_and_only_when_it_is_over(tmp_path: Path) -> None:
    file, other = tmp_path / "server.py", tmp_path / "tools.py"
    file.write_text("one")

    def look() -> State:
        return file_state(tmp_path.glob("*.py"))

    looks = Looks(look())
    assert not looks.changed(look())
    file.write_text("one and")
    assert not looks.changed(look())
    file.write_text("one and more")
    assert [looks.changed(look()) for _ in range(3)] == [False, True, False]
    other.write_text("new")
    assert [looks.changed(look()) for _ in range(3)] == [False, True, False]
    other.unlink()
    assert [looks.changed(look()) for _ in range(3)] == [False, True, False]


def test_a_file_that_goes_while_it_is_looked_at_is_no_error(tmp_path: Path) -> None:
    assert file_state([tmp_path / "gone.py"]) == {}
