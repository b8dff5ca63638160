"""Reads the files that litellm ships, without importing litellm (which takes seconds)."""

import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

Models = Mapping[str, Any]
"""litellm's list of models: what it knows about each, by name."""


def tokenizer_folder() -> Path | None:
    """The folder of the token encodings; None if there is none."""
    folder = _inside("litellm_core_utils", "tokenizers")
    return folder if folder is not None and folder.is_dir() else None


def model_file() -> Path | None:
    """The file that lists models, their windows and their prices; None without litellm."""
    return _inside("model_prices_and_context_window_backup.json")


@cache
def shipped_models() -> Models:
    """The list that litellm ships, read once; empty if it cannot be read."""
    path = model_file()
    return {} if path is None else read_models(path)


def read_models(path: Path) -> Models:
    """Read a list of models in litellm's format; empty if it cannot be read."""
    try:
        models = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return models if isinstance(models, dict) else {}


def model_entry(models: Models, name: str) -> Mapping[str, Any]:
    """The model's entry under its name, or its name without leading prefixes; empty if there is none."""
    parts = name.split("/")
    names = ("/".join(parts[start:]) for start in range(len(parts)))
    entry: Any = next((models[known] for known in names if known in models), {})
    return entry if isinstance(entry, dict) else {}


def _inside(*parts: str) -> Path | None:
    spec = importlib.util.find_spec("litellm")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent.joinpath(*parts)
