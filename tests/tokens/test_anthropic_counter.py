"""Counting for Claude: by its maker's old tokenizer, which is an estimate, or by another one that says so."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.cli.composition import counter_for
from inspector.tokens.counter import CLAUDE_2, AnthropicCounter, TiktokenCounter, tokenizer_for
from inspector.tokens.prices import tokenizer_folder

MODEL = "anthropic/claude-sonnet-4-5"
CLAUDE = AnthropicCounter(MODEL)
ESTIMATE = TiktokenCounter(MODEL)
CLAUDE_FILE = (tokenizer_folder() or Path()) / "anthropic_tokenizer.json"


def test_a_character_that_is_replaced_before_counting_leaves_its_neighbours_their_bytes() -> None:
    assert CLAUDE.lengths("hello Ａ world") == [5, 4, 6]
    assert sum(CLAUDE.lengths("\ufdfa")) == 3
    assert CLAUDE.lengths("a\ufdfab")[0] == 1


@pytest.mark.parametrize(
    "model",
    [MODEL, "claude-3-haiku-20240307", "anthropic/next", "bedrock/us.anthropic.claude-sonnet-4-5-v1:0"],
)
def test_claude_is_counted_by_its_makers_tokenizer_which_is_an_estimate(model: str) -> None:
    assert counter_for(model).tokenizer == CLAUDE_2
    assert CLAUDE_2.label == "anthropic (Claude 2), estimate"


@pytest.mark.parametrize(
    "model", ["ollama/claude-like", "demo/script:claude.yaml", "demo/planner", "openai/gpt-5"]
)
def test_what_runs_here_or_is_somebody_elses_is_not_claude(model: str) -> None:
    assert counter_for(model).tokenizer == tokenizer_for(model)


def test_a_count_for_claude_is_the_tokenizers_own() -> None:
    from tokenizers import Tokenizer

    encoder = Tokenizer.from_file(str(CLAUDE_FILE))

    @given(st.text(st.characters(exclude_categories=()), max_size=400))
    def same(text: str) -> None:
        assert CLAUDE.count(text) == len(encoder.encode(text.encode("utf-8", "replace").decode()))

    same()


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[1]"])
def test_a_broken_tokenizer_of_claude_leaves_an_estimate_that_says_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CLAUDE_FILE.name).write_bytes(content)
    counter = AnthropicCounter(MODEL, tmp_path)
    assert counter.tokenizer.label == "o200k_base, estimate"
    assert counter.count("hello world") == ESTIMATE.count("hello world")
    assert counter.lengths("hello world") == ESTIMATE.lengths("hello world")
