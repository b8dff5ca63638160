"""Lists the models that servers on this machine offer, and how each is used."""

import asyncio
import shlex
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

import click

from inspector.cli.composition import make_local_models
from inspector.cli.options import as_json
from inspector.cli.table import say, say_json
from inspector.core.ports import LocalModel, LocalModels


@click.command()
@as_json
def models(as_json: bool) -> None:
    """List local models, which need no key.

    Tries Ollama, LM Studio and llama.cpp on their usual ports, with half a second for each to answer.

    \b
    toolsight doctor models
    """
    local = make_local_models()
    found = asyncio.run(_found(local))
    if as_json:
        say_json([_as_object(model) for model in found])
    elif not found:
        say(f"No local model server found. Looked for {', '.join(local.servers)}.")
        say("For any other OpenAI-compatible server: --model hosted_vllm/NAME --api-base http://HOST:PORT/v1")
    else:
        _say_models(found)


async def _found(local: LocalModels) -> list[LocalModel]:
    """All models, in the order of their names: which server answers first says nothing."""
    async with aclosing(local.find()) as servers:
        return sorted([model async for models in servers for model in models], key=lambda model: model.name)


def _say_models(found: list[LocalModel]) -> None:
    for model in found:
        say(f"{model.name}   {', '.join(filter(None, (model.about, model.size_text)))}")
        say(f"    {shlex.join(_options(model))}")
    say("\nUse these options with any command, without a key. The app's model dialog lists the same models.")


def _as_object(model: LocalModel) -> dict[str, Any]:
    return {**asdict(model), "options": _options(model)}


def _options(model: LocalModel) -> list[str]:
    window = ["--window", str(model.window)] if model.window else []
    return ["--model", model.name, "--api-base", model.api_base, *window]
