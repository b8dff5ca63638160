"""Which values are secrets, in settings and in the arguments of a command."""

import shlex
import string

import pytest
from hypothesis import example, given, strategies as st

from inspector.config.configuration import target, without_secrets
from inspector.core.argument_secret import looks_random, secrets_among, secrets_of_address
from inspector.core.redaction import Redactor
from inspector.core.secret_value import MARKER, Secrets, is_secret, looks_secret
from inspector.core.server import ServerSpec

NAMES = ["API_TOKEN", "X-Api-Key", "DB_PASSWORD", "dbpass", "Cookie", "MODE", "WORKSPACE", "REGION_ID"]
COMMON = [
    *("", "1", "0", "42", "8080", "12345", "true", "False", "yes", "none", "test", "TEST", "admin", "demo"),
    *("abc", "local", "production", "latest", "postgres", "a", "ok", "key", "token", "password", "Bearer"),
    *("/usr/local/bin", "~/.ssh/id_ed25519", "./data", "/tmp", "/srv/x/key.json", "C:\\keys\\a.pem"),
    *("https://example.com/api", "http://localhost:8080/mcp"),
]
PROSE = [
    "Runs a test with 1 of 8080 tokens, 42 keys and the password of an admin.",
    "true or false, yes or none; abc, local, ok",
    "/usr/local/bin/node reads ~/.ssh/id_ed25519, ./data and /srv/x/key.json from C:\\keys\\a.pem",
    "See https://example.com/api on http://localhost:8080/mcp, the latest in production.",
]


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(COMMON)), st.sampled_from(PROSE))
def test_no_common_value_is_ever_replaced_in_ordinary_text(secrets: dict[str, str], text: str) -> None:
    assert Redactor(secrets).text(text) is text


random_values = st.builds(
    "{}{}{}".format,
    st.text(string.ascii_letters, min_size=4, max_size=20),
    st.integers(min_value=10, max_value=99_999),
    st.text(string.ascii_letters + string.digits + "-_.~+/=!&<'\"", min_size=4, max_size=20),
)
surroundings = st.text(string.ascii_letters + string.digits + string.punctuation + " \n", max_size=12)


@given(st.sampled_from(NAMES), random_values, surroundings, surroundings)
def test_no_other_value_survives_anywhere_in_any_form(name: str, value: str, before: str, after: str) -> None:
    if not is_secret(name, value):
        return
    secrets = Secrets({name: value})
    for form in secrets.anywhere:
        assert value not in Redactor(secrets).text(f"{before}{form}{after}")
        assert form not in Redactor(secrets, named=False).text(f"{before}{form}{after}")


def test_what_is_learned_later_is_replaced_by_everybody_who_shares_the_secrets() -> None:
    secrets = Secrets()
    redactor, row = Redactor(secrets), ("wsp-93fA71cd", *map(str, range(60)))
    assert (redactor.text("wsp-93fA71cd"), redactor.value(row)) == ("wsp-93fA71cd", row)
    secrets.learn({"a.REF": "wsp-93fA71cd"})
    assert redactor.text("wsp-93fA71cd") == redactor.value(row)[0] == "[redacted a.REF]"
    secrets.forget()
    assert redactor.text("wsp-93fA71cd") == "wsp-93fA71cd"


def test_who_may_not_know_the_servers_is_told_no_name() -> None:
    assert Redactor({"hidden.API_KEY": "kq81Lq0x7"}, named=False).text("kq81Lq0x7") == MARKER


@pytest.mark.parametrize("inside", ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "kq81Lq0x7"])
def test_a_server_that_writes_a_marker_itself_hides_no_secret_in_it(inside: str) -> None:
    assert Redactor({"API_KEY": "kq81Lq0x7"}).text(f"See [redacted {inside}].") == f"See {MARKER}."


@pytest.mark.parametrize("name", ["dbpass", "DB_PWD", "mypwd", "ROOTPASS", "sudo_pass"])
def test_a_word_that_ends_like_a_password_names_one(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["GIT_ASKPASS", "bypass", "COMPASS_SIZE", "surpass", "PASSAGE"])
def test_a_word_that_only_sounds_like_a_password_names_none(name: str) -> None:
    assert not looks_secret(name)


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
@example("::;?????")
@example("0000000;")
def test_what_looks_random_has_letters_and_digits_and_no_blank(text: str) -> None:
    if looks_random(text):
        assert any(map(str.isdecimal, text))
        assert any(map(str.isalpha, text))
        assert not any(map(str.isspace, text))
