"""Token counts offline: what is exact, what is an estimate, and texts that are no friend of a tokenizer."""

import os
import subprocess
import sys
import time
from itertools import chain

import pytest
from hypothesis import given, settings, strategies as st

from fixtures.hostile import HOSTILE
from inspector.adapters.model import counter_for
from inspector.adapters.tiktoken_counter import TiktokenCounter, tokenizer_for

COUNTER = TiktokenCounter("demo/planner")


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
    "name",
    [
        "gpt-5",
        "gpt-5.1-mini",
        "gpt-4o-mini",
        "gpt-4.1",
        "o3",
        "o3-mini",
        "gpt-4",
        "gpt-4-turbo",
        "gpt-3.5-turbo",
        "ft:gpt-4o:a:b",
    ],
)
@pytest.mark.parametrize("provider", ["", "openai/", "azure/", "openrouter/openai/"])
def test_openais_chat_models_are_counted_exactly_wherever_they_are_served(provider: str, name: str) -> None:
    assert tokenizer_for(f"{provider}{name}").exact


@pytest.mark.parametrize(
    "name", ["ollama/gpt-4o", "openai/gpt-oss-120b", "gpt-4x", "o30", "gemini/gemini-3", ""]
)
def test_a_model_that_only_sounds_like_one_of_them_is_an_estimate(name: str) -> None:
    assert not tokenizer_for(name).exact


@pytest.mark.parametrize(
    ("model", "name", "exact"),
    [
        ("openai/gpt-5", "o200k_base", True),
        ("gpt-4o-mini", "o200k_base", True),
        ("openai/gpt-4-turbo", "cl100k_base", True),
        ("anthropic/claude-sonnet-4-5", "o200k_base", False),
        ("ollama/qwen3", "o200k_base", False),
        ("demo/planner", "o200k_base", True),
    ],
)
def test_a_count_says_whether_it_is_exact(model: str, name: str, exact: bool) -> None:
    tokenizer = tokenizer_for(model)
    assert (tokenizer.name, tokenizer.exact) == (name, exact)
    assert counter_for(model).tokenizer == tokenizer


@given(st.text(max_size=400))
@settings(deadline=None)
def test_a_count_is_tiktokens_own(text: str) -> None:
    import tiktoken

    clean = text.encode("utf-8", "replace").decode()
    assert COUNTER.count("the encoding is loaded") > 0
    assert COUNTER.count(text) == len(tiktoken.get_encoding("o200k_base").encode_ordinary(clean))


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_can_be_counted(name: str) -> None:
    assert COUNTER.count(HOSTILE[name]) >= (1 if HOSTILE[name] else 0)


def test_nothing_is_no_token_and_special_tokens_are_text() -> None:
    assert COUNTER.count("") == 0
    assert COUNTER.count("<|endoftext|>") > 1


@pytest.mark.parametrize(
    "text",
    [
        (" " * 4999 + "x") * 200,
        " " * 1_000_000,
        "\r\n" * 500_000,
        "A" * 1_000_000,
        "a\u0301" * 500_000,
        "\ud800" * 1_000_000,
        "\0" * 1_000_000,
        "{[" * 500_000,
        "{" * 1_000_000,
        "\n" * 1_000_000,
        "\t " * 500_000,
        "a" * 1_000_000,
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_a_megabyte_of_anything_takes_no_longer_than_a_moment(text: str) -> None:
    COUNTER.count("the encoding is loaded")
    began = time.process_time()
    assert COUNTER.count(text) > 1_000
    assert time.process_time() - began < 3


def test_a_long_run_of_spaces_costs_hardly_more_for_being_cut() -> None:
    import tiktoken

    text = "a" + " " * 12_000 + "b"
    assert COUNTER.count("the encoding is loaded") > 0
    exact = len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))
    assert exact <= COUNTER.count(text) <= exact + 3


COUNTS_OFFLINE = """
import socket, sys
def refuse(*_, **__): raise OSError("no network here")
socket.socket.connect = socket.getaddrinfo = refuse
from inspector.adapters.model import counter_for
counter = counter_for("openai/gpt-4")
assert "tiktoken" not in sys.modules
print(*(counter_for(f"openai/gpt-{n}").count("hello world") for n in (4, 5)), "litellm" in sys.modules)
"""


def _run(**env: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TIKTOKEN")}
    command = [sys.executable, "-c", COUNTS_OFFLINE]
    return subprocess.run(command, env={**clean, **env}, capture_output=True, text=True, check=False)


def test_both_encodings_load_without_a_network_and_without_litellm() -> None:
    assert _run().stdout.split() == ["2", "2", "False"]


def test_a_chosen_cache_that_lacks_the_encoding_is_named(tmp_path: os.PathLike[str]) -> None:
    failed = _run(TIKTOKEN_CACHE_DIR=str(tmp_path))
    assert "ModelError: the token encoding cl100k_base cannot be loaded" in failed.stderr
