"""Counts that are remembered between sessions."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from inspector.core.budget import Tokenizer
from inspector.tokens.counter import RememberedLengths, TiktokenCounter

TEXTS = ["", "one", '{"name":"weather__get_forecast"}', "日本 \ud800 …", "a" * 3000]


class Letters:
    """A tokenizer whose tokens are letters; `asked` are the texts it had to count itself."""

    def __init__(self, name: str = "letters", length: int = 1) -> None:
        self.tokenizer = Tokenizer(name, exact=True)
        self.asked: list[str] = []
        self._length = length

    def count(self, text: str) -> int:
        return len(self.lengths(text))

    def lengths(self, text: str) -> Sequence[int]:
        self.asked.append(text)
        return [self._length] * len(text)


def remembered(counter: Letters | TiktokenCounter, folder: Path, kept: int = 100) -> RememberedLengths:
    return RememberedLengths(counter, folder / "t.db", kept=kept, busy_timeout_ms=50)


@pytest.mark.parametrize("text", TEXTS)
def test_a_remembered_count_is_the_count(tmp_path: Path, text: str) -> None:
    exact = TiktokenCounter("demo/planner")
    for _ in range(2):
        counter = remembered(exact, tmp_path)
        assert counter.count(text) == exact.count(text)
        assert list(counter.lengths(text)) == list(exact.lengths(text))


def test_another_session_counts_no_text_twice(tmp_path: Path) -> None:
    first, second = Letters(), Letters()
    for letters in (first, second):
        counter = remembered(letters, tmp_path)
        assert [counter.count(text) for text in TEXTS] == [len(text) for text in TEXTS]
    assert (first.asked, second.asked) == (TEXTS, [])


def test_what_one_tokenizer_counted_says_nothing_of_another(tmp_path: Path) -> None:
    assert remembered(Letters("one", 1), tmp_path).lengths("ab") == [1, 1]
    assert remembered(Letters("two", 2), tmp_path).lengths("ab") == [2, 2]


def test_the_oldest_texts_are_forgotten(tmp_path: Path) -> None:
    letters = Letters()
    counter = remembered(letters, tmp_path, kept=2)
    for text in ("a", "b", "c", "c", "b", "a"):
        counter.count(text)
    assert letters.asked == ["a", "b", "c", "a"]


def test_without_a_usable_database_everything_is_counted(tmp_path: Path) -> None:
    (tmp_path / "t.db").write_bytes(b"no database" * 100)
    counter = remembered(Letters(), tmp_path)
    assert [counter.count("abc"), counter.count("abc")] == [3, 3]
