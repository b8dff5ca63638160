"""Keys on command lines and in addresses are found, and what only stands there is not."""

import shlex

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import target, without_secrets
from inspector.core.argument_secret import looks_random, secrets_among, secrets_of_address
from inspector.core.server import ServerSpec

UUID = "550e8400-e29b-41d4-a716-446655440000"


def _found(words: list[str]) -> list[tuple[str, str]]:
    return [(one.name, words[one.word][one.start : one.end]) for one in secrets_among(words)]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("server.py pos9K2f81Lq0x", [("key 1", "pos9K2f81Lq0x")]),
        ("server ZZPOSKEY0001", [("key 1", "ZZPOSKEY0001")]),
        ("server -k kay", [("key", "kay")]),
        ("server --api-key tiger", [("api-key", "tiger")]),
        ("server --token=tiger --verbose", [("token", "tiger")]),
        (
            "docker run -e GITHUB_TOKEN=tiger -eA_KEY=lion image",
            [("GITHUB_TOKEN", "tiger"), ("A_KEY", "lion")],
        ),
        ("npx -y mcp-remote https://a.b/c --header 'X-Api-Key: tiger'", [("X-Api-Key", "tiger")]),
        ("npx mcp-remote https://a.b/c --header=Authorization:tiger", [("Authorization", "tiger")]),
        ("env API_TOKEN=tiger server", [("API_TOKEN", "tiger")]),
        ("sh -c 'server --password tiger'", [("password", "tiger")]),
        ("server postgres://me:tiger@db/x", [("password", "tiger")]),
        (
            "server --url https://a.b/hook/B12ab34cd/mcp?token=tiger",
            [("key", "B12ab34cd"), ("token", "tiger")],
        ),
        (
            "server --project 550e8400-e29b-41d4-a716-446655440000",
            [("key 2", "550e8400-e29b-41d4-a716-446655440000")],
        ),
    ],
)
def test_a_key_is_found_behind_its_option_in_an_assignment_or_by_its_looks(
    command: str, found: list[tuple[str, str]]
) -> None:
    assert _found(shlex.split(command)) == found


@pytest.mark.parametrize(
    "command",
    [
        "npx -y @scope/server-abc123def@1.2.3 stdio",
        "npx -y auth0-b2c3d4e5f6 --port 8080",
        "uvx mcp-server-sqlite==2025.4.25 --db-path ./test1234abcd5678.db",
        "docker run -i --rm -v /Users/x/a1b2c3d4e5:/data -p 8080:80 ghcr.io/org/image:v1.2.3",
        "python -m package.module2 --model gpt-4o-2024-08-06 --revision main",
        "server --encoder all-MiniLM-L6-v2 --region us-east-1 --since 2024-01-02T03:04:05Z",
        "server Qwen2.5-Coder-7B-Instruct-Q4_K_M x86_64-linux localhost:3000 v1.2.3-beta.4",
        "server --encoding ISO8859 --tool fetchPage2 --also listAllThings12 MiniLM-v2-1234",
        "curl -k",
    ],
)
def test_packages_paths_models_dates_and_versions_are_no_keys(command: str) -> None:
    assert _found(shlex.split(command)) == []


def test_an_address_is_searched_part_by_part() -> None:
    address = "https://me:pw@h:9/v1/pth5d6e7f81a2b?page=2&api_key=qry&x=8b9c0dfa1#t0kenAB12cd"
    found = [address[one.start : one.end] for one in secrets_of_address(address)]
    assert found == ["pw", "pth5d6e7f81a2b", "qry", "8b9c0dfa1", "t0kenAB12cd"]


def test_a_server_knows_every_value_that_it_is_passed_whatever_their_names() -> None:
    spec = ServerSpec(
        "s",
        "server",
        ("--token", "one-1", "--token", "two-2", "-e", "REF=three-3"),
        env={"A_KEY": "four-4", "HOOK": "https://h/fi5e5ve7x%2D9"},
        headers={"Cookie": "sid=six-6; theme=seven-7"},
    )
    given = {"one-1", "two-2", "three-3", "four-4", "fi5e5ve7x%2D9", "fi5e5ve7x-9", "six-6", "seven-7"}
    assert given <= set(spec.secrets.values())


def test_people_read_a_command_and_an_address_without_their_keys() -> None:
    words = shlex.split("server pos9K2f81Lq0x -k kay -e MODE=stdio -e A_KEY=1 --token=x")
    assert shlex.join(without_secrets(words)).replace("'", "") == (
        "server *** -k *** -e MODE=stdio -e A_KEY=*** --token=***"
    )
    assert target(ServerSpec("s", url="https://me:pw@h/v1/pth5d6e7f81a2b?token=q")) == "https://h/v1/***"


@given(st.lists(st.text(max_size=12), max_size=6))
def test_any_command_is_read_and_what_is_found_lies_within_its_words(words: list[str]) -> None:
    for one in secrets_among(words):
        assert 0 <= one.start <= one.end <= len(words[one.word])
    assert len(without_secrets(words)) == len(words)


@given(st.text(max_size=40))
def test_what_looks_random_has_letters_and_digits_and_no_blank(text: str) -> None:
    if looks_random(text):
        assert any(map(str.isdecimal, text))
        assert any(map(str.isalpha, text))
        assert not any(map(str.isspace, text))
