"""What the planner makes of bound tools when there is nothing to search with."""

from typing import Any

import pytest

from inspector.core.message import ModelReply, ModelRequest, UserMessage
from inspector.features.demo.planner import decide
from inspector.features.demo.reading import split

Entry = dict[str, Any]
_PATH: Entry = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
_FILES = {
    "read_text_file": "Read the complete contents of a file from the file system as text.",
    "list_directory": "Get a detailed listing of all files and directories in a specified path.",
    "create_directory": "Create a new directory or ensure a directory exists.",
    "get_file_info": "Retrieve detailed metadata about a file or directory, such as its size.",
}


def entry(name: str, about: str, parameters: Entry) -> Entry:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


TOOLS = tuple(entry(f"disk__{name}", about, _PATH) for name, about in _FILES.items())
_URL: Entry = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
BROWSER = (
    entry("web__navigate", "Navigate to a URL", _URL),
    entry("web__navigate_back", "Go back to the previous page in the history", {"type": "object"}),
)


def reply_to(said: str, tools: tuple[Entry, ...]) -> ModelReply:
    return decide(ModelRequest(system="", messages=(UserMessage(said),), tools=tools, max_output=1_000))


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("list the files in /srv/reports", "list_directory"),
        ("show me what's in /srv/reports", "list_directory"),
        ("read /srv/reports/may.txt", "read_text_file"),
        ("create a folder /srv/reports", "create_directory"),
    ],
)
def test_a_bound_tool_is_called_that_a_search_would_find(said: str, tool: str) -> None:
    (call,) = reply_to(said, TOOLS).tool_calls
    assert call.name == f"disk__{tool}"
    assert call.arguments == {"path": said.split()[-1]}


def test_a_request_is_split_before_a_verb_and_its_path() -> None:
    said = "list the files in /srv and then read /srv/may.txt, and move b.txt there"
    assert split(said) == ("list the files in /srv", "read /srv/may.txt", "move b.txt there")


def test_what_no_bound_tool_is_for_is_not_called() -> None:
    assert not reply_to("book a table for two tonight", TOOLS).tool_calls


def test_an_address_is_not_for_a_tool_that_takes_nothing() -> None:
    (call,) = reply_to("go to https://example.com", BROWSER).tool_calls
    assert (call.name, call.arguments) == ("web__navigate", {"url": "https://example.com"})
