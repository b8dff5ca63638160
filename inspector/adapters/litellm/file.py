"""What litellm ships as files, read without importing it (that takes seconds)."""

import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

Models = Mapping[str, Any]
"""litellm's list: what it knows of each model, by the model's name."""


def tokenizer_folder() -> Path | None:
    """Where the token encodings lie; None where there are none."""
    folder = _inside("litellm_core_utils", "tokenizers")
    return folder if folder is not None and folder.is_dir() else None


def model_file() -> Path | None:
    """The list of models, their windows and their prices; None without litellm."""
    return _inside("model_prices_and_context_window_backup.json")


@cache
def shipped_models() -> Models:
    """The list that came with litellm, read once; empty where it cannot be read."""
    path = model_file()
    return {} if path is None else read_models(path)


def read_models(path: Path) -> Models:
    """A list of that form; empty where it cannot be read."""
    try:
        models = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return models if isinstance(models, dict) else {}


def model_entry(models: Models, name: str) -> Mapping[str, Any]:
    """What the list has of a model under its name, or under that without its first prefixes; else nothing."""
    parts = name.split("/")
    names = ("/".join(parts[start:]) for start in range(len(parts)))
    entry: Any = next((models[one] for one in names if one in models), {})
    return entry if isinstance(entry, dict) else {}


def _inside(*parts: str) -> Path | None:
    spec = importlib.util.find_spec("litellm")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent.joinpath(*parts)
