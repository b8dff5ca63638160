"""A search of one's own registry and of other people's, each result with the registry that it is in."""

from dataclasses import asdict
from pathlib import Path

from inspector.adapters.files.config.setting import anchored
from inspector.cli.options import Options
from inspector.cli.registry.opening import open_registry
from inspector.cli.registry.option import require_embedder, sight_of
from inspector.cli.registry.peer import open_federation
from inspector.cli.registry.written import tool_json, tool_line
from inspector.cli.render import say, say_json, say_table
from inspector.domain.error import ConfigError
from inspector.domain.federation import Federated, FederationSettings
from inspector.domain.knob import with_values
from inspector.domain.number import count
from inspector.domain.settings import Settings
from inspector.engine.registry.search import nearest_in

OWN = "(local)"


def search_federation(options: Options, query: str, *, limit: int, floor: float, as_json: bool) -> None:
    """Print what a search of all registries finds, and what each peer answered."""
    federation, sight = open_federation(_settings(options)), sight_of(options)
    kept, embedder = open_registry(options), require_embedder(options)
    done = federation.search(
        lambda model, vector: nearest_in(kept, model, vector, limit, sight, floor=floor),
        embedder,
        query,
        limit=limit,
        floor=floor,
    )
    if as_json:
        found = [
            {
                "registry": one.peer,
                "similarity": one.neighbour.similarity,
                **tool_json(one.neighbour.found),
            }
            for one in done.found
        ]
        say_json({"found": found, "peers": [asdict(one) for one in done.answers]})
        return
    _say(done)


def _settings(options: Options) -> FederationSettings:
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    settings = with_values(Settings(), values).federation
    if not settings.peers:
        hint = "Choose a file with --set federation.peers=peers.yaml. docs/papers/registry.md has its format."
        raise ConfigError("no peers are configured", hint=hint)
    return settings


def _say(done: Federated) -> None:
    rows = [
        (
            f"{rank}",
            one.peer or OWN,
            one.neighbour.found.tool.id,
            f"{one.neighbour.similarity:.2f}",
            one.neighbour.found.origin,
            tool_line(one.neighbour.found),
        )
        for rank, one in enumerate(done.found, 1)
    ]
    headers = ("#", "registry", "tool", "cosine", "origin", "what it does")
    say_table(headers, rows, right=frozenset({0, 3}), whole=frozenset({1, 2}))
    own = sum(not one.peer for one in done.found)
    each = [
        f"{own} from this registry",
        *(f"{one.found} from {one.peer}" for one in done.answers if not one.why),
    ]
    say(f"{count(len(done.found), 'tool')}: {', '.join(each)}")
    for one in done.answers:
        if one.why:
            say(f"skipped {one.peer}: {one.why}", err=True)
        elif one.refused:
            say(f"{one.peer}: rejected {count(one.refused, 'invalid result')}", err=True)
