"""Reads which other registries are searched, YAML or JSON.

peers:
  acme:
    database: ../acme/toolsight.db       # or postgresql://…; ${VARIABLE} is one of the environment
    policy: acme-access.yaml             # what the peer grants to whom
    user: ada                            # as whom we search there
    expert: billing
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from inspector.config.json_text import load_document
from inspector.config.problem import Location, NullAsAbsent, dotted, not_empty, refusal, validated
from inspector.config.source.expansion import Scope
from inspector.config.yaml_tree import load_yaml
from inspector.core.error import ConfigError
from inspector.core.federation import Peer

MAX_NAME, MAX_PEERS = 40, 50
_POSTGRES = ("postgres://", "postgresql://")


def _short(name: str) -> str:
    if len(not_empty(name)) > MAX_NAME or not name.isprintable():
        raise refusal(f"must have at most {MAX_NAME} printable characters", "Choose another name.")
    return name


_Text = Annotated[str, AfterValidator(not_empty)]


class _Peer(NullAsAbsent):
    database: Annotated[
        _Text, Field(description="Specify an SQLite file or postgresql://USER@HOST/DATABASE.")
    ]
    policy: Annotated[_Text, Field(description="Name the file with the peer's access rules.")] | None = None
    user: Annotated[_Text, Field(description="Name a user from the policy.")] | None = None
    expert: Annotated[_Text, Field(description="Name an expert from the policy.")] | None = None


class _File(NullAsAbsent):
    peers: Annotated[
        dict[Annotated[str, AfterValidator(_short)], _Peer],
        Field(min_length=1, max_length=MAX_PEERS, description="List the other registries by name."),
    ]


def is_address(database: str) -> bool:
    """Whether it is an address of PostgreSQL; otherwise it is a file."""
    return database.startswith(_POSTGRES)


def load_peers(path: Path, environment: Mapping[str, str]) -> tuple[Peer, ...]:
    """The peers in a file, in its order; relative paths are relative to it. Raises ConfigError."""
    place: Callable[[Location], str] = lambda _loc: str(path)  # noqa: E731
    if path.suffix == ".json":
        data = load_document(path, "peers")
    else:
        data, place = load_yaml(path, "peers")
    model = validated(_File, {} if data is None else data, place)
    scope = Scope(path.absolute().parent, environment)

    def read(name: str, entry: _Peer) -> Peer:
        loc: Location = ("peers", name)
        shown = f"{place(loc)}: {dotted('peers', name)}"
        if (entry.policy is None) != (entry.user is None):
            lacking, given = ("policy", "user") if entry.policy is None else ("user", "policy")
            hint = "Set both or neither: without them, the whole registry is searched."
            raise ConfigError(f"{shown} has a {given} but no {lacking}", hint=hint)
        if entry.expert is not None and entry.policy is None:
            raise ConfigError(f"{shown} has an expert but no policy", hint="Set policy and user, too.")
        database = scope.expand(entry.database, f"{shown}.database")
        if not is_address(database):
            database = str(scope.folder / database)
        policy = str(scope.folder / entry.policy) if entry.policy else ""
        return Peer(name, database, policy, entry.user or "", entry.expert or "")

    return tuple(read(name, entry) for name, entry in model.peers.items())
