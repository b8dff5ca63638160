"""What becomes of each tool of a server in a client, and of the server: by what rule, and how sure it is."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from inspector.clients.client import Client, Confidence, Fact, Kind, Topic, find_client, real_clients
from inspector.clients.deliver import deliver
from inspector.clients.delivery import Fate, Listed, ServerDelivery, Verdict
from inspector.clients.rule import HttpRule, ListingRule, NameRule, SchemaChange
from inspector.core.server import SkippedTool
from inspector.core.tool import Tool
from inspector.features.tools.facts import delivery_lines

PLAIN = Tool("shop", "list_orders", "List orders.")
PRIVATE = Tool("shop", "redraw", "Redraw.", meta={"ui": {"visibility": ["app"]}})
MARKED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


def _sure() -> Client:
    """A client with the rules of Claude Code as it was, and one fact of each topic."""
    facts = tuple(Fact(topic, "It is so.", Confidence.DOCUMENTED, "https://a.example") for topic in Topic)
    now = find_client("claude-code")
    texts = replace(now.texts, description=2048, instructions=2048)
    schemas = find_client("anthropic-api").schemas
    listing = replace(now.listing, hides_app_tools=False)
    return replace(now, facts=facts, protocol="2025-11-25", texts=texts, schemas=schemas, listing=listing)


def verdict(client: Client, tools: Sequence[Tool], instructions: str, server: str = "shop") -> ServerDelivery:
    tools = [replace(tool, server=server) for tool in tools]
    [found] = deliver(client, [Listed(server, tools, instructions=instructions)])
    return found


def _told(client: Client, *tools: Tool, instructions: str = "") -> tuple[Verdict, str]:
    found = verdict(client, tools, instructions)
    return found.verdict, found.finding


def test_a_server_works_where_nothing_is_lost_and_the_rules_are_known() -> None:
    found = verdict(_sure(), [PLAIN], "Orders of a shop.")
    assert (found.verdict, found.finding, found.confidence) == (Verdict.WORKS, "", Confidence.DOCUMENTED)


ODD = replace(PLAIN, input_schema={"type": "object", "oneOf": []})
LONG = replace(PLAIN, name="x" * 130)


@pytest.mark.parametrize(
    ("tools", "instructions", "kind", "finding"),
    [
        ([ODD], "", Verdict.BLOCKED, "1 of 1 tool refused, list_orders: its schema has oneOf"),
        ([PLAIN, ODD], "", Verdict.DEGRADED, "1 of 2 tools refused"),
        ([PLAIN, LONG], "", Verdict.DEGRADED, "its name has 141 characters"),
        ([PLAIN, replace(PLAIN, name="list.orders")], "", Verdict.DEGRADED, "2 of 2 names equal"),
        ([PLAIN], "x" * 3_000, Verdict.DEGRADED, "instructions cut after 2,048 of 3,000 characters"),
        ([replace(PLAIN, description="x" * 3_000)], "", Verdict.DEGRADED, "1 of 1 description cut"),
        ([replace(PLAIN, description=" ")], "", Verdict.DEGRADED, "without a description to be found by"),
        ([PLAIN, PRIVATE], "", Verdict.DEGRADED, "the model gets 1 tool for its own view alone"),
        ([], "", Verdict.UNKNOWN, "it has no tools"),
    ],
)
def test_the_first_finding_decides(tools: list[Tool], instructions: str, kind: Verdict, finding: str) -> None:
    told = _told(_sure(), *tools, instructions=instructions)
    assert told[0] is kind
    assert finding in told[1]


def test_a_tool_that_a_client_changes_twice_counts_once() -> None:
    number, words = {"type": "integer", "minimum": 1}, {"type": "string", "enum": ["new", "late"]}
    schema = {"type": "object", "properties": {"number": number, "words": {"type": "array", "items": words}}}
    found = verdict(find_client("gptme"), [replace(PLAIN, input_schema=schema)], "")
    assert len(found.by_kind[Kind.SCHEMA]) > 1
    assert found.finding.startswith("1 of 1 schema changed")


def test_a_tool_for_the_servers_own_view_is_hidden_where_a_client_hides_it() -> None:
    client = _sure()
    hides = replace(client, listing=replace(client.listing, hides_app_tools=True))
    assert _told(hides, PLAIN, PRIVATE)[0] is Verdict.WORKS
    assert _told(find_client("cursor"), PLAIN, PRIVATE)[1] == "the model gets 1 tool for its own view alone"


def test_lost_keywords_of_schemas_degrade_a_server() -> None:
    limited = {"type": "object", "properties": {"page": {"type": "integer", "maximum": 9}}}
    told = _told(find_client("codex"), replace(PLAIN, input_schema=limited))
    assert told == (Verdict.DEGRADED, "1 of 1 schema changed, list_orders: maximum removed")


def test_titles_that_a_client_removes_degrade_no_server() -> None:
    client = replace(
        _sure(), schemas=replace(_sure().schemas, changes=(SchemaChange("keep", ("type", "properties")),))
    )
    schema = {"type": "object", "$schema": "https://a.example", "properties": {"id": {"title": "Id"}}}
    assert _told(client, replace(PLAIN, input_schema=schema)) == (Verdict.WORKS, "")


def test_parameters_marked_as_headers_need_nothing_before_the_protocol_that_has_them() -> None:
    marked = replace(PLAIN, input_schema=MARKED)
    assert _told(_sure(), marked)[0] is Verdict.WORKS
    for protocol in ("2026-07-28", ""):
        kind, finding = _told(replace(_sure(), protocol=protocol, http=HttpRule()), marked)
        assert kind is Verdict.UNKNOWN
        assert "headers" in finding
    known = replace(_sure(), protocol="2026-07-28", http=HttpRule(headers=True))
    assert _told(known, marked) == (Verdict.WORKS, "")


@pytest.mark.parametrize(
    ("keeps", "seconds", "tells", "verdict"),
    [
        (True, 300, False, Verdict.DEGRADED),
        (True, 300, True, Verdict.WORKS),
        (True, 0, False, Verdict.WORKS),
        (True, None, False, Verdict.WORKS),
        (False, 300, False, Verdict.WORKS),
        (None, 300, False, Verdict.WORKS),
    ],
)
def test_a_list_that_is_kept_too_long_degrades_a_server_that_tells_of_no_change(
    *, keeps: bool | None, seconds: float | None, tells: bool, verdict: Verdict
) -> None:
    client = replace(_sure(), keeps_lists=keeps)
    [found] = deliver(client, [Listed("shop", [PLAIN], list_kept=seconds, tells_changes=tells)])
    assert found.verdict is verdict
    is_told = found.finding == "its list may be kept for 5 min; the client keeps it until it connects anew"
    assert is_told == (verdict is Verdict.DEGRADED)


def test_more_tools_than_a_client_takes_degrade_a_server() -> None:
    client = _sure()
    few = replace(client, listing=replace(client.listing, most=1))
    assert _told(few, PLAIN, replace(PLAIN, name="other"))[1] == "of 2 tools at most 1 can be on"
    assert _told(few, PLAIN)[0] is Verdict.WORKS


def test_a_shortened_name_degrades_a_server() -> None:
    client = _sure()
    cuts = replace(client, names=replace(client.names, limit=20, over="cut"))
    assert _told(cuts, PLAIN) == (
        Verdict.DEGRADED,
        "1 of 1 name shortened, list_orders: name shortened from 22 characters",
    )


def test_a_description_is_missed_only_where_a_search_looks_for_it() -> None:
    client = _sure()
    bound = replace(client, listing=replace(client.listing, before="definitions"))
    assert _told(bound, replace(PLAIN, description=""))[0] is Verdict.WORKS


def test_a_server_is_unknown_where_a_rule_is_assumed_or_a_search_cannot_be_followed() -> None:
    client = _sure()
    guessed = replace(client, facts=client.facts[1:])
    assert guessed.confidence(client.facts[0].topic) is Confidence.ASSUMED
    names = tuple(fact for fact in client.facts if fact.topic is not Topic.NAMES)
    assert _told(replace(client, facts=names), PLAIN) == (Verdict.UNKNOWN, "how it names tools is not known")
    silent = replace(client, search=replace(client.search, none="Nobody says."))
    assert _told(silent, PLAIN) == (Verdict.UNKNOWN, "how it finds tools cannot be followed")


def test_a_line_has_the_worst_first_and_clients_with_one_finding_together() -> None:
    client = _sure()
    twin = replace(client, name="other")
    found = [verdict(client, [PLAIN], ""), *(verdict(one, [ODD], "") for one in (client, twin))]
    blocked, works = delivery_lines(found)
    assert blocked.startswith("blocked in claude-code, other (documented): 1 of 1 tool refused, list_orders")
    assert works == "works in claude-code"


def test_servers_with_one_reason_stand_in_one_line() -> None:
    client = _sure()
    names = [f"shop{number}" for number in range(9)]
    (line,) = delivery_lines(verdict(client, [ODD], "", name) for name in names)
    assert line.startswith(
        "blocked in claude-code (documented): tools are refused (shop0: 1 of 1 tool refused"
    )
    fine = [verdict(client, [PLAIN], "", name) for name in names]
    most, one = reversed(list(delivery_lines([*fine, verdict(client, [ODD], "", "other")])))
    assert most == "shop0, shop1, shop2 and 6 more servers: works in claude-code"
    assert one.startswith("other: blocked in claude-code (documented): 1 of 1 tool refused, list_orders")


def test_a_number_is_told_only_of_the_client_that_it_is_of() -> None:
    client = _sure()
    twin = replace(client, name="other", texts=replace(client.texts, instructions=250))
    long, longer = (
        [verdict(one, [PLAIN], "x" * size, name) for one in (client, twin)]
        for size, name in ((9000, "shop"), (8000, "store"))
    )
    told = [line.partition(": ")[2] for line in delivery_lines(long)]
    assert told == [one.finding for one in long]
    (line,) = delivery_lines([*long, *longer])
    assert line.endswith(f": instructions are cut (shop in claude-code: {long[0].finding})")


def test_every_known_client_has_a_verdict_on_a_plain_server() -> None:
    kinds = {client.name: verdict(client, [PLAIN], "").verdict for client in real_clients()}
    assert "none" not in kinds
    assert Verdict.BLOCKED not in kinds.values()
    assert kinds["claude-code"] is Verdict.WORKS


NULL = replace(PLAIN, name="complete", input_schema={"type": "object", "required": None})


def test_a_person_reads_how_many_tools_are_shown_and_what_is_at_fault_where() -> None:
    client = find_client("vscode")
    found = verdict(client, [PLAIN, NULL], "")
    assert found.shown == 1
    assert found.sentence("server.py:41") == (
        "VS Code shows 1 of your 2 tools, because of `required: null` in complete (server.py:41): "
        "required is null, not an array."
    )
    [none] = deliver(client, [Listed("shop", [NULL])])
    assert none.sentence().startswith(
        "VS Code does not show your tool, because of `required: null` in complete"
    )
    assert verdict(_sure(), [PLAIN], "").sentence() == "Claude Code shows your tool."


def test_each_reason_has_a_place_and_the_source_and_date_of_its_rule() -> None:
    [delivery] = verdict(find_client("vscode"), [NULL], "").tools
    [reason] = delivery.reasons
    assert (delivery.fate, reason.place) == (Fate.REFUSED, "inputSchema.required")
    assert reason.fact is not None
    assert (reason.fact.source[:26], reason.fact.date[:2]) == ("https://github.com/microso", "20")


def test_a_tool_that_cannot_be_read_is_lost_in_every_client() -> None:
    lost = SkippedTool("untyped", "inputSchema.type is missing", place="inputSchema.type")
    [found] = deliver(_sure(), [Listed("shop", [PLAIN], [lost])])
    assert [(one.tool, one.fate) for one in found.tools] == [
        ("untyped", Fate.LOST),
        ("list_orders", Fate.WHOLE),
    ]
    assert (found.verdict, found.shown) == (Verdict.DEGRADED, 1)
    assert found.tools[0].reasons[0].place == "inputSchema.type"


@pytest.mark.parametrize(
    ("client", "fates", "sentence"),
    [
        (
            "claude-code",
            [Fate.LOST, Fate.LOST],
            "Claude Code shows none of your 2 tools, because of inputSchema",
        ),
        ("cline-cli", [Fate.WHOLE, Fate.WHOLE], "Cline CLI shows your 2 tools."),
        (
            "codex",
            [Fate.LOST, Fate.WHOLE],
            "Codex shows 1 of your 2 tools, because of inputSchema.type in ask:",
        ),
    ],
)
def test_a_tool_without_a_type_costs_what_it_was_measured_to_cost_in_a_client(
    client: str, fates: list[Fate], sentence: str
) -> None:
    untyped = SkippedTool(
        "ask", "inputSchema.type is missing", place="inputSchema.type", definition={"inputSchema": {}}
    )
    [found] = deliver(find_client(client), [Listed("shop", [PLAIN], [untyped])])
    assert [one.fate for one in found.tools] == fates
    assert found.sentence().startswith(sentence)


def test_a_server_does_not_work_where_a_page_of_its_list_cannot_be_read() -> None:
    page = SkippedTool("", "the cursor repeats", "page", number=2)
    told, endless = "page 2 cannot be read: the cursor repeats", replace(page, kind="endless")
    all_lost = "1 of 1 tool lost, list_orders: all tools"
    for listing, skipped, verdict, finding in (
        (ListingRule(), page, Verdict.DEGRADED, told),
        (ListingRule(first_page=True), page, Verdict.UNKNOWN, told),
        (ListingRule(costs=("page",)), page, Verdict.BLOCKED, all_lost),
        (ListingRule(costs=("cursor",)), replace(page, place="nextCursor"), Verdict.BLOCKED, all_lost),
        (ListingRule(), endless, Verdict.UNKNOWN, "what it does is not known"),
        (ListingRule(first_page=True), endless, Verdict.WORKS, ""),
        (ListingRule(ends=True), endless, Verdict.WORKS, ""),
        (ListingRule(costs=("endless",)), endless, Verdict.BLOCKED, all_lost),
    ):
        [found] = deliver(replace(_sure(), listing=listing), [Listed("shop", [PLAIN], [skipped])])
        assert found.verdict is verdict
        assert found.finding.startswith(finding)


@pytest.mark.parametrize(
    ("client", "null", "empty"),
    [
        ("claude-code", Verdict.BLOCKED, Verdict.DEGRADED),
        ("opencode", Verdict.BLOCKED, Verdict.WORKS),
        ("fast-agent", Verdict.WORKS, Verdict.DEGRADED),
    ],
)
def test_an_odd_cursor_costs_what_it_was_measured_to_cost_in_a_client(
    client: str, null: Verdict, empty: Verdict
) -> None:
    later = replace(PLAIN, name="later", page=2)
    odd = [SkippedTool("", f"its nextCursor is {kind}", kind, number=1) for kind in ("cursor", "end")]
    [of_null] = deliver(find_client(client), [Listed("shop", [PLAIN], odd[:1])])
    [of_empty] = deliver(find_client(client), [Listed("shop", [PLAIN, later], odd[1:])])
    assert (of_null.verdict, of_empty.verdict) == (null, empty)


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [("2025-06-18", Verdict.BLOCKED), ("2026-07-28", Verdict.WORKS), ("", Verdict.UNKNOWN)],
)
def test_a_server_that_refuses_older_clients_is_blocked_in_them_and_costs_no_tokens(
    protocol: str, kind: Verdict
) -> None:
    client = replace(_sure(), protocol=protocol)
    [found] = deliver(client, [Listed("shop", [PLAIN], refuses_older=True)], tokens=lambda _: 7)
    assert found.verdict is kind
    assert [one.tokens for one in found.tools] == [0 if kind is Verdict.BLOCKED else 7]


def test_names_that_meet_across_servers_are_told_of_the_one_that_is_asked_for() -> None:
    flat = replace(_sure(), names=NameRule(twins="both"))
    listed = [Listed(name, [replace(PLAIN, server=name)]) for name in ("shop", "store")]
    [found] = deliver(flat, listed, only="shop")
    assert (found.listed.server, found.finding) == (
        "shop",
        "1 of 1 name equal, list_orders: same name as store:list_orders",
    )


TASK = replace(PLAIN, name="render", task_support="required")


@pytest.mark.parametrize(
    ("tasks", "tools", "kind", "finding"),
    [
        (True, [TASK], Verdict.WORKS, ""),
        (False, [PLAIN], Verdict.WORKS, ""),
        (False, [replace(TASK, task_support="optional")], Verdict.WORKS, ""),
        (False, [PLAIN, TASK], Verdict.DEGRADED, "1 of 2 tools cannot be called, render: every call fails"),
        (False, [TASK], Verdict.BLOCKED, "1 of 1 tool cannot be called"),
        (None, [TASK], Verdict.UNKNOWN, "whether the client calls one so is not known"),
    ],
)
def test_a_client_without_tasks_loses_a_tool_that_runs_only_as_one(
    tasks: bool | None, tools: list[Tool], kind: Verdict, finding: str
) -> None:
    told = _told(replace(_sure(), tasks=tasks), *tools)
    assert told[0] is kind
    assert finding in told[1]
