"""Tools, origins and versions in every registry."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.core.definition import definition_hash
from inspector.core.error import StoreError
from inspector.core.redaction import SECRETS
from inspector.core.tool import Annotations, Tool
from inspector.features.registry.acceptance import RegisteredTool, SyncReport, name_problem
from inspector.features.registry.tool_registry import ToolRegistry
from tests.support.hostile import with_hostile_text
from tests.support.registry import REFUSED, sight_of, tool

LIST, SHIP, SEND = (
    tool("shop", "list", "Lists."),
    tool("shop", "ship", "Ships."),
    tool("mail", "send", "Sends."),
)


def ids(registry: ToolRegistry, **how: object) -> list[str]:
    return [found.tool.id for found in registry.tools(**how)]  # type: ignore[arg-type]


def test_no_registry_keeps_a_secret_that_a_server_repeats_and_the_hash_is_of_what_it_keeps(
    registry: ToolRegistry,
) -> None:
    SECRETS.learn({"shop.REF": "wsp-93fA71cd"})
    told = tool("shop", "list", "Lists for wsp-93fA71cd.")
    registry.sync("shop", [told], at=1.0)
    registry.restore([RegisteredTool(replace(told, name="old"), "shop", 1, definition_hash(told), 1.0)])
    kept = list(registry.tools())
    assert [one.tool.description for one in kept] == ["Lists for [redacted]."] * 2
    assert all(one.hash == definition_hash(one.tool) for one in kept)
    assert registry.sync("shop", [told], at=2.0, whole=False).unchanged == 1


def test_tools_come_in_order_of_their_ids(registry: ToolRegistry) -> None:
    assert registry.sync("a", [SHIP, LIST, SEND], at=5.0) == SyncReport(added=3)
    assert ids(registry) == ["mail:send", "shop:list", "shop:ship"]
    assert ids(registry, limit=2) == ["mail:send", "shop:list"]
    assert registry.count() == 3
    assert list(registry.servers().items()) == [("mail", 1), ("shop", 2)]
    assert next(registry.tools(part="list")) == RegisteredTool(LIST, "a", 1, definition_hash(LIST), 5.0)


def test_everything_that_a_server_declares_is_kept(registry: ToolRegistry) -> None:
    schema = {"type": "object", "properties": {"n\ud800": {"type": "number", "maximum": 1e308}}}
    whole = tool("s", "t", "d\0", input_schema=schema, annotations=Annotations(True, False, None, True))
    whole = replace(whole, output_schema={"type": "object"}, title="T", tags=("x", "y"))
    registry.sync("a", [whole], at=1.0)
    assert [found.tool for found in registry.tools()] == [whole]


def test_another_definition_is_a_new_version_and_the_old_one_stays(registry: ToolRegistry) -> None:
    registry.sync("a", [LIST, SHIP], at=1.0)
    newer = replace(LIST, description="Lists more.")
    assert registry.sync("a", [newer, SHIP], at=2.0) == SyncReport(changed=1, unchanged=1)
    assert registry.versions(LIST.id) == (
        RegisteredTool(newer, "a", 2, definition_hash(newer), 2.0),
        RegisteredTool(LIST, "a", 1, definition_hash(LIST), 1.0, is_there=False),
    )
    assert registry.count() == 2


def test_a_tool_that_its_origin_has_no_more_is_gone_and_its_versions_stay(registry: ToolRegistry) -> None:
    registry.sync("a", [LIST, SHIP], at=1.0)
    registry.sync("b", [SEND], at=1.0)
    assert registry.sync("a", [SHIP], at=2.0) == SyncReport(unchanged=1, removed=1)
    assert ids(registry) == ["mail:send", "shop:ship"]
    assert [(one.version, one.is_there) for one in registry.versions(LIST.id)] == [(1, False)]
    assert registry.origins() == {"a": 1, "b": 1}


def test_a_tool_that_is_back_with_its_last_definition_keeps_its_version(registry: ToolRegistry) -> None:
    registry.sync("a", [LIST], at=1.0)
    registry.sync("a", [], at=2.0)
    assert registry.sync("a", [LIST], at=3.0) == SyncReport(added=1)
    assert registry.versions(LIST.id) == (RegisteredTool(LIST, "a", 1, definition_hash(LIST), 1.0),)


def test_the_origin_that_was_synchronised_last_has_the_tool(registry: ToolRegistry) -> None:
    registry.sync("a", [LIST, SHIP], at=1.0)
    assert registry.sync("b", [LIST], at=2.0) == SyncReport(unchanged=1)
    assert registry.origins() == {"a": 1, "b": 1}
    assert registry.versions(LIST.id)[0].origin == "b"
    assert registry.sync("a", [SHIP], at=3.0) == SyncReport(unchanged=1), (
        "the tool is no longer a's to remove"
    )
    assert registry.count() == 2


def test_of_two_tools_with_the_same_id_the_first_counts(registry: ToolRegistry) -> None:
    assert registry.sync("a", [LIST, replace(LIST, description="Other.")], at=1.0) == SyncReport(added=1)
    assert [one.tool for one in registry.tools()] == [LIST]


def test_nothing_is_kept_of_tools_that_end_with_an_error(registry: ToolRegistry) -> None:
    def broken() -> Iterator[Tool]:
        yield SHIP
        raise ValueError("line 2")

    registry.sync("a", [LIST], at=1.0)
    with pytest.raises(ValueError, match="line 2"):
        registry.sync("a", broken(), at=2.0)
    assert ids(registry) == [LIST.id]
    assert registry.sync("a", [SHIP], at=3.0) == SyncReport(added=1, removed=1)


def test_a_part_of_an_id_narrows_the_list_and_the_count(registry: ToolRegistry) -> None:
    registry.sync("a", [LIST, SHIP, SEND, tool("ÄRZTE", "Liste")], at=1.0)
    assert ids(registry, part="LIST") == ["shop:list", "ÄRZTE:Liste"]
    assert registry.count(part=":s") == 2
    assert registry.count(part="ä") == 0, "only a to z match in either case"
    assert registry.count(part="%") == registry.count(part="_") == registry.count(part="*") == 0
    assert registry.count(sight_of("shop:*"), part="list") == 1


def test_a_tool_that_is_gone_in_an_export_stays_where_it_is_here(registry: ToolRegistry) -> None:
    registry.sync("a", [LIST], at=1.0)
    other = replace(LIST, description="Other.")
    gone = RegisteredTool(other, "x", 1, definition_hash(other), 2.0, is_there=False)
    assert registry.restore([gone]) == SyncReport()
    assert [one.tool for one in registry.tools()] == [LIST]
    assert len(registry.versions(LIST.id)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": math.nan},
        {"at": math.inf},
        {"at": -1.0},
        {"version": 0},
        {"version": 2**31},
        {"version": 10**30},
        {"origin": "o" * 513},
        {"tool": tool("s", "n" * 511)},
        *({"tool": tool("s", f"a{one}")} for one in REFUSED),
        {"origin": "o\0"},
    ],
)
def test_of_versions_with_one_that_no_registry_holds_none_is_kept(
    registry: ToolRegistry, wrong: dict[str, Any]
) -> None:
    good = RegisteredTool(LIST, "o", 1, definition_hash(LIST), 1.0)
    with pytest.raises(StoreError) as told:
        registry.restore([good, replace(good, **{"tool": SHIP, **wrong})])
    assert told.value.hint
    assert registry.count() == 0


@with_hostile_text
def test_hostile_text_is_kept_as_it_is_or_refused(registry: ToolRegistry, text: str) -> None:
    hostile, origin = tool(text[:60], text[:60], text), text[:100]
    assert registry.versions(text) == ()
    if name_problem(hostile, origin):
        with pytest.raises(StoreError):
            registry.sync(origin, [hostile], at=1.0)
        assert registry.count(part=text[:60]) == 0
        return
    registry.sync(origin, [hostile], at=1.0)
    assert [(one.tool, one.origin) for one in registry.tools()] == [(hostile, origin)]
    assert registry.count(part=text[:60]) >= 1
    registry.sync(origin, [], at=2.0)
