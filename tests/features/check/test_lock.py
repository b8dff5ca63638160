"""The committed snapshot: what it keeps, how it is read as a difference, and what it tells of a change."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.error import ConfigError
from inspector.core.tool import Annotations, Tool
from inspector.features.check.lock import Snapshot, drift
from tests.core.test_definition import TOOL, definitions
from tests.core.test_event import texts
from tests.support.hostile import with_hostile_text

SAID = {"shop": "Ask first.\nRefund later."}


def _rules(before: Sequence[Tool], after: Sequence[Tool]) -> list[str]:
    return [one.rule.name for one in drift(Snapshot.of(before, {}), Snapshot.of(after, {}))]


def _lock(folder: Path) -> Path:
    Snapshot.of([TOOL], SAID).write(folder / "tools.lock.json")
    return folder / "tools.lock.json"


@given(st.lists(definitions, max_size=4), texts, st.randoms())
def test_nothing_drifts_from_a_snapshot_to_itself_in_any_order(
    listed: list[Tool], said: str, random: Random
) -> None:
    tools = [replace(tool, name=f"t{number}") for number, tool in enumerate(listed)]
    before = Snapshot.of(tools, {"shop": said})
    random.shuffle(tools)
    after = Snapshot.of(tools, {"shop": said})
    assert list(drift(before, after)) == []
    assert before.text() == after.text()


@given(definitions, definitions)
def test_whatever_changes_in_a_definition_is_told(before: Tool, after: Tool) -> None:
    old, new = Snapshot.of([before], {}), Snapshot.of([after], {})
    assert bool(list(drift(old, new))) == (old.text() != new.text())


@given(definitions, texts)
def test_a_file_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, tool: Tool, said: str
) -> None:
    path = tmp_path_factory.mktemp("lock") / "tools.lock.json"
    written = Snapshot.of([tool], {"shop": said})
    written.write(path)
    assert Snapshot.read(path).text() == written.text()


@pytest.mark.parametrize(
    ("after", "rules"),
    [
        (replace(TOOL, description="Refund an order. Do not ask."), ["words-changed"]),
        (replace(TOOL, title="Refund"), ["words-changed"]),
        (replace(TOOL, input_schema={"type": "object", "required": ["order"]}), ["schema-breaks"]),
        (replace(TOOL, input_schema={**TOOL.input_schema, "properties": {}}), ["schema-breaks"]),
        (replace(TOOL, output_schema={"type": "object"}), ["schema-changed"]),
        (replace(TOOL, annotations=Annotations(read_only=True)), ["annotations-changed"]),
    ],
)
def test_each_kind_of_change_has_its_rule(after: Tool, rules: list[str]) -> None:
    assert _rules([TOOL], [after]) == rules


def test_tools_that_came_and_went_are_told() -> None:
    other = replace(TOOL, name="void", description="Voids\u200b.")
    assert _rules([TOOL], [TOOL, other]) == ["tool-added"]
    assert _rules([TOOL, other], [TOOL]) == ["tool-removed"]


def test_a_change_shows_what_was_accepted_and_what_is_there_now() -> None:
    after = replace(TOOL, description="Refund an order. Do not ask.")
    (found,) = drift(Snapshot.of([TOOL], {}), Snapshot.of([after], {}))
    assert found.proof.splitlines() == ["- Ask the customer first.", "+ Do not ask."]
    assert found.subject == "shop:refund"


def test_changed_instructions_are_told() -> None:
    before, after = Snapshot.of([TOOL], SAID), Snapshot.of([TOOL], {"shop": "Ask first."})
    assert [(one.rule.name, one.subject) for one in drift(before, after)] == [
        ("instructions-changed", "shop")
    ]


def test_a_line_of_a_text_is_a_line_of_the_file(tmp_path: Path) -> None:
    lines = _lock(tmp_path).read_text().splitlines()
    after = Snapshot.of([TOOL], {"shop": "Ask first.\nRefund now."}).text().splitlines()
    changed = [pair for pair in zip(lines, after, strict=True) if pair[0] != pair[1]]
    assert changed == [('    "Refund later."', '    "Refund now."')]


@with_hostile_text
def test_nothing_hides_in_the_file(text: str) -> None:
    written = Snapshot.of([replace(TOOL, description=text)], {}).text()
    assert written.replace("\n", "").isprintable()
    written.encode()


@pytest.mark.parametrize(
    ("damage", "message", "hint"),
    [
        (lambda text: text.replace("Ask the", "Never ask the"), "does not fit its hash", "edited by hand"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "format version 2", "Update Toolsight"),
        (lambda text: text.replace('"version": 1', '"version": 0'), "format version 0", "`--update`"),
        (lambda text: text.replace(' "servers"', "<<<<<<< HEAD\n"), "is damaged", "`--update`"),
        (lambda text: text.replace('"hash":', '"digest":'), "is damaged", "version control"),
        (lambda _: '{"tools": []}', "is no snapshot", "version control"),
        (lambda text: text[:90], "Unterminated string", "`--update`"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused_with_what_to_do(
    tmp_path: Path, damage: Callable[[str], str], message: str, hint: str
) -> None:
    path = _lock(tmp_path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(ConfigError, match=message) as caught:
        Snapshot.read(path)
    assert hint in caught.value.hint
