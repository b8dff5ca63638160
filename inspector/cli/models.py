"""Models and token counters by name, and the keys of the app."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from inspector.cli.options import Options, as_json
from inspector.cli.table import say, say_json, say_table
from inspector.core.closest import closest
from inspector.core.error import ModelError
from inspector.core.ports import ChatModel, TokenCounter
from inspector.schema.dialect import PLAIN, ModelFeatures
from inspector.tokens.count.anthropic import AnthropicCounter, is_claude
from inspector.tokens.count.tiktoken import TiktokenCounter

PLANNER = "demo/planner"
_SCRIPT = "demo/script:"
_EXAMPLES = "openai/gpt-5, anthropic/claude-sonnet-4-5, ollama/qwen3, demo/planner"


def model_for(name: str, *, api_base: str = "", window: int | None = None) -> ChatModel:
    """The model with that name: any litellm model or a `demo/…` model. Raises ModelError.

    `api_base` and `window` are for models of litellm.
    """
    if name == PLANNER:
        from inspector.demo.planner import DemoPlanner

        return DemoPlanner()
    if name.startswith(_SCRIPT):
        from inspector.demo.script_model import ScriptModel

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


def keys_path() -> Path:
    """Where the file of keys is looked for."""
    import platformdirs

    return platformdirs.user_config_path("toolsight") / "keys.json"


def read_keys() -> Mapping[str, Any]:
    """Return a person's own keys by binding id; empty without a file. Raises ConfigError."""
    path = keys_path()
    if not path.exists():
        return {}
    from inspector.config.json_text import load_object

    return load_object(path)


@click.command()
@as_json
def keys(as_json: bool) -> None:
    """List every key of the app, with its id.

    To change keys, list them by id in keys.json in the configuration folder: {"place.find": "ctrl+f"}.

    \b
    toolsight config keys
    """
    from inspector.app.app import ToolsightApp
    from inspector.app.keymap import bound_keys, checked

    keymap, problems = checked(read_keys(), ToolsightApp)
    bound = bound_keys(ToolsightApp)
    if as_json:
        say_json({"file": str(keys_path()), "keys": [asdict(key) for key in bound], "changed": keymap})
        return
    say(f"Your keys: {keys_path()}{'' if keys_path().exists() else ' (not created yet)'}")
    for problem in problems:
        say(f"✕ {problem}")
    say()
    rows = [(key.id, keymap.get(key.id, key.keys), key.title, key.where) for key in bound]
    say_table(("id", "keys", "what", "where"), rows, whole=frozenset({0}))
