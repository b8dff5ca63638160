"""What is wrong with a server's command, in words that say what to do."""

import pytest

from inspector.core.server import ServerSpec
from inspector.mcp.client.process import container_hint, windows_hint


def spec(command: str, *args: str) -> ServerSpec:
    return ServerSpec("s", command=command, args=args)


@pytest.mark.parametrize(
    ("command", "args", "hint"),
    [
        ("cmd", ("/c", "npx", "-y", "x"), "Write `npx` as its command here, without `cmd /c`."),
        ("CMD.EXE", ("/d", "/C", "uvx", "x"), "Write `uvx` as its command here, without `cmd /c`."),
        ("C:\\Program Files\\nodejs\\npx.cmd", (), "Write `npx` as its command here."),
        ("npx", ("-y", "x"), ""),
        ("cmd", (), ""),
        ("./server", ("/c",), ""),
    ],
)
def test_a_command_line_of_windows_is_told_from_a_missing_command(
    command: str, args: tuple[str, ...], hint: str
) -> None:
    assert windows_hint(spec(command, *args)) == hint


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("docker run -e TOKEN mcp/gitlab", True),
        ("/usr/bin/podman container run --rm x", True),
        ("docker run -i x", False),
        ("docker run -it --rm x", False),
        ("node run", False),
    ],
)
def test_a_container_without_input_is_told_what_it_lacks(line: str, is_told: bool) -> None:
    command, *args = line.split()
    assert ("needs `-i`" in container_hint(spec(command, *args))) is is_told
