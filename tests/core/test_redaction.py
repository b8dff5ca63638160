"""Secrets stay out of the record, and harmless text stays in it."""

import json
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.events import CallStarted, ModelResponded, TurnEnded
from inspector.core.message import ToolCall
from inspector.core.redaction import Redactor
from inspector.core.secret_value import MARKER, Secrets
from tests.core.test_event import json_values

SECRETS = {
    "github.GITHUB_TOKEN": "tiger2",
    "shop.SHOP_PASSWORD": 'quo"te/and space',
    "mail.Authorization": "Bearer abcd-efgh-1234",
    "db.DSN": "postgres://me:pw99@db/x",
    "app.OPAQUE": "zX9-opaque-value",
}
NOTHING_KNOWN = Redactor({})
REDACTOR = Redactor(SECRETS)
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"


def test_names_of_numbers_are_read_once_and_again_when_a_secret_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets, read, text = Secrets({}), Mock(), Redactor.text
    redactor = Redactor(secrets)
    monkeypatch.setattr(Redactor, "text", lambda self, given: (read(given), text(self, given))[1])
    for number in range(100):
        assert redactor.value(numbers := {"zX9-opaque-value": number, "tf": 1.0}) is numbers
    assert read.call_count == 2
    secrets.learn({"app.OPAQUE": "zX9-opaque-value"})
    assert redactor.value(numbers) == {"[redacted app.OPAQUE]": 99, "tf": 1.0}


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("push with tiger2!", "push with [redacted github.GITHUB_TOKEN]!"),
        ('pw is quo"te/and space', "pw is [redacted shop.SHOP_PASSWORD]"),
        (json.dumps({"pw": 'quo"te/and space'}), '{"pw": "[redacted shop.SHOP_PASSWORD]"}'),
        ("?p=quo%22te%2Fand%20space", "?p=[redacted shop.SHOP_PASSWORD]"),
        ("sent Bearer abcd-efgh-1234", "sent [redacted mail.Authorization]"),
        ("sent abcd-efgh-1234 alone", "sent [redacted mail.Authorization] alone"),
        ("at postgres://me:pw99@db/x", "at [redacted db.DSN]"),
        ("zX9-opaque-value", "[redacted app.OPAQUE]"),
    ],
)
def test_a_known_secret_is_replaced_by_its_name(text: str, redacted: str) -> None:
    assert REDACTOR.text(text) == redacted


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-Abc123Def456Ghi789",
        "sk-ant-api03-AbCdEfGh12345678",
        "sk_live_51HxyzABCdef",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "gho_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
        "glpat-abcDEF123456ghiJKL78",
        "xoxb-123456789012-abcdefGHIJKL",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA-1234567890abcdefghijklmnopqrstu",
        "xoxc-123456789012-abcdefGHIJKL",
        "xapp-1-A0123456789-abcdef",
        "hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh",
        "npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
        "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDAAAIqW",
        JWT,
        PEM,
        PEM.replace("\n", "\\n"),
    ],
)
def test_what_looks_like_a_credential_is_replaced_without_being_known(secret: str) -> None:
    assert NOTHING_KNOWN.text(f"It is {secret}, keep it.") == f"It is {MARKER}, keep it."


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer abc123def", "Authorization: Bearer [redacted]"),
        ("AUTHORIZATION=Basic dXNlcjpwYXNz", "AUTHORIZATION=Basic [redacted]"),
        ('"authorization": "Basic dXNlcjpwYXNz"', '"authorization": "[redacted]"'),
        ("curl -H 'Bearer AbCdEf123456=='", "curl -H 'Bearer [redacted]'"),
        ("mysql://root:hunter2@db:3306/x", "mysql://[redacted]@db:3306/x"),
        (
            "https://api.example.com/v1?q=a&api_key=hunter2#x",
            "https://api.example.com/v1?q=a&api_key=[redacted]#x",
        ),
        ('{"user": "me", "password": "hun\\"ter"}', '{"user": "me", "password": "[redacted]"}'),
        (r'{"body": "{\"client_secret\": \"hunter2\"}"}', r'{"body": "{\"client_secret\": \"[redacted]\"}"}'),
    ],
)
def test_a_credential_in_its_usual_surroundings_is_replaced_alone(text: str, redacted: str) -> None:
    assert NOTHING_KNOWN.text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "Counts the tokens of a text and returns the token count.",
        "Pass the api_key parameter, or set a Bearer token in the Authorization header.",
        "Requires authorization: basic or bearer authentication.",
        "Returns a next_page_token: use it as page_token to get the next page.",
        'Example: {"token": "string", "key": "color", "sort_key": "name", "max_tokens": "4096"}',
        "Search the password manager for entries whose key matches.",
        "See https://example.com/docs?key=value&page=2 or git@github.com:a/b.git, ssh://git@host/x.",
        "sk-learn-style-estimators are supported; use scikit-learn's sk- prefix.",
        "The file must start with -----BEGIN PRIVATE KEY----- on its first line.",
        "production mode at http://localhost:8080/mcp",
        "task-force, disk-usage-monitor-for-kubernetes-v2",
    ],
)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert REDACTOR.text(text) is text


ASSIGNED = [
    "DB_PASSWORD={}",
    "export GITLAB_TOKEN='{}'",
    'AWS_SECRET_ACCESS_KEY="{}"',
    "DB_PASSWORD={} # local",
    "     3\u2192STRIPE_KEY={}",
    ".env:3:DB_PASSWORD={}",
    "+DB_PASSWORD={}",
    "docker run -e DB_PASSWORD={} postgres",
    "  - POSTGRES_PASSWORD={}",
    "POSTGRES_PASSWORD: {}",
    "password: {}",
    "    db_password: '{}',",
    'apiKey = "{}"',
    "SECRET_KEY = '{}'",
    "client_secret={}",
    "mysql --password={} shop",
    "host=db user=ada password={}",
    "//registry.npmjs.org/:_authToken={}",
    '$env:API_TOKEN="{}"',
    '{{"text": "A=1\\nDB_PASSWORD={}\\nB=2"}}',
    "{{'user': 'ada', 'password': '{}'}}",
]


@pytest.mark.parametrize("line", ASSIGNED)
@pytest.mark.parametrize(
    "secret", ["hunter2Secret9", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "pa55-w0rd!", "aB3/" * 400]
)
def test_the_value_of_a_secret_variable_is_replaced_wherever_files_and_commands_have_it(
    line: str, secret: str
) -> None:
    text = f"HOST=shop\n{line.format(secret)}\nPORT=80"
    assert NOTHING_KNOWN.text(text) == f"HOST=shop\n{line.format(MARKER)}\nPORT=80"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("The dbpass is hunter2-7e8f9a, list the tables.", "The dbpass is [redacted], list the tables."),
        ("my password is hunter2.", "my password is [redacted]."),
        ("The secret was: kq81Lq0x7", "The secret was: [redacted]"),
        ("Our API key is kq81Lq0x7!", "Our API key is [redacted]"),
        ("cookie: session=ck-0b1c2d\nok", "cookie: [redacted]\nok"),
        ("Set-Cookie: sid=ck-0b1c2d; Path=/; HttpOnly", "Set-Cookie: [redacted]; HttpOnly"),
    ],
)
def test_what_a_person_or_a_tool_says_that_a_secret_is_is_replaced(text: str, redacted: str) -> None:
    assert NOTHING_KNOWN.text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "The password is required, and the token is base64-encoded.",
        "Its secret is sha256 hashed. The primary key is user_id42, the key is kq81Lq0x7.",
        "The token is 32 bytes long, the password was wrong.",
        "cookie: a=b, cookies: 12",
    ],
)
def test_what_is_said_about_secrets_stays(text: str) -> None:
    assert NOTHING_KNOWN.text(text) is text


@pytest.mark.parametrize(
    "line", ["DB_PASSWORD=postgres", "DB_PASSWORD=12345678", "POSTGRES_PASSWORD: postgres"]
)
def test_a_plain_word_is_a_password_too_where_a_variable_says_so(line: str) -> None:
    assert "postgres" not in NOTHING_KNOWN.text(line).partition("PASSWORD")[2]
    assert NOTHING_KNOWN.text(line).endswith(MARKER)


@pytest.mark.parametrize(
    "text",
    [
        "the password: is asked for",
        "token: number",
        "Password: required.",
        "Token: a string that the server returns, such as abc123def.",
        "PASSWORD: must have 8 characters",
        "Tokens: 12,345 of 200,000",
        "tokens=15000, cached tokens: 13450k",
        "auth: OAuth2.1",
        "def login(user, password=None, token=token, api_key=settings.api_key2):",
        "    api_key = os.environ['API_KEY']",
        "    token: str = get_token(user1)",
        "    password: string;\n    apiKey: config.s3.apiKey,",
        "const token = tokens[0];",
        "API_KEY=$API_KEY run; API_KEY=${API_KEY} run; API_TOKEN=<your-token-1>; TOKEN=*** PASSWORD=xxxxxxxx",
        "API_KEY = settings.API_KEY",
        "SSH_AUTH_SOCK=/tmp/ssh-abc1/agent.1",
        "SSH_KEY=~/.ssh/id_ed25519",
        "MAX_TOKENS=4096 TOKENS=4096 AUTH_ENABLED=true TOKEN_URL=https://example.com/token1",
        "AUTHOR=Jane1234 MONKEYS: 3",
        "key=value1234 sort_key=name1234",
        "PRIMARY_KEY=id12345678",
        "See https://example.com/docs?page_token=abc123def",
    ],
)
def test_prose_code_and_references_stay_as_they_are(text: str) -> None:
    assert NOTHING_KNOWN.text(text) is text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIMEOUT_MS", "120000000"),
        ("LANG", "en_US.UTF-8"),
        ("GIT_AUTHOR", "Jane D"),
        ("MAX_TOKENS", "4096"),
        ("DEBUG_NAME", "short-1"),
    ],
)
def test_an_ordinary_setting_is_no_secret(name: str, value: str) -> None:
    text = f"It says {value} here."
    assert Redactor({f"my-token-server.{name}": value}).text(text) == text


@pytest.mark.parametrize(
    "name", ["GITHUB_TOKEN", "apiKey", "OPENAIKEY", "X-Auth", "Cookie", "DB_PASS", "oauthSecret"]
)
def test_a_secret_looking_name_makes_a_short_value_a_secret_where_it_stands_alone(name: str) -> None:
    assert Redactor({name: "abcd"}).text("abcd, xabcdx") == f"[redacted {name}], xabcdx"


def test_overlapping_secrets_leave_nothing_of_either() -> None:
    redactor = Redactor({"A_TOKEN": "abc1def", "B_TOKEN": "1defghi"})
    assert redactor.text("abc1defghi") == "[redacted A_TOKEN]"


def test_the_values_of_secret_keys_in_data_are_replaced() -> None:
    data = {"password": "hunter2", "nested": [{"apiKey": "x1", "auth_token": "y2"}], "text": "plain"}
    assert NOTHING_KNOWN.value(data) == {
        "password": MARKER,
        "nested": [{"apiKey": MARKER, "auth_token": MARKER}],
        "text": "plain",
    }


def test_a_schema_whose_property_is_called_token_is_kept() -> None:
    schema = {
        "type": "object",
        "properties": {
            "token": {"type": "string", "description": "The access token; see the api_key parameter."},
            "password": {"type": "string", "default": ""},
        },
        "required": ["token", "password"],
    }
    assert REDACTOR.value(schema) is schema


def test_data_that_only_sounds_secret_is_kept() -> None:
    data = {
        "key": "color",
        "issue_key": "P-1",
        "nextPageToken": "CAUQAA",
        "tokens": 12,
        "auth": "oauth2",
        "password": None,
    }
    assert REDACTOR.value(data) is data


def test_an_event_is_redacted_however_deep_the_secret_sits() -> None:
    call = ToolCall("c", "a__b", {"headers": [{"x": "tiger2"}]})
    event = ModelResponded(1, "done", (call,))
    expected = replace(call, arguments={"headers": [{"x": "[redacted github.GITHUB_TOKEN]"}]})
    assert REDACTOR.event(event) == ModelResponded(1, "done", (expected,))


fragments = st.sampled_from(
    [
        *SECRETS.values(),
        "tiger",
        "2",
        " ",
        "://",
        "u:p@",
        "[redacted",
        "]",
        MARKER,
        "[redacted github.GITHUB_TOKEN]",
        "Bearer ",
        "Authorization: ",
        "abc123def",
        '"password": "',
        '"',
        '\\"',
        "\\",
        "sk-",
        "sk-abcdefgh1234567890",
        *(PEM, JWT, "ghp_", "?token=", "AKIAIOSFODNN7EXAMPLE", "\n"),
        *("dbpass is ", "hunter2", "cookie: session=", "; a=b"),
        *("DB_PASSWORD=", "password: ", "\\n", "hunter2Secret9", "'", "="),
    ]
)
patchworks = st.lists(fragments | st.text(max_size=3), max_size=12).map("".join)


@given(
    st.dictionaries(st.sampled_from(["password", "key", "api_key"]) | patchworks, patchworks | json_values)
)
def test_redacting_data_twice_changes_nothing_more(data: dict[str, Any]) -> None:
    once = REDACTOR.value(data)
    assert REDACTOR.value(once) == once


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=12), max_size=4), patchworks)
def test_any_secrets_and_any_text_are_settled_after_one_pass(secrets: dict[str, str], text: str) -> None:
    redactor = Redactor(secrets)
    once = redactor.text(text + "".join(secrets.values()))
    assert redactor.text(once) == once


def test_a_password_that_is_an_ordinary_word_leaves_what_only_has_a_few_values() -> None:
    redactor = Redactor({"db.PASSWORD": "model", "db.SECRET": "answered"})
    assert redactor.event(CallStarted("c", "a:b", {"text": "model"})) == CallStarted(
        "c", "a:b", {"text": "[redacted db.PASSWORD]"}, "model"
    )
    assert redactor.event(TurnEnded("answered", "ok")) == TurnEnded("answered", "ok")
