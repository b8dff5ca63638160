"""Token counters and models by name, and what every chat model keeps to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.hostile import HOSTILE
from inspector.adapters.litellm_model import LitellmModel
from inspector.adapters.model import counter_for, model_for
from inspector.adapters.planner import DemoPlanner
from inspector.adapters.script_model import ScriptModel
from inspector.adapters.tiktoken_counter import TiktokenCounter, tokenizer_for
from inspector.domain.error import ModelError, ToolsightError
from inspector.domain.manifest import search_tools_definition
from inspector.domain.message import ModelReply, ModelRequest, TextDelta, UserMessage
from inspector.engine.ports import ChatModel
from tests.adapters.test_litellm_openai import chunk, stream
from tests.support.stub_server import stub_server

SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "scenarios").glob("*.yaml"))
O200K = TiktokenCounter("openai/gpt-5")


@given(st.text(max_size=400))
@settings(deadline=None)
def test_a_count_is_tiktokens_own(text: str) -> None:
    import tiktoken

    clean = text.encode("utf-8", "replace").decode()
    assert O200K.count("this loads the encoding") > 0
    assert O200K.count(text) == len(tiktoken.get_encoding("o200k_base").encode_ordinary(clean))


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_can_be_counted(name: str) -> None:
    assert O200K.count(HOSTILE[name]) >= (1 if HOSTILE[name] else 0)


@pytest.mark.parametrize("unit", [" ", "\n", "a", "\t ", "{"])
def test_a_million_of_one_character_can_be_counted(unit: str) -> None:
    assert O200K.count(unit * 1_000_000) > 1000


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


@pytest.mark.parametrize(
    "model", ["gpt-5", "gpt-4o-mini", "gpt-4.1", "gpt-4-turbo", "gpt-3.5-turbo", "o3-mini"]
)
def test_the_encoding_is_the_one_tiktoken_names_for_the_model(model: str) -> None:
    import tiktoken

    assert tokenizer_for(f"openai/{model}").name == tiktoken.encoding_name_for_model(model)


def test_models_are_found_by_name() -> None:
    assert isinstance(model_for("demo/planner"), DemoPlanner)
    assert isinstance(model_for(f"demo/script:{SCENARIOS[0]}"), ScriptModel)
    assert isinstance(model_for("openrouter/some/model"), LitellmModel)


@pytest.mark.parametrize("name", ["demo/planer", "demo/", "", "  "])
def test_a_stand_in_that_does_not_exist_names_those_that_do(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        model_for(name)
    assert "demo/planner" in caught.value.hint


def test_a_script_that_does_not_exist_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ToolsightError, match="nowhere"):
        model_for(f"demo/script:{tmp_path / 'nowhere.yaml'}")


def test_a_stand_in_says_that_it_is_no_llm() -> None:
    for name in ("demo/planner", f"demo/script:{SCENARIOS[0]}"):
        assert "no LLM" in model_for(name).label


@contextmanager
def every_model() -> Iterator[dict[str, ChatModel]]:
    with stub_server(stream(chunk({"content": "Hel"}), chunk({"content": "lo"}), chunk({}, "stop"))) as stub:
        yield {
            "planner": DemoPlanner(),
            **{path.stem: ScriptModel(path) for path in SCENARIOS},
            "litellm": LitellmModel("openai/stub", api_base=f"{stub.address}/v1"),
        }


async def test_every_model_ends_with_one_reply_that_its_pieces_make_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    tools = (search_tools_definition("- shop (1 tool): list_orders"),)
    request = ModelRequest("", (UserMessage("Which orders are late?"),), tools, 100)
    with every_model() as models:
        for name, model in models.items():
            parts = [part async for part in model.stream(request)]
            replies = [part for part in parts if isinstance(part, ModelReply)]
            pieces = "".join(part.text for part in parts if isinstance(part, TextDelta))
            assert parts[-1:] == replies, name
            assert pieces == replies[0].text, name
            assert model.window > 0, name
