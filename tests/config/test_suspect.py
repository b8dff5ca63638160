"""What is not what it seems is recognised however it is spelled, and ordinary names are not."""

import pytest

from inspector.config.configuration import Configuration
from inspector.config.consent import describe
from inspector.config.suspect import lookalikes, metadata_address, resembled
from inspector.core.report import Fact
from inspector.core.server import ServerSpec
from inspector.mcp.elicitation import FormRequest, address, form_fields, form_warnings

METADATA = [
    *("169.254.169.254", "169.254.170.2", "2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518"),
    *("100.100.100.200", "[::ffff:169.254.169.254]", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe"),
    *("2002:a9fe:a9fe::", "fd00:ec2::254", "fe80::1%eth0", "metadata.google.internal"),
    *("METADATA.google.internal.", "169.254.169.254.nip.io", "x-169-254-169-254.sslip.io"),
    *("１６９.254.169.254", "169%2e254.169.254", "168.63.129.16", "192.0.0.192"),
]
ORDINARY = [
    *("localhost", "127.0.0.1", "::1", "10.0.0.1", "169.253.1.1", "8.8.8.8", "api.example.com", "1", "443"),
    *("metadata.example.com", "my-169-254-1-1.example.com", "shop", "127.0.0.1.nip.io"),
]


@pytest.mark.parametrize("host", METADATA)
def test_a_metadata_address_is_recognised_however_it_is_written(host: str) -> None:
    assert metadata_address(host)


@pytest.mark.parametrize("host", ORDINARY)
def test_an_ordinary_host_is_no_metadata_address(host: str) -> None:
    assert not metadata_address(host)


def marked(spec: ServerSpec) -> list[Fact]:
    (server,) = describe(Configuration("mcp.json", (spec,)))
    return [fact for fact in server.facts() if fact.warns]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (ServerSpec("a", url="http://169.254.169.254/latest"), "169.254.169.254 is a cloud metadata"),
        (ServerSpec("a", "npx", ("mcp-remote", "http://2852039166/x")), "2852039166 is a cloud metadata"),
        (ServerSpec("a", "x", ("--host=169.254.169.254:80",)), "169.254.169.254"),
        (ServerSpec("a", "x", env={"API": "http://metadata/"}), "its variable API (metadata) is a cloud"),
    ],
)
def test_the_question_marks_a_server_that_goes_to_a_metadata_address(spec: ServerSpec, text: str) -> None:
    (fact,) = marked(spec)
    assert fact.label == "metadata"
    assert text in fact.text


def test_an_address_to_visit_that_is_a_metadata_address_is_marked() -> None:
    assert "its host is a cloud metadata address" in " ".join(address("http://169.254.169.254/").warnings)
    assert "metadata" not in " ".join(address("https://shop.example/metadata").warnings)


LOOKALIKES = {
    "modelcontextprotoc0l": "modelcontextprotocol",
    "modelcontextprotocoI": "modelcontextprotocol",
    "model-context-protocol": "modelcontextprotocol",
    "modelcontexprotocol": "modelcontextprotocol",
    "rnicrosoft": "microsoft",
    "microsoft-official": "microsoft",
    "githib": "github",
    "gihtub": "github",
    "str\u0456pe": "stripe",
    "anthropic": "anthropics",
    "open-ai": "openai",
    "STRlPE": "stripe",
}


@pytest.mark.parametrize("name", LOOKALIKES)
def test_a_scope_that_looks_like_a_known_one_is_recognised(name: str) -> None:
    assert resembled(name) == LOOKALIKES[name]


@pytest.mark.parametrize(
    "name", ["modelcontextprotocol", "Azure", "microsoft", "ada", "notion", "gitlab", "smithery"]
)
def test_a_known_scope_and_one_that_looks_like_none_are_not_marked(name: str) -> None:
    assert resembled(name) == ""


def test_the_question_marks_a_look_alike_scope_and_image() -> None:
    scoped = ServerSpec("a", "npx", ("-y", "@modelcontextprotoc0l/server-memory"))
    assert marked(scoped) == [Fact("look-alike", "modelcontextprotoc0l is not modelcontextprotocol", True)]
    image = ServerSpec("a", "docker", ("run", "-i", "ghcr.io/githib/github-mcp-server:1"))
    assert marked(image) == [Fact("look-alike", "githib is not github", True)]
    assert marked(ServerSpec("a", "npx", ("-y", "@modelcontextprotocol/server-memory"))) == []


def test_a_plugin_s_namespace_counts_too() -> None:
    assert list(lookalikes((), "io.github.rnicrosoft/files")) == [("rnicrosoft", "microsoft")]


def warned(message: str = "Please fill in.", **parts: object) -> str:
    request = FormRequest("shop", message, {"properties": {"value": {"type": "string", **parts}}})
    return "\n".join(form_warnings(request, form_fields(request.schema)))


@pytest.mark.parametrize(
    "spelled", ["Toolsight", "TOOLSIGHT", "T00lsight", "Tool-sight", "T\u043e\u043elsight"]
)
def test_a_form_in_toolsight_s_name_is_marked_however_it_spells_it(spelled: str) -> None:
    for found in (
        warned(f"{spelled} needs this."),
        warned(title=f"For {spelled}"),
        warned(description=spelled),
    ):
        assert "the server shop wrote it" in found
        assert "Toolsight never asks for passwords or keys" in found


@pytest.mark.parametrize("text", ["Enter your password", "Your API key", "the one-time code", "access token"])
def test_a_form_that_asks_for_a_secret_in_any_of_its_texts_is_marked_and_its_field_hidden(text: str) -> None:
    assert "ask for a secret" in warned(text)
    assert "ask for a secret (value)" in warned(description=text)
    (field,) = form_fields({"properties": {"value": {"type": "string", "description": text}}})
    assert field.is_secret
