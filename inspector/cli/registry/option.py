"""What the commands of the registry are asked with: the database, and the model of the vectors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from inspector.access.restriction import AccessControl, require_whole
from inspector.cli.composition import load_policy, make_embedder
from inspector.cli.options import ACCESS, Options, database, set_values
from inspector.cli.table import say
from inspector.core.access import Sight
from inspector.core.error import ConfigError
from inspector.core.settings import AccessSettings, DiscoverySettings
from inspector.registry.library import FILL
from inspector.search.ports import Embedder

F = TypeVar("F", bound=Callable[..., Any])
_MODEL = "discovery.embedding_model"


def registry_options(function: F) -> F:
    """The options of every command of the registry; `chosen` gathers them."""
    for option in reversed(ACCESS):
        function = option(function)
    return database(set_values(function))


def chosen(*, database: Path | None, **values: Any) -> Options:
    """The options of the registry's commands."""
    return Options(database=database, **values)


def chosen_embedder(options: Options) -> Embedder | None:
    """The model whose vectors are searched; None if the settings name none."""
    return make_embedder(str(options.settings.get(_MODEL, DiscoverySettings().embedding_model)))


def require_embedder(options: Options) -> Embedder:
    """That model. Raises ConfigError if there is none."""
    found = chosen_embedder(options)
    if found is None:
        raise ConfigError(f"{_MODEL} is set to none", hint=f"Choose a model: --set {_MODEL}=packaged.")
    return found


def sight_of(options: Options) -> Sight:
    """What the person may see. Raises ConfigError for a policy that cannot be read, or an unknown name."""
    policy, user, expert = (
        str(options.settings.get(f"access.{name}", "")) for name in ("policy", "user", "expert")
    )
    given = AccessSettings(policy=policy, user=user, expert=expert)
    control = AccessControl(given, lambda path: load_policy(Path(path)))
    if control.is_restricted and not control.user:
        say("the policy needs a user: nothing is visible without --user", err=True)
    return control.sight


def require_administrator(options: Options) -> None:
    """Raise ToolsightError unless the person sees everything: who does not, fills no registry."""
    require_whole(sight_of(options), FILL)
