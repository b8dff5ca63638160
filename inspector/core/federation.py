"""A search over this registry and over other people's: whose each result is, and what each peer answered."""

from dataclasses import dataclass

from inspector.core.registered_tool import Neighbour
from inspector.core.setting_field import knob


@dataclass(frozen=True, slots=True)
class FederationSettings:
    """Registries of other Toolsights that a search of the registry may include (section 13)."""

    peers: str = knob("", "a YAML or JSON file of registries to search in addition to your own")
    seconds: float = knob(
        5.0, "how many seconds a search waits for all peers; later answers are dropped", low=0.05
    )


@dataclass(frozen=True, slots=True)
class Peer:
    """Another Toolsight's registry: a file of SQLite, or an address of PostgreSQL.

    With a `policy`, a file, only what it grants to `user`, and through `expert` if one is named, is searched.
    """

    name: str
    database: str
    policy: str = ""
    user: str = ""
    expert: str = ""


@dataclass(frozen=True, slots=True)
class Located:
    """A tool that was found, and the peer whose registry has it; "" for one's own."""

    peer: str
    neighbour: Neighbour


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What a peer added: how many of the results are its tools, and `why` it added none where it failed.

    `refused` counts tools of its answer that were left out: with a vector that is not that of their text,
    with a text beyond all measure, twice, or such as its policy does not grant.
    """

    peer: str
    found: int = 0
    refused: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Federated:
    """The nearest tools of all registries, nearest first, and the answer of each peer in their order."""

    found: tuple[Located, ...] = ()
    answers: tuple[PeerAnswer, ...] = ()
