"""The file of requests beside a server: how it is read, added to and taken from."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from inspector.config.reader import requests_beside
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.search.answer.expectation import Expectation
from inspector.search.answer.request_file import add_requests, lines_of, read_expectations, without_line
from tests.support.hostile import with_hostile_text

TEXT = "# what people ask\r\n\r\nlate orders -> shop:list_orders@5\n  tell a joke -> nothing\n# end"
LATE = Expectation("late orders", frozenset({"shop:list_orders"}), 5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "toolsight.requests"
    path.write_bytes(TEXT.encode())
    return path


def test_lines_say_what_is_expected_and_comments_and_blank_lines_say_nothing(file: Path) -> None:
    assert read_expectations(file) == (LATE, Expectation("tell a joke", frozenset()))
    assert [line.number for line in lines_of(file)] == [3, 4]


def test_a_broken_line_is_an_error_with_its_number_and_the_others_are_still_there(file: Path) -> None:
    file.write_text("late orders\na -> b@0\nc -> d\n")
    with pytest.raises(
        ConfigError, match=r"toolsight\.requests:1: the expectation 'late orders' has no arrow"
    ):
        read_expectations(file)
    first, second, third = lines_of(file)
    assert first.problem is not None
    assert "REQUEST -> TOOL" in first.problem.hint
    assert (second.number, second.expectation) == (2, None)
    assert third.expectation == Expectation("c", frozenset({"d"}))


@pytest.mark.parametrize(
    ("data", "said"), [(b"a -> b\n\xff -> c", ":2 is not UTF-8"), (b"a" * (1024**2 + 1), "larger than 1 MB")]
)
def test_what_is_no_text_or_too_much_of_it_is_refused(file: Path, data: bytes, said: str) -> None:
    file.write_bytes(data)
    with pytest.raises(ConfigError, match=said):
        lines_of(file)


def test_a_request_is_added_at_the_end_and_taken_out_again_and_all_else_stays_byte_for_byte(
    file: Path,
) -> None:
    add_requests(file, [("give\nmoney back", "shop:refund_order")])
    assert file.read_bytes() == f"{TEXT}\ngive money back -> shop:refund_order\n".encode()
    without_line(file, lines_of(file)[0])
    assert file.read_bytes() == (TEXT.replace("late orders -> shop:list_orders@5\n", "").encode()) + (
        b"\ngive money back -> shop:refund_order\n"
    )


def test_a_line_that_is_no_longer_there_is_not_taken_out(file: Path) -> None:
    line = lines_of(file)[0]
    file.write_text("late orders -> shop:list_orders@3\n" * 9)
    with pytest.raises(ConfigError, match="has changed in the meantime"):
        without_line(file, line)
    assert len(lines_of(file)) == 9


@pytest.mark.parametrize(
    ("query", "tool"), [("# orders", "a:b"), (" ", "a:b"), ("a", "a:b@5"), ("a", "a:b>=1")]
)
def test_what_would_be_read_as_something_else_is_not_written(file: Path, query: str, tool: str) -> None:
    with pytest.raises(ConfigError, match="cannot be written as a line"):
        add_requests(file, [(query, tool)])
    assert file.read_bytes() == TEXT.encode()


def test_a_file_that_cannot_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written") as caught:
        add_requests(tmp_path / "none" / "toolsight.requests", [("a", "b:c")])
    assert "folder" in caught.value.hint


@with_hostile_text
def test_any_text_that_is_written_is_one_line_that_says_the_same(text: str, tmp_path: Path) -> None:
    path = tmp_path / "toolsight.requests"
    for query in (text, f"list {text}", f"{text} orders"):
        path.unlink(missing_ok=True)
        try:
            add_requests(path, [(query, "shop:list_orders")])
        except ConfigError:
            assert not path.exists() or not path.read_bytes()
        else:
            [one] = read_expectations(path)
            assert one.tools == {"shop:list_orders"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("ab# ->@\t", max_size=8), max_size=8), st.data())
def test_taking_a_line_out_leaves_exactly_the_others(
    tmp_path: Path, texts: list[str], data: st.DataObject
) -> None:
    path = tmp_path / "toolsight.requests"
    path.write_text("\n".join(texts))
    before = lines_of(path)
    if before:
        gone = data.draw(st.sampled_from(before))
        without_line(path, gone)
        assert [one.text for one in lines_of(path)] == [one.text for one in before if one is not gone]
        assert path.read_text() == "\n".join(texts[: gone.number - 1] + texts[gone.number :])


def test_the_file_stands_beside_a_server_and_a_new_one_never_below_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, here = tmp_path / "own" / "dist", tmp_path / "own"
    build.mkdir(parents=True)
    (build / "index.js").touch()
    server = ServerSpec("s", command="node", args=(str(build / "index.js"),))
    monkeypatch.chdir(here)
    assert requests_beside([server]) == here / "toolsight.requests"
    assert requests_beside([server, server]) == here / "toolsight.requests"
    (build / "toolsight.requests").touch()
    assert requests_beside([server]) == build / "toolsight.requests"
    (build / "toolsight.requests").unlink()
    monkeypatch.chdir(tmp_path.parent)
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert requests_beside([server]) == build / "toolsight.requests"
    assert requests_beside([ServerSpec("s", url="http://localhost/mcp")]) == other / "toolsight.requests"
