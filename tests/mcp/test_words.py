"""What is wrong with a server or its configuration, in words that say what to do."""

from typing import Any

import pytest

from inspector.core.server import ServerSpec
from inspector.mcp.client.process import container_hint
from inspector.mcp.client.translate import SKIPPED, with_valid_tools

OBJECT = {"type": "object"}
WRONG: dict[str, tuple[Any, str]] = {
    "no schema": ({"name": "a"}, "inputSchema is missing"),
    "text as schema": ({"name": "a", "inputSchema": "x"}, "inputSchema is not an object"),
    "no type": ({"name": "a", "inputSchema": {}}, "inputSchema.type is missing"),
    "other type": ({"name": "a", "inputSchema": {"type": "string"}}, "inputSchema.type is not 'object'"),
    "number as description": (
        {"name": "a", "inputSchema": OBJECT, "description": 5},
        "description is not a string",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_a_tool_is_said_in_words(wrong: str) -> None:
    tool, words = WRONG[wrong]
    page = with_valid_tools({"tools": [tool]}, "2025-06-18")
    assert [reason for _, reason in page["_meta"][SKIPPED]] == [words]


def spec(command: str, *args: str) -> ServerSpec:
    return ServerSpec("s", command=command, args=args)


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
