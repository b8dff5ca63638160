"""Copying: the first program that works, and the truth about where the text is."""

import stat
from pathlib import Path

import pytest

from inspector.app.opening import SystemClipboard


def program(folder: Path, name: str, end: str = "") -> None:
    """A program that writes what it is given to a file of its name, unless it ends in another way."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{end or f'/bin/cat > {folder}/{name}.copied'}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("variables", "where", "by"),
    [
        ({"DISPLAY": ":0", "TMUX": "x"}, "the clipboard", "xclip"),
        ({"TMUX": "x"}, "tmux (paste with prefix ])", "tmux"),
        ({}, "", ""),
    ],
)
def test_a_text_is_copied_with_the_first_program_that_works_here(
    tmp_path: Path, variables: dict[str, str], where: str, by: str
) -> None:
    for name in ("xclip", "tmux"):
        program(tmp_path, name)
    assert SystemClipboard({"PATH": str(tmp_path), **variables}).copy("späte \ud800") == where
    copied = {path.name: path.read_text() for path in tmp_path.glob("*.copied")}
    assert copied == ({f"{by}.copied": "späte ?"} if by else {})


def test_a_program_that_fails_copied_nothing(tmp_path: Path) -> None:
    program(tmp_path, "xclip", "exit 1")
    assert SystemClipboard({"PATH": str(tmp_path), "DISPLAY": ":0"}).copy("a") == ""
