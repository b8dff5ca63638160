"""Copying: the first program that works, and the truth about where the text is."""

import stat
from pathlib import Path

import pytest

from inspector.app.opening import SystemClipboard


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder of programs that write what they are given to a file of their name."""
    return tmp_path


def program(folder: Path, name: str, *, fails: bool = False) -> None:
    path = folder / name
    end = "exit 1" if fails else f"/bin/cat > {folder}/{name}.copied"
    path.write_text(f"#!/bin/sh\n{end}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_copy_is_on_the_clipboard_of_the_desktop(programs: Path) -> None:
    program(programs, "xclip")
    program(programs, "tmux")
    clipboard = SystemClipboard({"PATH": str(programs), "DISPLAY": ":0", "TMUX": "x"})
    assert clipboard.copy("späte Bestellungen \ud800") == "the clipboard"
    assert (programs / "xclip.copied").read_text() == "späte Bestellungen ?"
    assert not (programs / "tmux.copied").exists()


def test_inside_tmux_without_a_desktop_it_is_in_its_buffer(programs: Path) -> None:
    program(programs, "xclip")
    program(programs, "tmux")
    assert "prefix ]" in SystemClipboard({"PATH": str(programs), "TMUX": "x"}).copy("a")
    assert (programs / "tmux.copied").read_text() == "a"


def test_a_program_that_fails_copied_nothing(programs: Path) -> None:
    program(programs, "xclip", fails=True)
    assert SystemClipboard({"PATH": str(programs), "DISPLAY": ":0"}).copy("a") == ""
    assert SystemClipboard({"PATH": str(programs)}).copy("a") == ""
