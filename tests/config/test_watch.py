"""Files of a server under work: which they are, and when they have changed."""

from pathlib import Path

from inspector.config.file import Looks, State, file_state, server_files
from inspector.core.server import ServerSpec


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
