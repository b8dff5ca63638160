"""Token counts offline: what is exact, what is an estimate, and texts that are no friend of a tokenizer."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.cli.composition import counter_for
from inspector.core.budget import Tokenizer
from inspector.core.error import ModelError
from inspector.core.ports import TokenCounter
from inspector.tokens.counter import (
    CLAUDE_2,
    AnthropicCounter,
    RememberedLengths,
    TiktokenCounter,
    tokenizer_for,
)
from tests.support.examples import examples
from tests.support.fakes import CharacterCounter

COUNTER = TiktokenCounter("demo/planner")
CLAUDE = AnthropicCounter("anthropic/claude-sonnet-4-5")
EVERY: dict[str, TokenCounter] = {
    "o200k_base": COUNTER,
    "cl100k_base": TiktokenCounter("openai/gpt-4"),
    "claude": CLAUDE,
    "claude without its file": AnthropicCounter("anthropic/claude-sonnet-4-5", Path("nowhere")),
    "characters": CharacterCounter(),
}
REAL = pytest.mark.parametrize("counter", [COUNTER, CLAUDE], ids=["tiktoken", "anthropic"])


def test_the_pieces_of_an_encoding_are_kept_once() -> None:
    import tiktoken

    assert COUNTER.count("two words") == 2
    encoding = tiktoken.get_encoding("o200k_base")
    assert not encoding._mergeable_ranks
    assert encoding.decode(encoding.encode("héllo, wörld")) == "héllo, wörld"


def test_every_name_that_is_called_exact_has_that_encoding_in_tiktoken() -> None:
    from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING, encoding_name_for_model

    written = [f"{prefix}{end}" for prefix in MODEL_PREFIX_TO_ENCODING for end in ("x", "-x", "2026")]
    for name in chain(MODEL_TO_ENCODING, MODEL_PREFIX_TO_ENCODING, written):
        tokenizer = tokenizer_for(f"openai/{name}")
        if tokenizer.exact:
            assert tokenizer.name == encoding_name_for_model(name), name
        else:
            assert tokenizer.label == "o200k_base, estimate"


@pytest.mark.parametrize(
    ("model", "name", "exact"),
    [
        *((f"{provider}gpt-5", "o200k_base", True) for provider in ("", "openai/", "azure/")),
        ("gpt-4o-mini", "o200k_base", True),
        ("o3", "o200k_base", True),
        ("ft:gpt-4o:a:b", "o200k_base", True),
        ("openrouter/openai/gpt-4-turbo", "cl100k_base", True),
        *((name, "o200k_base", False) for name in ("ollama/gpt-4o", "gemini/gemini-3")),
        ("demo/planner", "o200k_base", True),
    ],
)
def test_a_count_says_whether_it_is_exact(model: str, name: str, exact: bool) -> None:
    tokenizer = tokenizer_for(model)
    assert (tokenizer.name, tokenizer.exact) == (name, exact)
    assert counter_for(model).tokenizer == tokenizer


def adds_up(counter: TokenCounter, text: str) -> None:
    lengths = counter.lengths(text)
    assert len(lengths) == counter.count(text)
    assert sum(lengths) == len(text.encode("utf-8", "replace"))
    assert all(length >= 0 for length in lengths)


@pytest.mark.parametrize("name", sorted(EVERY))
@given(
    st.one_of(
        st.text(st.characters(exclude_categories=()), max_size=200),
        st.text(st.sampled_from("a \0\n\t\ud800\udfff\ufdfa\u0301é😀ｱﾞÅﬁ<>{}"), max_size=200),
        st.builds(str.__mul__, st.sampled_from([" ", "\n", " x", "\ufdfa", "a"]), st.integers(5_000, 41_000)),
    )
)
@examples(share=0.5)
def test_the_lengths_of_the_tokens_are_the_text_whoever_counts(name: str, text: str) -> None:
    adds_up(EVERY[name], text)


@pytest.mark.slow
@REAL
@pytest.mark.parametrize(
    "text",
    [" " * 300_000, "\ud800" * 300_000],
    ids=lambda text: ascii(text[:4]),
)
def test_a_long_run_of_anything_takes_no_longer_than_a_moment(counter: TokenCounter, text: str) -> None:
    counter.count("the encoding is loaded")
    began = time.process_time()
    assert counter.count(text) > 270
    assert time.process_time() - began < 3


COUNTS_OFFLINE = """
import socket, sys
def refuse(*_, **__): raise OSError("no network here")
socket.socket.connect = socket.getaddrinfo = refuse
from inspector.cli.composition import counter_for
from inspector.loop.model.litellm import LitellmModel
from inspector.tokens.accounting import LitellmPrices
counter = counter_for("openai/gpt-4")
claude = counter_for("anthropic/claude-sonnet-4-5")
assert not {"tiktoken", "tokenizers"} & set(sys.modules)
assert claude.count("hello world") == 2
assert LitellmPrices().prices("openai/gpt-5")
assert LitellmModel("anthropic/claude-sonnet-4-5").window >= 200_000
print(*(counter_for(f"openai/gpt-{n}").count("hello world") for n in (4, 5)), "litellm" in sys.modules)
"""


@pytest.mark.slow
def test_counts_prices_and_windows_need_no_network_and_do_not_wait_for_litellm() -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TIKTOKEN")}
    command = [sys.executable, "-c", COUNTS_OFFLINE]
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "2", "False"]


def test_a_chosen_cache_that_lacks_the_encoding_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: str) -> bytes:
        raise OSError("no network here")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    monkeypatch.setattr("tiktoken.load.read_file", refuse)
    with pytest.raises(ModelError, match="the token encoding cl100k_base cannot be loaded") as failed:
        TiktokenCounter("openai/gpt-4").count("hello world")
    assert str(tmp_path) in failed.value.hint


# Counts that are remembered between sessions.

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
    return RememberedLengths(counter, folder / "t.db", kept=kept)


@pytest.mark.parametrize("text", TEXTS)
def test_a_remembered_count_is_the_count(tmp_path: Path, text: str) -> None:
    exact = TiktokenCounter("demo/planner")
    for _ in range(2):
        counter = remembered(exact, tmp_path)
        assert counter.count(text) == exact.count(text)
        assert list(counter.lengths(text)) == list(exact.lengths(text))


def test_the_oldest_texts_are_forgotten(tmp_path: Path) -> None:
    letters = Letters()
    counter = remembered(letters, tmp_path, kept=2)
    for text in ("a", "b", "c", "c", "b", "a"):
        counter.count(text)
    assert letters.asked == ["a", "b", "c", "a"]


# Claude is counted by its maker's old tokenizer, which is an estimate, or by another one that says so.

MODEL = "anthropic/claude-sonnet-4-5"


@pytest.mark.parametrize(
    "model",
    [MODEL, "claude-3-haiku-20240307", "anthropic/next", "bedrock/us.anthropic.claude-sonnet-4-5-v1:0"],
)
def test_claude_is_counted_by_its_makers_tokenizer_which_is_an_estimate(model: str) -> None:
    assert counter_for(model).tokenizer == CLAUDE_2
    assert CLAUDE_2.label == "anthropic (Claude 2), estimate"
