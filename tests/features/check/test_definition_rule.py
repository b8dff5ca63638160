"""What is found about definitions: alone, beside similar ones, and as clients get them."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.clients.client import Client, all_clients, find_client, real_clients
from inspector.clients.delivery import Listed
from inspector.core.message import ToolResult
from inspector.core.server import SkippedTool
from inspector.core.tool import Annotations, Tool
from inspector.features.check import definition_rule
from inspector.features.check.definition_rule import RULES, definition_findings
from inspector.features.check.finding import Finding, Rule, folded
from inspector.schema.json_value import JsonObject

CLAIMS = Annotations(read_only=True)
DESCRIBED: JsonObject = {
    "type": "object",
    "properties": {"number": {"type": "integer", "description": "Number of the invoice."}},
}
GOOD = Tool(
    "shop",
    "get_invoice",
    "Shows what a customer still owes, with the items. Use it for bills that are not paid yet.",
    DESCRIBED,
    CLAIMS,
    {"type": "object"},
)


def found(
    tools: Tool | Sequence[Tool],
    clients: Iterable[str | Client] = (),
    instructions: str = "",
) -> list[Finding]:
    tools = [tools] if isinstance(tools, Tool) else tools
    chosen = tuple(find_client(one) if isinstance(one, str) else one for one in clients)
    servers = dict.fromkeys(tool.server for tool in tools)
    listed = [
        Listed(name, [tool for tool in tools if tool.server == name], instructions=instructions)
        for name in servers
    ]
    return list(definition_findings(listed, chosen))


def rules(*args: object, **kwargs: object) -> set[Rule]:
    return {one.rule for one in found(*args, **kwargs)}  # type: ignore[arg-type]


def test_nothing_is_found_about_a_good_definition_in_any_client() -> None:
    assert found(GOOD, (client.name for client in real_clients()), "Ask for the year first.") == []


def test_each_parameter_without_a_description_is_named() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}, **DESCRIBED["properties"], "by": {}}}
    [finding] = found(replace(GOOD, input_schema=schema))
    assert (finding.rule, finding.proof) == (definition_rule.PARAMETER, "id, by")
    assert finding.message == "2 of 3 parameters of which no text says anything."


def test_a_parameter_is_described_by_what_is_in_it() -> None:
    told = {"type": "string", "description": "Of the item."}
    item = {"type": "object", "properties": {"name": told}}
    of_one: JsonObject = {"anyOf": [told, {"type": "integer"}]}
    array: JsonObject = {"type": "array", "items": item}
    inner: JsonObject
    for inner in (item, array, of_one, {"enum": ["a"]}, {"properties": {}}):
        schema = {"type": "object", "properties": {"parts": inner}}
        assert definition_rule.PARAMETER not in rules(replace(GOOD, input_schema=schema))


@pytest.mark.parametrize(("name", "is_told"), [("customer", True), ("customerId", False), ("by", False)])
def test_a_parameter_is_described_by_its_tool_if_that_has_every_word_of_its_name(
    name: str, is_told: bool
) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    assert (definition_rule.PARAMETER not in rules(replace(GOOD, input_schema=schema))) is is_told


def test_annotations_are_missing_only_if_there_is_none() -> None:
    assert definition_rule.UNANNOTATED in rules(replace(GOOD, annotations=Annotations()))
    assert definition_rule.UNANNOTATED not in rules(replace(GOOD, annotations=Annotations(open_world=False)))


def test_a_schema_among_the_annotations_is_told() -> None:
    odd = replace(
        GOOD, annotations=Annotations(), beside={"annotations": {"type": "object", "properties": {}}}
    )
    (told,) = (one for one in found(odd) if one.rule is definition_rule.DOUBTED)
    assert told.message == "Its annotations hold a schema, and none of MCP's hints."
    assert told.proof == "annotations: type, properties"


def test_a_read_only_claim_is_doubted_for_a_name_that_says_otherwise() -> None:
    (told,) = (
        one for one in found(replace(GOOD, name="delete_invoice")) if one.rule is definition_rule.DOUBTED
    )
    assert told.proof == '{"readOnlyHint":true}'
    assert definition_rule.DOUBTED not in rules(
        replace(GOOD, name="delete_invoice", annotations=Annotations(destructive=True))
    )


LONG_NAME = replace(GOOD, name="get_" + "x" * 124)
EITHER = replace(GOOD, input_schema={**DESCRIBED, "anyOf": [{"required": ["number"]}]})


@pytest.mark.parametrize(
    ("tool", "client", "rule", "message", "proof"),
    [
        (LONG_NAME, "claude-code", definition_rule.NAME_REFUSED, "at most 128", "mcp__shop__get_xxx"),
        (EITHER, "openai-api", definition_rule.SCHEMA_REFUSED, "anyOf", ""),
        (LONG_NAME, "codex", definition_rule.NAME_CUT, "", "becomes mcp__shop__get_x"),
    ],
)
def test_what_a_client_refuses_or_cuts_is_told_with_how_the_model_reads_it(
    tool: Tool, client: str, rule: Rule, message: str, proof: str
) -> None:
    [finding] = found(tool, [client, "none"])
    assert (finding.rule, finding.client) == (rule, client)
    assert message in finding.message
    assert proof in finding.proof


def test_two_names_that_a_client_makes_one_are_told_for_both() -> None:
    long = [replace(GOOD, name=f"get_{'x' * 60}_{number}", description=f"Item {number}") for number in "12"]
    [both] = [one for one in found(long, ["vscode"]) if one.rule is definition_rule.ONE_NAME]
    assert both.tools == (long[0].name, long[1].name)
    assert f"{long[0].name}: Same name as {long[1].id}" in both.proof


def test_a_tool_that_costs_its_server_is_found_and_those_that_are_lost_with_it_are_not() -> None:
    tools = [
        replace(GOOD, server=server, name=name) for server in "ab" for name in ("search", f"of_{server}")
    ]
    told = {(one.server, one.tool): one.message for one in found(tools, ["strands"])}
    assert set(told) == {("a", "search"), ("b", "search")}
    assert told["a", "search"] == "Same name as b:search: an error that costs all tools of its server."


def test_what_a_client_is_only_assumed_to_do_is_no_fact() -> None:
    dotted = [replace(GOOD, name=name, description=f"Item {name}") for name in ("get.bill", "get_bill")]
    assert definition_rule.ONE_NAME in rules(dotted, ["vscode"])
    assert definition_rule.ONE_NAME not in rules(dotted, ["chatgpt"])
    assert found(LONG_NAME, ["chatgpt", "jetbrains-copilot"]) == []


NOW = find_client("claude-code")
OLDER = replace(NOW, texts=replace(NOW.texts, description=2048, instructions=2048))
LONG = f"Shows an invoice. {'It has items. ' * 150}Also for a bill that is overdue."


def test_what_a_cut_loses_is_quoted() -> None:
    [finding] = found(replace(GOOD, description=LONG), [OLDER])
    assert finding.rule is definition_rule.CUT
    assert "2,048 of 2,1" in finding.message
    assert "overdue" in finding.proof


def test_instructions_that_a_client_cuts_are_told_once_for_the_server() -> None:
    [finding] = found(GOOD, ["claude-code"], "Ask first. " * 400)
    assert (finding.rule, finding.subject) == (definition_rule.INSTRUCTIONS_CUT, "shop")
    assert found(GOOD, ["cursor"], "Ask first. " * 400) == []


def test_a_schema_that_loses_its_descriptions_names_the_parameters() -> None:
    large = {name: {"type": "string", "description": "Word " * 40} for name in map("p{}".format, range(30))}
    [finding] = found(replace(GOOD, input_schema={"type": "object", "properties": large}), ["codex"])
    assert finding.rule is definition_rule.SCHEMA_CUT
    assert "30 descriptions" in finding.message


def test_what_holds_for_several_clients_is_said_once() -> None:
    long = replace(GOOD, name="get_" + "x" * 130)
    clients = ["anthropic-bm25", "anthropic-regex"]
    [refused] = [one for one in found(long, clients) if one.rule is definition_rule.NAME_REFUSED]
    assert refused.client == "anthropic-bm25, anthropic-regex"


def test_what_a_listing_lost_is_told_by_kind() -> None:
    skipped = [
        SkippedTool("untyped", "inputSchema.type is missing"),
        SkippedTool("", "the cursor repeats", "page", number=2),
        SkippedTool("get_invoice", "listed again; the first one is used", "again"),
    ]
    told = list(definition_findings([Listed("shop", [GOOD], skipped)]))
    assert [(one.rule.name, one.subject) for one in told] == [
        ("tool-lost", "shop:untyped"),
        ("page-lost", "shop"),
        ("listed-twice", "shop:get_invoice"),
    ]


def test_a_schema_that_is_invalid_is_told_once_with_all_clients_that_refuse_it() -> None:
    broken = {**DESCRIBED, "required": None}
    [finding] = found(replace(GOOD, input_schema=broken), ["vscode", "openai-api", "cursor"])
    assert (finding.rule.name, finding.client) == ("schema-invalid", "")
    assert finding.proof == "inputSchema.required\nrefused by vscode, openai-api, cursor"


def test_the_same_fault_at_many_places_of_a_schema_is_said_once_with_their_number() -> None:
    named = {name: {"type": "string", "description": "A date.", "default": None} for name in "abc"}
    [finding] = found(replace(GOOD, input_schema={"type": "object", "properties": named}))
    assert finding.rule is definition_rule.DOUBTFUL
    says = "properties.a.default is null, not a string (and at 2 more places)."
    assert (finding.message, finding.proof) == (f"inputSchema: {says}", "inputSchema.properties.a.default")


def test_a_result_that_does_not_fit_is_told_with_the_clients_that_keep_it_from_their_models() -> None:
    total = {"total": {"type": "number"}}
    tool = replace(GOOD, output_schema={"type": "object", "properties": total, "required": ["total"]})
    clients = [find_client(name) for name in ("opencode", "kimi-code", "codex")]
    for result in (ToolResult("7", structured={"total": 7}), ToolResult("no", is_error=True, structured={})):
        assert not list(definition_findings([Listed("shop", [tool], results=[(tool.id, result)])], clients))
    results = [(tool.id, ToolResult("7", structured={})), ("shop:other", ToolResult(""))]
    [finding] = definition_findings([Listed("shop", [tool], results=results)], clients)
    assert (finding.rule, finding.subject) == (definition_rule.MISFIT, tool.id)
    assert finding.client == "opencode, kimi-code"
    assert "'total' is a required property" in finding.message


@given(st.integers(2, 60))
def test_what_many_tools_share_is_one_finding_with_their_number(number: int) -> None:
    tools = [replace(GOOD, name=f"get_{at}_bill", annotations=Annotations()) for at in range(number)]
    [finding] = found(tools)
    assert (finding.subject, finding.message) == ("shop", f"{number} tools: It declares none of MCP's hints.")
    assert finding.tools == tuple(tool.name for tool in tools)
    assert (f"and {number - 5} more" in finding.proof) is (number > 5)


TEXTS = st.text(max_size=40)
TOOLS = st.builds(
    Tool,
    st.sampled_from(["shop", "s-1", "\u202eevil"]),
    st.text(min_size=1, max_size=80),
    st.one_of(TEXTS, st.just("word " * 700)),
    st.dictionaries(
        st.sampled_from(["properties", "anyOf", "$ref"]),
        st.recursive(
            TEXTS,
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=3),
            max_leaves=8,
        ),
        max_size=3,
    ),
)
EVERY: tuple[Client, ...] = all_clients()


@given(st.lists(TOOLS, max_size=4, unique_by=lambda tool: tool.id), TEXTS)
def test_a_finding_is_a_fact_about_a_tool_that_is_there_with_a_rule_and_a_proof(
    tools: list[Tool], instructions: str
) -> None:
    said = {tool.server: instructions for tool in tools}
    subjects = {tool.id for tool in tools} | set(said)
    for one in found(tools, EVERY, instructions):
        assert one.subject in subjects
        assert one.rule in RULES
        assert one.message
        assert one.proof


def test_of_many_sources_the_first_are_named_and_the_rest_counted() -> None:
    proof = "\n".join(("lost: “x”", *(f"by: source {number}" for number in range(5))))
    (one,) = folded([Finding(RULES[0], "shop", "list", "It is cut.", proof, "codex")])
    assert one.proof.splitlines() == [
        "lost: “x”",
        "by: source 0",
        "by: source 1",
        "by: 3 more sources, in the facts of each client",
    ]
