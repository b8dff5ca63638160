"""Configuration files that cannot be read: what is wrong, where, and what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.config import file
from inspector.config.file import MEGABYTE
from inspector.config.reader import read
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec

SERVER: dict[str, Any] = {"command": "x"}


def refused(path: Path, **more: Any) -> ConfigError:
    with pytest.raises(ConfigError) as raised:
        read(path, environment={"HOME": "/home/me", "API_KEY": "k"}, **more)
    assert str(path) in raised.value.message
    assert raised.value.hint
    return raised.value


def refused_content(folder: Path, content: object) -> str:
    path = folder / "c.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    error = refused(path)
    return error.message.removeprefix(str(path)) + " | " + error.hint


def found(folder: Path, content: object) -> tuple[ServerSpec, ...]:
    path = folder / "c.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return read(path, environment={"HOME": "/home/me", "API_KEY": "k"}).servers


def advice(folder: Path, content: object) -> str:
    """What the only server says that it lacks."""
    (spec,) = found(folder, content)
    assert spec.lacks
    return spec.advice


def own(**server: Any) -> dict[str, Any]:
    return {"tool_discovery": {}, "mcpServers": {"s": {**SERVER, **server}}}


def discovery(**section: Any) -> dict[str, Any]:
    return {"tool_discovery": section, "mcpServers": {"s": SERVER}}


def toolset(rule: Any, server: str = "weather") -> dict[str, Any]:
    return {"mcpServers": {"weather": SERVER}, "tool_sets": {"t": {"servers": {server: rule}}}}


@pytest.mark.parametrize(
    ("content", "place", "hint"),
    [
        ('{"a": 1,\n "b": }', ":2:7: expecting value", "plain JSON"),
        ('{\n  // note\n  "a": 1\n  "b": 2\n}', ":4:3: expecting ',' delimiter", "plain JSON"),
        ('{"a": [1, 2', ":1:12:", "plain JSON"),
        ("{'a': 1}", ":1:2:", "double quotes"),
        ('{"a": NaN}', "NaN is not JSON", "configuration"),
        ('{"a": 1} x', ":1:10: extra data", "plain JSON"),
    ],
)
def test_a_syntax_error_is_told_with_line_and_column(
    tmp_path: Path, content: str, place: str, hint: str
) -> None:
    told = refused_content(tmp_path, content)
    assert place in told
    assert hint in told


def server(**entry: Any) -> dict[str, Any]:
    return {"mcpServers": {"s": entry}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # No server is usable.
        ("", "is empty"),
        ("{}", "has no servers"),
        ({"mcpServer": {"s": SERVER}}, "Did you mean `mcpServers` instead of `mcpServer`?"),
        (server(command="x", disabled=True), "every server is disabled"),
        ({"mcpServers": []}, "mcpServers must be an object, not a list"),
        ({"servers": {"s": {"command": 1}}}, "servers.s.command must be a string, not a number"),
        ('{"mcpServers": {"s": {"command": "x"}, "s": {"command": "y"}}}', "s appears twice"),
        ("[" * 100_000, "nested too deeply"),
        # A key or a value is wrong.
        (discovery(max_search_result=3), "Did you mean `max_search_results`?"),
        (discovery(max_search_results=0), "max_search_results must be greater than or equal to 1"),
        (discovery(max_search_results=True), "must be a whole number, not true or false"),
        (discovery(enabled="yes"), "Write true or false without quotes."),
        (own(comand="y"), "mcpServers.s.comand is not a known key | Did you mean `command`?"),
        (own(defer_loading=True, deferLoading=True), "Did you mean `defer_loading`?"),
        (own(args="-v"), "mcpServers.s.args must be a list, not a string | Write a list in brackets"),
        (own(connect_timeout=0), "mcpServers.s.connect_timeout must be greater than 0, not 0"),
        (own(era="future"), "mcpServers.s.era must be 'legacy', '2026-07-28' or 'auto'"),
        (own(era="future", args=1), "(and 1 more)"),
        (own(phrase={}), "mcpServers.s.phrase is not a known key | Did you mean `phrases`?"),
        (own(phrases=["a"]), "mcpServers.s.phrases must be an object, not a list"),
        (own(phrases={"a": 1}), "mcpServers.s.phrases.a must be a string, not a number"),
        (own(phrases={"a": " "}), "mcpServers.s.phrases has an empty text | Write what people say, and what"),
        (own(phrases={"\n\a": "a"}), "mcpServers.s.phrases has an empty text"),
        (own(phrases={"": "a"}), "mcpServers.s.phrases has an empty text"),
        (own(phrases={"a": "long " * 41}), "phrases has “long long long long long long long long…”, 204"),
        (
            own(phrases={"b" * 201: "a"}),
            "201 characters long | Write what people say, and what it means: 1 to 200",
        ),
        (own(phrases={str(n): "a" for n in range(501)}), "phrases has 501 phrases, and may have 500 | Keep"),
        # So is a toolset.
        (toolset(True, "wether"), "servers.wether is not a configured server | Did you mean `weather`?"),
        (toolset(True, "zzz"), "Known: weather."),
        (toolset(False), "tool_sets.t.servers.weather must be true"),
        (toolset({"include": ["a"], "exclude": ["b"]}), "either include or exclude"),
        ({"mcpServers": {"s": SERVER}, "tool_sets": {"t": {}}}, "tool_sets.t.servers is missing"),
        # A server cannot be started.
        (server(command="x", url="http://a"), "mcpServers.s has both command and url"),
        (server(), "mcpServers.s has neither command nor url"),
        (server(comand="x"), "Is `comand` a misspelling?"),
        (server(command="${NO:-}"), "mcpServers.s.command is empty after its variables are expanded"),
        (server(command="${command:pick.one}"), "only an editor can fill in ${command:pick.one}"),
        (server(command="x", type="http"), "mcpServers.s.type is http, which needs a url"),
        (server(url="ftp://a/b"), "mcpServers.s.url is not an http or https URL"),
        (server(url="http://a/\n"), "is not an http or https URL"),
        (server(url="http://a", headers={"X": "a\r\nY: b"}), "mcpServers.s.headers.X is not a valid header"),
        (server(command="x", args=["a\0b"]), "mcpServers.s.args[0] has a character"),
        (server(command="x", env={"A=B": "c"}), "mcpServers.s.env.A=B is not a valid variable name"),
        *(
            ({"mcpServers": {name: SERVER}}, "is not a valid server name")
            for name in ("", " ", "a:b", "a\nb", "\u202eab")
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(
    tmp_path: Path, content: object, expected: str
) -> None:
    assert expected in refused_content(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (server(command="x", env={"K": "${API_KYE}"}), "Did you mean API_KEY?"),
        (server(command="${env:NOPE}"), "mcpServers.s.command: the variable NOPE is not set"),
        (server(url="http://${NOPE}/"), "mcpServers.s.url: the variable NOPE"),
        (server(url="http://a", headers={"A": "${input:key}"}), "s.headers.A: the input key has no value"),
    ],
)
def test_a_missing_variable_is_told_with_its_server_and_key(
    tmp_path: Path, content: object, expected: str
) -> None:
    assert expected in advice(tmp_path, content)


def test_a_server_that_lacks_a_value_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    lacking, healthy = found(
        tmp_path, {"mcpServers": {"s": {"command": "x", "env": {"K": "${MY_TOKEN}"}}, "t": {"command": "y"}}}
    )
    assert (lacking.name, lacking.lacks) == ("s", "MY_TOKEN")
    assert (healthy.name, healthy.lacks) == ("t", "")


def test_a_secret_value_is_not_repeated_in_an_error(tmp_path: Path) -> None:
    content = {"tool_discovery": {}, "mcpServers": {"s": {"command": ["hunter2"], "env": {"A": ["hunter2"]}}}}
    assert "hunter2" not in refused_content(tmp_path, content)


@pytest.mark.parametrize(
    ("name", "told"),
    [("nope.json", "does not exist"), (".", "is a folder"), ("file/c.json", "cannot be read")],
)
def test_what_is_no_file_is_told_as_what_it_is(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert told in refused(tmp_path / name).message


def test_a_huge_file_is_refused_before_it_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "MAX_BYTES", MEGABYTE)
    path = tmp_path / "c.json"
    path.write_bytes(b" " * (1024 * 1024 + 1))
    assert "larger than 1 MB" in refused(path).message


def test_an_input_without_a_value_is_told_with_its_description(tmp_path: Path) -> None:
    content = {
        "inputs": [{"id": "key", "type": "promptString", "description": "The API key"}],
        "servers": {"s": {"command": "${input:key}"}},
    }
    assert "servers.s.command: the input key (The API key) has no value" in advice(tmp_path, content)
