"""What each model's provider takes beyond a plain request."""

import pytest

from inspector.cli.composition import model_for
from inspector.loop.model.litellm import LitellmModel
from inspector.schema.schema import PLAIN, ModelFeatures

CLAUDE = ModelFeatures(True, "tool_reference", "anthropic")


@pytest.mark.parametrize(
    ("name", "features"),
    [
        ("anthropic/claude-sonnet-4-5", CLAUDE),
        ("claude-haiku-4-5", CLAUDE),
        ("anthropic/claude-opus-4-5-20251101", CLAUDE),
        ("anthropic/claude-opus-4-1", ModelFeatures(True, "", "anthropic")),
        ("anthropic/claude-of-tomorrow", ModelFeatures(True, "", "anthropic")),
        ("openai/gpt-5.4", ModelFeatures(deferral="tool_search")),
        ("gpt-5.4-mini", ModelFeatures(deferral="tool_search")),
        ("openai/gpt-5.2", PLAIN),
        ("openai/gpt-5", PLAIN),
        ("openrouter/anthropic/claude-sonnet-4.5", PLAIN),
        ("azure/gpt-5.4", PLAIN),
        ("ollama/claude-sonnet-4-5", PLAIN),
        ("ollama/llama3", PLAIN),
    ],
)
def test_marks_and_deferral_are_for_models_that_take_them(name: str, features: ModelFeatures) -> None:
    assert LitellmModel(name).features == features


def test_a_stand_in_takes_nothing() -> None:
    assert model_for("demo/planner").features == PLAIN
