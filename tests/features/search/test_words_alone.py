"""Without its embedding model every search says in a line that it ranks by words alone, and is as careful."""

import json
from pathlib import Path

import pytest

from inspector.cli import composition
from inspector.search.index import packaged_model
from inspector.search.index.packaged_model import FastembedEmbedder
from tests.support.commands import Toolsight

WORDS_ALONE = ("--set", "discovery.embedding_model=none")
pytestmark = pytest.mark.slow

REFUSED = "ranks by words alone: no embedding model is in use"
MISSING = "ranks by words alone: the embedding model's package no_such_package is not installed."
TOOLS = [
    {"name": name, "description": about, "inputSchema": {"type": "object"}}
    for name, about in (
        ("list_orders", "Late orders of a customer."),
        ("refund_order", "Pay an order back."),
        ("read_file", "Read a text file."),
    )
]


@pytest.fixture
def shop(tmp_path: Path) -> str:
    (tmp_path / "shop.json").write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
    return str(tmp_path / "shop.json")


@pytest.fixture
def _missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged_model, "_FILES", (("no_such_package", "model.onnx", "model.onnx", "0"),))
    monkeypatch.setattr(composition, "make_embedder", lambda _name: FastembedEmbedder(tmp_path))


SEARCHES = {
    "search": ("search", "late orders"),
    "search json": ("search", "late orders", "--json"),
    "steps": ("search", "late orders, then read the file", "--steps"),
    "compare": ("search", "late orders", "--compare"),
    "why": ("search", "late orders", "--why", "list_orders"),
    "chat": ("chat", "Which orders are late?", "--set", "discovery.auto=always"),
    "check": ("check", "--expect", "late orders -> list_orders"),
    "check sarif": ("check", "--expect", "late orders -> list_orders", "--format", "sarif"),
    "bench": ("bench", "--ranker", "hybrid", "--data"),
    "bench json": ("bench", "--ranker", "hybrid", "--json", "--data"),
}


def words_of(words: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The words of a search; requests to measure with are in a file."""
    if words[-1] != "--data":
        return words
    (folder / "mine.jsonl").write_text(
        '{"id": "1", "query": "late orders", "relevant": ["shop:list_orders"]}\n'
    )
    return (*words, str(folder / "mine.jsonl"))


@pytest.mark.usefixtures("_missing")
@pytest.mark.parametrize("words", SEARCHES.values(), ids=SEARCHES)
def test_without_its_model_every_search_says_in_a_line_that_it_ranks_by_words_alone(
    toolsight: Toolsight, shop: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = toolsight(*words_of(words, tmp_path), "--", shop)
    assert done.exit_code == 0, done.stderr
    is_json = "--json" in words
    assert MISSING in (done.stdout if is_json else done.stdout + done.stderr)
    assert "Reinstall Toolsight" in done.stdout + done.stderr


@pytest.mark.parametrize("words", [SEARCHES["search"], SEARCHES["chat"], SEARCHES["check"]])
def test_with_a_model_that_is_refused_it_is_said_too(
    toolsight: Toolsight, shop: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = toolsight(*words_of(words, tmp_path), *WORDS_ALONE, "--", shop)
    assert (done.exit_code, REFUSED in done.stdout) == (0, True)
    measured = toolsight(
        "bench",
        "--set",
        "discovery.embedding_model=none",
        *words_of(("--ranker", "hybrid", "--data"), tmp_path),
        shop,
    )
    assert (measured.exit_code, REFUSED in measured.stdout) == (0, True)


@pytest.mark.parametrize("words", [SEARCHES["search"], SEARCHES["check"]])
def test_a_ranker_that_needs_no_model_says_nothing_of_it(
    toolsight: Toolsight, shop: str, words: tuple[str, ...]
) -> None:
    assert "words alone" not in toolsight(*words, *WORDS_ALONE, "--set", "discovery.ranker=bm25", shop).stdout
