"""Builds the parts of a session from its configuration and the ports."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial

from inspector.access.evaluation import EvalCase
from inspector.access.restriction import seen_cases
from inspector.core.access import EVERYTHING, Sight
from inspector.core.configuration import Configuration
from inspector.core.events import SessionStarted
from inspector.core.index_state import IndexState
from inspector.core.past_call import PastCall, Viewer
from inspector.core.ports import OwnPredicate
from inspector.core.redaction import Redactor
from inspector.core.settings import Settings
from inspector.core.sink import SECRETS
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.binding.binder import Binder
from inspector.loop.binding.precondition import Preconditions
from inspector.loop.inertia import Inertia
from inspector.search.live import Live
from inspector.search.past_use import Whose
from inspector.search.registry_tier import RegistryTier
from inspector.search.retrieval import Retrieval
from inspector.session.ports import Ports
from inspector.tokens.count.accounting import Accounting


def started(live: Live, profile: str, trusted: Collection[str] = ()) -> SessionStarted:
    """The first event of a session; `trusted` names servers that are trusted besides the file's."""
    model, specs = live.model, live.configuration.servers
    return SessionStarted(
        config=live.configuration.source,
        servers=tuple(spec.name for spec in specs),
        toolset=live.toolset,
        model=model.name,
        model_label=model.label,
        window=model.window,
        api_base=model.api_base,
        settings=asdict(live.settings),
        profile=profile,
        trusted=tuple(spec.name for spec in specs if spec.trust_annotations or spec.name in trusted),
        user=live.sight.user,
        expert=live.sight.expert,
        restricted=not live.sight.is_whole,
    )


def redactor_of(configuration: Configuration, sight: Sight = EVERYTHING) -> Redactor:
    """Redacts everything this process knows to be secret, including what the configuration passes to servers.

    A restricted user gets no names of secrets: each begins with the name of a server.
    """
    for spec in configuration.servers:
        SECRETS.learn(spec.secrets)
    return Redactor(SECRETS, named=sight.is_whole)


def retrieval_of(
    seen: Callable[[], Configuration],
    settings: Settings,
    ports: Ports,
    report: Callable[[IndexState], None],
    cases: Sequence[EvalCase],
    calm: Callable[[], Awaitable[None]],
    *,
    session: str,
    permits: Callable[[Tool], bool],
    whose: Callable[[], Whose],
    sight: Callable[[], Sight],
) -> Retrieval:
    """The session's retrieval, which reports the progress of its index and learns from other sessions.

    `seen` is the configuration, `permits` the session's toolset, `whose` says whose past use counts and
    `sight` what may be seen, each as it is when it is asked.
    From all other sessions learns only who sees everything: others may have called what may not be seen. For
    a user count the own uses of tools; past requests do not, as they could name what may not be seen now.
    """
    model, history, now = settings.discovery.embedding_model, ports.history, sight()
    past: Callable[[], Iterable[PastCall]] = tuple
    uses = past
    if history is not None and now.is_whole:
        past = uses = partial(history.successful_calls, but=session)
    elif history is not None and now.user:
        viewer = Viewer(now.user, now.expert)
        uses = partial(history.successful_calls, but=session, viewer=viewer)
    return Retrieval(
        settings.discovery,
        ports.clock,
        embedder=ports.embedder_for(model),
        static=ports.static,
        vectors=ports.vectors,
        tags=lambda: {spec.name: spec.tags for spec in seen().servers},
        report=report,
        cases=lambda: seen_cases(cases, sight()),
        calm=calm,
        registry=_tier_of(seen, ports, permits, sight),
        past_calls=past,
        past_uses=uses,
        whose=whose,
    )


def _tier_of(
    seen: Callable[[], Configuration],
    ports: Ports,
    permits: Callable[[Tool], bool],
    sight: Callable[[], Sight],
) -> RegistryTier | None:
    """The registry behind the searches; None where there is none."""
    if ports.registry is None:
        return None
    return RegistryTier(ports.registry, lambda: {spec.name for spec in seen().servers}, permits, sight)


def inertia_of(session: Session, live: Live, ports: Ports, accounting: Accounting, binder: Binder) -> Inertia:
    """What predicts the next tool from the other sessions on this machine, for who sees everything."""
    history = ports.history if live.sight.is_whole else None
    tasks = partial(history.tasks, but=session.id) if history is not None else None
    return Inertia(session, live, ports.clock, accounting, binder, tasks=tasks, seeds=ports.seeds_from)


def preconditions_of(ports: Ports, live: Live) -> Preconditions:
    """The preconditions of the settings, with the user's own predicates. Raises ConfigError."""
    own: Mapping[str, OwnPredicate] = {}
    configuration = live.configuration
    if configuration.predicates:
        own = ports.predicates_from(configuration.predicates, configuration.predicates_digest)
    preconditions = Preconditions(live, own)
    preconditions.check()
    return preconditions
