"""A catalog as real clients get it: names, cuts, schemas, and what is known before a search."""

import re
from collections.abc import Sequence
from hashlib import sha1, sha256

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.clients.client import Client, all_clients, find_client, real_clients
from inspector.clients.delivery import Listed
from inspector.clients.name import sent_name
from inspector.clients.seen import kept_results, see, see_all
from inspector.core.message import Attachment, ToolResult
from inspector.core.tool import ALWAYS_LOAD, Tool
from inspector.session.client_view import ClientView, view_as
from tests.support.any_json import SCHEMA_KEYS, any_json
from tests.support.canned import INSTRUCTIONS, LONG_NAME, TOOLS

clients = st.sampled_from(all_clients())
texts = st.text(st.one_of(st.characters(), st.sampled_from("\ud800\n _.-:")), max_size=90)
schemas = any_json(*SCHEMA_KEYS, texts=texts, leaves=20)


def listed(tools: Sequence[Tool], instructions: str = "") -> list[Listed]:
    servers = {tool.server: [one for one in tools if one.server == tool.server] for tool in tools}
    return [Listed(server, of, instructions=instructions) for server, of in servers.items()]


def _as(name: str, *tools: Tool, instructions: str = INSTRUCTIONS) -> ClientView:
    return view_as(find_client(name), listed(tools or TOOLS, instructions), len)


@given(clients, texts, texts, texts, schemas)
def test_no_tool_is_too_odd_to_be_seen(
    client: Client, server: str, name: str, description: str, schema: object
) -> None:
    seen = see(
        client, Tool(server, name, description, {"type": "object", "properties": schema, "oneOf": schema})
    )
    text = seen.description
    shown = text.shown.removeprefix(text.lead).removesuffix(text.end).removesuffix(text.mark)
    assert shown + text.lost in (
        description,
        description.strip(),
    )


def test_names_are_made_as_each_client_makes_them() -> None:
    named = {client.name: sent_name(client.names, "Town.Library", "loan.renew") for client in all_clients()}
    assert named == {
        "claude-code": "mcp__Town_Library__loan_renew",
        "claude-desktop": "loan.renew",
        "codex": "mcp__Town_Library__loan_renew",
        "vscode": "mcp_town_library_loan_renew",
        "cursor": "loan.renew",
        "gemini-cli": "mcp_Town.Library_loan.renew",
        "copilot-cli": "Town-Library-loan-renew",
        "jetbrains-copilot": "loan_renew",
        "chatgpt": "loan_renew",
        "windsurf": "loan_renew",
        "cline": f"Town_Library__loan_renew_{sha1(b'Town.Library__loan.renew').hexdigest()[:8]}",
        "cline-cli": f"Town_Library__loan_renew_{sha1(b'Town.Library__loan.renew').hexdigest()[:8]}",
        "opencode": "Town_Library_loan_renew",
        "qwen-code": "mcp__Town_Library__loan_renew_1toerc7",
        "continue-cli": "loan.renew",
        "kimi-code": "mcp__Town_Library__loan_renew",
        "droid": "Town_Library___loan_renew",
        "vibe": "mcp_Town_Library.loan_renew",
        "openhands": "Town.Library_loan.renew",
        "fast-agent": "Town.Library__loan.renew",
        "gptme": f"Town_Library_loan_renew_{sha256(b'Town.Library.loan.renew:0').hexdigest()[:12]}",
        "kiro": "mcp_Town_Library_loan_renew",
        "goose": "Town.Library__loan.renew",
        "zed": "loan.renew",
        "anthropic-bm25": "loan.renew",
        "anthropic-regex": "loan.renew",
        "openai-api": "loan.renew",
        "none": "loan.renew",
        **dict.fromkeys(("openai-strict", "anthropic-api", "gemini-api", "gemini-json-schema"), "loan.renew"),
        **dict.fromkeys(("openai-agents", "pydantic-ai", "langchain", "langchain-js"), "loan.renew"),
        **dict.fromkeys(("google-adk", "strands", "agent-framework", "mcp-use", "dspy"), "loan.renew"),
        **dict.fromkeys(("vercel-ai", "google-genai-js"), "loan.renew"),
        **dict.fromkeys(("openai-agents-js", "llama-index", "crewai"), "loan_renew"),
        "smolagents": "loanrenew",
        "semantic-kernel": "Town.Library-loan.renew",
        "mastra": "Town_Library_loan_renew",
    }


def test_a_name_that_is_too_long_is_refused_cut_hashed_or_cut_in_the_middle() -> None:
    assert "characters; at most 128 are allowed" in str(see(find_client("claude-code"), TOOLS[1]).refused)
    assert sent_name(find_client("vscode").names, "library", LONG_NAME) == f"mcp_library_{LONG_NAME}"[:64]
    hashed = sent_name(find_client("codex").names, "library", LONG_NAME)
    assert re.fullmatch(r"mcp__library__reserve_\w+_[0-9a-f]{12}", hashed)
    identity = "\0".join(("library", "library", "", LONG_NAME, LONG_NAME))
    assert hashed[-12:] == sha1(identity.encode()).hexdigest()[:12]
    middle = sent_name(find_client("gemini-cli").names, "library", LONG_NAME)
    assert (len(middle), middle[30:33]) == (63, "...")
    cline = sent_name(find_client("cline").names, "library", LONG_NAME)
    assert (
        cline == f"library__{LONG_NAME}"[:55] + f"_{sha1(f'library__{LONG_NAME}'.encode()).hexdigest()[:8]}"
    )
    assert sent_name(find_client("cline").names, "library", "find") == "library__find"


def test_names_that_codex_would_make_equal_get_a_hash_and_a_server_too_long_for_one_ends_there() -> None:
    pairs = [("shop", "a.b"), ("shop", "a_b"), ("my.shop", "find"), ("my-shop", "find"), ("s" * 140, "find")]
    names = [seen.name for seen in see_all(find_client("codex"), [Tool(*pair) for pair in pairs])]
    digest = "_[0-9a-f]{12}"
    forms = (
        [f"mcp__shop__a_b{digest}"] * 2 + [f"mcp__my_shop{digest}__find"] * 2 + [f"mcp__s{{108}}__{digest}"]
    )
    assert all(re.fullmatch(form, name) for form, name in zip(forms, names, strict=True)), names
    assert len(set(names)) == 5
    assert max(map(len, names)) == 128
    assert (
        names[2]
        == f"mcp__my_shop_{sha1(chr(0).join(('my.shop', 'my.shop', '')).encode()).hexdigest()[:12]}__find"
    )


def test_a_tool_that_is_loaded_at_once_is_bound_and_not_listed_by_name() -> None:
    tools = (Tool("s", "one", meta={ALWAYS_LOAD: True}), Tool("s", "two"))
    view = view_as(find_client("claude-code"), listed(tools), len)
    assert view.prompt == "mcp__s__two"
    assert view.before_search == view.prompt_tokens + view.tokens["s:one"]


def test_claude_code_cuts_a_tool_that_is_loaded_at_once_earlier_and_hides_one_for_its_server_alone() -> None:
    claude, text = find_client("claude-code"), "x" * 20_000
    kept = [
        len(see(claude, Tool("s", "a", text, meta={ALWAYS_LOAD: on})).definition["function"]["description"])
        for on in (True, False)
    ]
    assert kept == [4_096 + 13, 16_384 + 13]
    assert see(claude, Tool("s", "a", meta={"ui": {"visibility": ["app"]}})).refused
    assert not see(claude, Tool("s", "a", meta={"ui": {"visibility": ["app", "model"]}})).refused


def test_before_a_search_a_model_knows_names_servers_everything_or_nothing() -> None:
    assert "mcp__town_library__loan_renew" in _as("claude-code").prompt
    assert _as("codex").prompt == "- town.library: The loans of a library."
    assert _as("anthropic-bm25").prompt == ""
    gemini = _as("gemini-cli")
    assert gemini.before_search == gemini.prompt_tokens + gemini.definition_tokens


def test_a_client_that_defers_many_tools_binds_few_at_once() -> None:
    tools = [Tool("a", f"tool{number}") for number in range(14)]
    many, few = _as("copilot-cli", *tools), _as("copilot-cli", *tools[:13])
    assert (many.is_deferred, few.is_deferred) == (True, False)
    assert INSTRUCTIONS.partition("\n")[0] in many.prompt
    assert "a-tool13" in many.prompt
    assert few.prompt == ""
    assert few.before_search == few.definition_tokens


def test_servers_that_do_not_fit_in_the_list_are_missing_from_it_and_that_is_told() -> None:
    tools = [Tool(f"server{number}", "search") for number in range(40)]
    view = view_as(find_client("codex"), listed(tools, "word " * 60), len)
    assert len(view.prompt.encode()) <= 4_096
    assert view.problems == ("25 servers not listed: the list ends after 4,096 bytes",)


def test_more_tools_than_a_client_takes_are_told() -> None:
    client = find_client("anthropic-bm25")
    few = replace(client, listing=replace(client.listing, most=3))
    view = view_as(few, listed([Tool("a", f"tool{number}") for number in range(4)]), len)
    assert view.problems == ("4 tools, but only 3 are allowed",)


_TOOL = Tool("a", "read")


def _kept(result: ToolResult, tool: Tool = _TOOL) -> dict[str, str]:
    """What each client loses of a result, by its title, of which tokens are words."""
    kept = kept_results(real_clients(), tool, result, lambda text: len(text.split()))
    return {name.partition(" (")[0]: one.says for one in kept for name in one.clients}


@given(texts)
def test_of_a_short_text_no_client_loses_anything(text: str) -> None:
    assert _kept(ToolResult(text)) == {}
    assert _kept(ToolResult('{"a": 1}', structured={"a": 1})) == {}


@pytest.mark.parametrize(
    ("text", "client", "says"),
    [
        ("x" * 50_001, "Claude Code", "2,000 of 50,001 characters: the rest goes to a file"),
        ("x " * 25_001, "Claude Code", "0 of 25,001 tokens: it goes to a file, and the model gets its path"),
        ("é" * 20_001, "Codex", "40,000 of 40,002 bytes: the middle is cut from what a script prints"),
        (
            "x" * 40_001,
            "Gemini CLI",
            "the first 8,000 and the last 32,000 of 40,001 characters: it goes to a file",
        ),
        ("x" * 200_001, "Goose", "0 of 200,001 characters: it goes to a file"),
    ],
)
def test_a_result_over_a_clients_limit_is_cut_there_and_one_at_it_is_not(
    text: str, client: str, says: str
) -> None:
    assert _kept(ToolResult(text))[client].startswith(says)
    assert client not in _kept(ToolResult(text[:-1].rpartition(" ")[0] if " " in text else text[:-1]))


def test_a_tool_may_raise_claude_codes_limit() -> None:
    text = ToolResult("x" * 60_000)
    raised = replace(_TOOL, meta={"anthropic/maxResultSizeChars": 60_000})
    assert "Claude Code" in _kept(text)
    assert "Claude Code" not in _kept(text, raised)


def test_structured_content_replaces_a_text_that_says_something_else_but_not_that_of_an_error() -> None:
    both = ToolResult("Sunny.", structured={"sky": "sunny"})
    kept = _kept(both)
    assert kept["Claude Code"] == "structured content in place of the text"
    assert kept["opencode"] == "without its structured content"
    assert not {"Kimi Code", "GitHub Copilot CLI", "Qwen Code"} & set(kept)
    assert _kept(replace(both, is_error=True)) == {
        "Microsoft Agent Framework": "nothing but that it is an error"
    }
    for text, structured in (("Sunny.", {"content": "Sunny."}), ("[1]", {"rows": [1]}), ("7", {"text": "7"})):
        assert _kept(ToolResult(text, structured=structured)) == {}


def test_an_image_is_lost_where_images_are_left_out() -> None:
    image = Attachment("image", "image/png", "", "AAAA")
    kept = _kept(ToolResult("[image]", attachments=(image,)))
    assert set(kept.values()) == {"without image"}
    assert {"Zed", "GitHub Copilot CLI", "CrewAI"} <= set(kept)
    assert "Claude Code" not in kept


def test_a_call_that_takes_longer_than_a_client_waits_is_lost_whatever_the_transport() -> None:
    def lost(seconds: float) -> tuple[str, ...]:
        clients = map(find_client, ("google-adk", "strands"))
        return tuple(map(str, kept_results(clients, _TOOL, ToolResult("x"), len, seconds)))

    assert lost(5) == ("an error: a call ends after 5 s: Google ADK (measured)",)
    assert lost(4.9) == ()


def test_a_result_that_does_not_fit_ends_the_run_where_a_framework_says_so() -> None:
    tool = Tool("a", "read", output_schema={"type": "object", "required": ["n"]})
    kept = _kept(ToolResult("x", structured={"m": 1}), tool)
    assert kept["Pydantic AI"] == kept["LangChain, Python"] == "nothing: the run ends"
    assert kept["Strands Agents"] == "an error in place of it"
