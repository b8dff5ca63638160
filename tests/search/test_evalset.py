"""Data sets as files: what is read from them, and that no bad line goes unseen."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from docs.benchmark.data import sample
from inspector.access.reach import EXACT, EvalCase, EvalSet
from inspector.core.error import ConfigError
from inspector.core.tool import Tool
from inspector.search.answer.evalset import append_cases, read_cases, read_evalset, read_tools

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}
TOOL = {"id": "t1", "server": "shop", "name": "get_order", "description": "Get it.", "inputSchema": SCHEMA}
QUERY = {"id": "q1", "query": "where is it", "relevant": ["t1"], "split": "test"}

WriteLines = Callable[..., Path]


@pytest.fixture
def lines(tmp_path: Path) -> WriteLines:
    """Writes each value, or raw bytes, as a line of a file in the folder."""

    def write(name: str, *values: object) -> Path:
        path = tmp_path / name
        rows = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
        path.write_bytes(b"\n".join(rows))
        return path

    return write


def needs(*groups: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group.split()) for group in groups)


def test_labels_name_the_tools_as_toolsight_does(lines: WriteLines, tmp_path: Path) -> None:
    lines("tools.jsonl", TOOL)
    lines("queries.jsonl", QUERY)
    found = read_evalset(tmp_path)
    assert found.name == tmp_path.name
    assert found.tools == (Tool("shop", "get_order", "Get it.", SCHEMA),)
    assert found.cases == (EvalCase("q1", "where is it", needs("shop:get_order"), "test"),)
    assert found.unknown() == ()


def test_tools_of_the_same_name_are_all_kept_and_told_apart(lines: WriteLines, tmp_path: Path) -> None:
    rows = [{"id": str(number), "name": name} for number, name in enumerate(["x", "x", "x#2", "x"])]
    lines("tools.jsonl", *rows)
    lines("queries.jsonl", {"id": "q", "query": "", "relevant": ["1", "2"]})
    found = read_evalset(tmp_path)
    assert [tool.name for tool in found.tools] == ["x", "x#3", "x#2", "x#4"]
    assert found.cases[0].relevant == needs(":x#3", ":x#2")


@given(st.lists(st.sampled_from(["x", "x#2", "x#3", "y", "x#2#2"]), max_size=12))
def test_no_two_tools_of_a_folder_share_an_id(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("tools")
    rows = [json.dumps({"id": str(number), "name": name}) for number, name in enumerate(names)]
    (folder / "tools.jsonl").write_text("\n".join(rows))
    found = [tool.name for tool in read_tools(folder)]
    assert len(set(found)) == len(names)
    assert all(new.startswith(old) for new, old in zip(found, names, strict=True))


def test_cases_take_groups_and_flat_lists(lines: WriteLines) -> None:
    path = lines(
        "cases.jsonl",
        {"id": "1", "query": "x", "relevant": [["s:a", "s:b"], ["s:c"]], "kind": "exact"},
        {"id": "2", "query": "y", "relevant": ["s:a", "s:b"]},
        {"id": "3", "query": "z", "relevant": []},
    )
    assert read_cases(path) == (
        EvalCase("1", "x", needs("s:a s:b", "s:c"), EXACT),
        EvalCase("2", "y", needs("s:a", "s:b")),
        EvalCase("3", "z"),
    )


# Two halves of a surrogate pair are one character once they are JSON; that is not what is tested here.
text = st.text(st.characters(exclude_categories=()), max_size=20).filter(
    lambda value: value == value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
groups = st.lists(st.frozensets(text, min_size=1, max_size=3), max_size=3, unique=True).map(tuple)
cases = st.lists(st.builds(EvalCase, text, text, groups, text), max_size=5, unique_by=lambda case: case.id)


@given(cases)
def test_written_cases_are_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, given_cases: list[EvalCase]
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.jsonl"
    path.unlink(missing_ok=True)
    append_cases(path, given_cases)
    assert list(read_cases(path)) == given_cases


GOOD = {"id": "q0", "query": "x", "relevant": []}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"{", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b"\xff", "not UTF-8"),
        (b'{"id": NaN}', "NaN is not JSON"),
        (b"1" * 5000, "is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        ({"query": "x", "relevant": []}, "id is missing"),
        ({"id": "a", "relevant": []}, "query is missing"),
        ({"id": 1, "query": "x", "relevant": []}, "id must be a string, not a number"),
        ({"id": "a", "query": "x"}, "relevant is missing"),
        ({"id": "a", "query": "x", "relevant": "s:a"}, "relevant must be a list, not a string"),
        ({"id": "a", "query": "x", "relevant": [3]}, "relevant[0] must be a list, not a number"),
        ({"id": "a", "query": "x", "relevant": [[]]}, "relevant[0] is empty"),
        ({"id": "a", "query": "x", "relevant": [["s:a", None]]}, "relevant[0][1] must be a string, not null"),
        ({"id": "a", "query": "x", "relevant": [], "groups": 3}, "groups must be a list"),
        ({"id": "a", "query": "x", "relevant": [], "kind": 3}, "kind must be a string"),
        ({"id": "q0", "query": "x", "relevant": []}, "'q0' appears twice"),
    ],
)
def test_a_bad_line_is_told_with_its_place_and_what_to_do(
    lines: WriteLines, bad: object, message: str
) -> None:
    path = lines("cases.jsonl", GOOD, b"", bad)
    with pytest.raises(ConfigError) as raised:
        read_cases(path)
    assert raised.value.message.startswith(f"{path}:3")
    assert message in raised.value.message
    assert raised.value.hint


def test_a_label_for_a_tool_that_the_folder_does_not_have_is_told(lines: WriteLines, tmp_path: Path) -> None:
    lines("tools.jsonl", TOOL)
    path = lines("queries.jsonl", QUERY, {**QUERY, "id": "q2", "relevant": ["t\ud800" + "9" * 1000]})
    with pytest.raises(ConfigError) as raised:
        read_evalset(tmp_path)
    assert raised.value.message.startswith(f"{path}:2: no tool has the id 't\\ud8009")
    assert len(raised.value.message) < len(str(path)) + 120


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.jsonl", "does not exist"),
        (".", "is a folder"),
        ("nul\0.jsonl", "cannot be read"),
        ("n" * 5000, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        read_cases(tmp_path / name)
    assert raised.value.hint


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written") as raised:
        append_cases(tmp_path / "missing/cases.jsonl", [])
    assert raised.value.hint


@given(st.integers(0, 50), st.integers(0, 50))
def test_a_sample_is_the_documented_one_and_in_order(size: int, count: int) -> None:
    evalset = EvalSet("x", (), tuple(EvalCase(str(number), "") for number in range(size)))
    found = [int(case.id) for case in sample(evalset, count).cases]
    if size <= count:
        assert found == list(range(size))
    else:
        assert found == sorted(np.random.default_rng(0).choice(size, count, replace=False))
