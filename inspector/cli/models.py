"""Models and token counters by name."""

from pathlib import Path

from inspector.cli.options import Options
from inspector.core.closest import closest
from inspector.core.error import ModelError
from inspector.core.ports import ChatModel, TokenCounter
from inspector.schema.dialect import PLAIN, ModelFeatures
from inspector.tokens.counter import AnthropicCounter, TiktokenCounter, is_claude

PLANNER = "demo/planner"
_SCRIPT = "demo/script:"
_EXAMPLES = "openai/gpt-5, anthropic/claude-sonnet-4-5, ollama/qwen3, demo/planner"


def model_for(name: str, *, api_base: str = "", window: int | None = None) -> ChatModel:
    """The model with that name: any litellm model or a `demo/…` model. Raises ModelError.

    `api_base` and `window` are for models of litellm.
    """
    if name == PLANNER:
        from inspector.demo.model import DemoPlanner

        return DemoPlanner()
    if name.startswith(_SCRIPT):
        from inspector.demo.model import ScriptModel

        return ScriptModel(Path(name.removeprefix(_SCRIPT)))
    if name.startswith("demo/") or not name.strip():
        near = ", ".join(closest(name, [PLANNER, f"{_SCRIPT}FILE"])) or PLANNER
        raise ModelError(f"there is no model '{name}'", hint=f"Did you mean {near}? Others: {_EXAMPLES}.")
    from inspector.loop.model.litellm import LitellmModel

    return LitellmModel(name, api_base=api_base, window=window)


def chosen_model(name: str, options: Options) -> ChatModel:
    """The model with that name, with the address and the window that were given for it. Raises ModelError.

    A window is given for the model of `--model`, an address also for others of its provider. Another
    provider's model is at that provider's own address: its key has no business elsewhere.
    """
    given_for = options.model.partition("/")[0]
    api_base = options.api_base if given_for in ("demo", name.partition("/")[0]) else ""
    return model_for(name, api_base=api_base, window=options.window if name == options.model else None)


def counter_for(name: str) -> TokenCounter:
    """The token counter for the model with that name."""
    return AnthropicCounter(name) if is_claude(name) else TiktokenCounter(name)


def bulk_counter_for(name: str) -> TokenCounter:
    """A counter for megabytes of text: for Claude an estimate too, and four times as fast."""
    return TiktokenCounter(name)


def features_for(name: str) -> ModelFeatures:
    """What the provider of the model with that name takes, without making the model."""
    if name.startswith("demo/"):
        return PLAIN
    from inspector.loop.model.litellm import features_of

    return features_of(name)
