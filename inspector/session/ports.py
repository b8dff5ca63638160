"""What one session uses of the outside."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.core.access import AccessPolicy
from inspector.core.error import ConfigError
from inspector.core.events import Decision as Decision
from inspector.core.inertia import InertiaGraph
from inspector.core.ports import (
    Approver,
    ChatModel,
    Clock,
    Connector,
    Elicitor,
    LocalModels,
    Nobody,
    NoLocalModels,
    OwnPredicate,
    PriceList,
    TokenCounter,
    Wire,
)
from inspector.core.store_ports import CallHistory, EventStore, ServerMemory
from inspector.registry.marketplace.port import MarketplacePorts
from inspector.reliability.ports import ReliabilityPorts
from inspector.search.ports import Embedder, StaticEmbedder, VectorStore

if TYPE_CHECKING:
    from inspector.search.registry_port import ToolRegistry


def _no_predicates(_path: str, _digest: str) -> Mapping[str, OwnPredicate]:
    return {}


def _no_seeds(path: str) -> Mapping[str, InertiaGraph]:
    raise ConfigError(f"{path} cannot be read here", hint="Unset inertia.seed.")


def _no_policy(path: str) -> AccessPolicy:
    raise ConfigError(f"{path} cannot be read here", hint="Unset access.policy.")


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters that a workbench uses. `model_for` raises ModelError for an unknown name.

    `embedder_for` takes the name of an embedding model; if it returns None, searches use words alone.
    `static` is what they use beside words until the model's vectors are there. `predicates_from` takes a
    Python file and the digest covered by the consent; it raises ConfigError, and so do `seeds_from`, which
    takes a file of transitions, and `policy_from`, which takes a file that says who may see which tools.
    `wire` is None if the connections leave no trace of what was exchanged, `history` if nothing can be
    learned of earlier sessions. `registry` opens the tool registry, the same one each time; it raises
    ConfigError.
    """

    connector: Connector
    store: EventStore
    memory: ServerMemory
    clock: Clock
    approver: Approver
    model_for: Callable[[str], ChatModel]
    counter_for: Callable[[str], TokenCounter]
    embedder_for: Callable[[str], Embedder | None]
    vectors: VectorStore
    prices: PriceList
    predicates_from: Callable[[str, str], Mapping[str, OwnPredicate]] = _no_predicates
    local_models: LocalModels = NoLocalModels()
    wire: Wire | None = None
    static: StaticEmbedder | None = None
    elicitor: Elicitor = Nobody()
    history: CallHistory | None = None
    seeds_from: Callable[[str], Mapping[str, InertiaGraph]] = _no_seeds
    reliability: ReliabilityPorts = ReliabilityPorts()
    registry: "Callable[[], ToolRegistry] | None" = None
    marketplace: MarketplacePorts = MarketplacePorts()
    policy_from: Callable[[str], AccessPolicy] = _no_policy
