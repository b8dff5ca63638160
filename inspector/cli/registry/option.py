"""What the commands of the registry are asked with: the database, and the model of the vectors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.composition import make_embedder
from inspector.cli.options import Options, database, set_values
from inspector.domain.access import EVERYTHING, Sight
from inspector.domain.error import ConfigError
from inspector.domain.settings import DiscoverySettings
from inspector.engine.embedding_ports import Embedder

F = TypeVar("F", bound=Callable[..., Any])
_MODEL = "discovery.embedding_model"


def registry_options(function: F) -> F:
    """The options of every command of the registry; `chosen` gathers them."""
    return database(set_values(function))


def chosen(*, database: Path | None, values: dict[str, Any]) -> Options:
    """The options, of which --db may also stand before the subcommand's name."""
    above = click.get_current_context().parent
    given = above.params.get("database") if above is not None else None
    return Options(database=database or given, values=values)


def chosen_embedder(options: Options) -> Embedder | None:
    """The model whose vectors are searched; None if the settings name none."""
    return make_embedder(str(options.settings.get(_MODEL, DiscoverySettings().embedding_model)))


def require_embedder(options: Options) -> Embedder:
    """That model. Raises ConfigError if there is none."""
    found = chosen_embedder(options)
    if found is None:
        raise ConfigError(f"{_MODEL} is set to none", hint=f"Name a model: --set {_MODEL}=packaged.")
    return found


def sight_of(_options: Options) -> Sight:
    """What the person may see."""
    return EVERYTHING
