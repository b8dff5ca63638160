"""A secret is kept out wherever it stands, and ordinary text keeps the values that only look like one."""

import string

import pytest
from hypothesis import given, strategies as st

from inspector.core.redaction import Redactor
from inspector.core.secret_value import MARKER, Secrets, is_secret, looks_secret

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


@given(st.sampled_from(NAMES[:5]), st.sampled_from(["tiger", "Violet", "887766", "a1b2", "eu-west"]))
def test_a_short_or_plain_value_is_replaced_only_where_it_stands_alone(name: str, value: str) -> None:
    redactor = Redactor({name: value})
    assert redactor.text(f"It is {value}.") == f"It is [redacted {name}]."
    for inside in (f"x{value}", f"{value}s", f"a{value}b", f"_{value}", f"{value}1"):
        assert redactor.text(inside) is inside


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


def test_a_marker_of_an_earlier_process_stays_as_it_is() -> None:
    text = "?token=[redacted shop.SERVICE_TOKEN]&page=2"
    assert Redactor({}).text(text) is text


@pytest.mark.parametrize("name", ["dbpass", "DB_PWD", "mypwd", "ROOTPASS", "sudo_pass"])
def test_a_word_that_ends_like_a_password_names_one(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["GIT_ASKPASS", "bypass", "COMPASS_SIZE", "surpass", "PASSAGE"])
def test_a_word_that_only_sounds_like_a_password_names_none(name: str) -> None:
    assert not looks_secret(name)


def test_a_scheme_is_no_part_of_the_secret_and_a_common_word_behind_it_is_none() -> None:
    assert Redactor({"Authorization": "Bearer kq81Lq0x7"}).text("kq81Lq0x7") == "[redacted Authorization]"
    assert Redactor({"Authorization": "Bearer demo"}).text("a demo of demos") == "a demo of demos"
