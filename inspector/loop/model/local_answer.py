"""Reads what the model servers on this machine say of their models. Anything may have answered.

litellm's providers `lm_studio` and `llamafile` speak as `openai` does, but send no OPENAI_API_KEY and are not
priced as OpenAI's models.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from inspector.core.local_model import LocalModel

Answers = Mapping[str, Any]
"""The JSON that each path was answered with; None where there was none."""

_MOST_MODELS = 100
_LONGEST_NAME = 200
_LARGEST = 10**15


def ollama_models(address: str, answers: Answers) -> tuple[LocalModel, ...]:
    """Ollama's models, without those that it only embeds with or passes on to its cloud.

    The window is known of those that are loaded.
    """
    windows = {
        _text(entry, "name"): _number(entry, "context_length")
        for entry in _list(answers["/api/ps"], "models")
    }
    found = []
    for entry in _list(answers["/api/tags"], "models"):
        details, name = _object(entry.get("details")), _text(entry, "name")
        if not name or entry.get("remote_host") or "bert" in _text(details, "family"):
            continue
        about = LocalModel(f"ollama/{name}", address, "Ollama", _number(entry, "size"))
        found.append(replace(about, parameters=_text(details, "parameter_size"), window=windows.get(name)))
    return tuple(found)


def lm_studio_models(address: str, answers: Answers) -> tuple[LocalModel, ...]:
    """LM Studio's models, without those that it only embeds with; its own API says more than OpenAI's."""
    details = {_text(entry, "id"): entry for entry in _list(answers["/api/v0/models"], "data")}
    found = []
    for entry in _list(answers["/v1/models"], "data"):
        name = _text(entry, "id")
        more = details.get(name, {})
        if not name or more.get("type") == "embeddings" or name.startswith("text-embedding-"):
            continue
        window = _number(more, "loaded_context_length")
        found.append(LocalModel(f"lm_studio/{name}", address, "LM Studio", window=window))
    return tuple(found)


def llama_cpp_models(address: str, answers: Answers) -> tuple[LocalModel, ...]:
    """The models of a llama.cpp server; empty for another server, and for one that wants a key.

    Its port is that of many web servers, but only llama.cpp has its own properties, and keeps them to those
    with the key if it has one.
    """
    properties = _object(answers["/props"])
    settings = _object(properties.get("default_generation_settings"))
    if not settings:
        return ()
    window = _number(settings, "n_ctx")
    return tuple(
        LocalModel(
            f"llamafile/{name}",
            address,
            "llama.cpp",
            _number(_object(entry.get("meta")), "size"),
            window=window,
        )
        for entry in _list(answers["/v1/models"], "data")
        if (name := _text(entry, "id"))
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(answer: Any, field: str) -> Iterator[Mapping[str, Any]]:
    entries = _object(answer).get(field)
    return (_object(entry) for entry in (entries if isinstance(entries, list) else [])[:_MOST_MODELS])


def _text(entry: Mapping[str, Any], field: str) -> str:
    """A text that is fit for a name: it becomes an argument and a row of a list."""
    value = entry.get(field)
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST_NAME:
        return ""
    return value.strip()


def _number(entry: Mapping[str, Any], field: str) -> int | None:
    value = entry.get(field)
    is_fit = isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST
    return value if is_fit else None
