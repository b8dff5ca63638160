"""Models by name, and what every chat model keeps to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspector.cli.composition import model_for
from inspector.core.error import ModelError
from inspector.core.message import (
    ModelReply,
    ModelRequest,
    TextDelta,
    UserMessage,
)
from inspector.core.ports import ChatModel
from inspector.features.demo.model import DemoPlanner
from inspector.features.lab.scenario import ScriptModel
from inspector.loop.model.litellm import LitellmModel
from inspector.tokens.manifest import search_tools_definition
from tests.loop.test_litellm_openai import chunk, stream
from tests.support.local_servers import stub_server

SCENARIOS = sorted((Path(__file__).resolve().parents[3] / "fixtures" / "scenarios").glob("*.yaml"))


def test_models_are_found_by_name() -> None:
    assert isinstance(model_for("demo/planner"), DemoPlanner)
    assert isinstance(model_for(f"demo/script:{SCENARIOS[0]}"), ScriptModel)
    assert isinstance(model_for("openrouter/some/model"), LitellmModel)


@pytest.mark.parametrize("name", ["demo/planer", "demo/", "", "  "])
def test_a_stand_in_that_does_not_exist_names_those_that_do(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        model_for(name)
    assert "demo/planner" in caught.value.hint


@contextmanager
def every_model() -> Iterator[dict[str, ChatModel]]:
    with stub_server(stream(chunk({"content": "Hel"}), chunk({"content": "lo"}), chunk({}, "stop"))) as stub:
        yield {
            "planner": DemoPlanner(),
            **{path.stem: ScriptModel(path) for path in SCENARIOS},
            "litellm": LitellmModel("openai/stub", api_base=f"{stub.address}/v1"),
        }


# The model of a provider imports litellm.
@pytest.mark.slow
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
