"""Opens the registries of others, as the settings name them."""

import os
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.cli.composition import load_policy
from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ConfigError
from inspector.core.settings import FederationSettings
from inspector.registry.federation import Federation, Member, is_address, load_peers
from inspector.search.registered_tool import Peer

if TYPE_CHECKING:
    from inspector.search.ports import SearchableRegistry


def open_federation(settings: FederationSettings) -> Federation:
    """The peers that a file names; none without one. Nothing is opened yet. Raises ConfigError."""
    if not settings.peers:
        return Federation((), seconds=settings.seconds)
    peers = load_peers(Path(settings.peers), os.environ)
    members = (
        Member(peer.name, cache(partial(_opened, peer, settings.seconds)), partial(_sight, peer))
        for peer in peers
    )
    return Federation(tuple(members), seconds=settings.seconds)


def _opened(peer: Peer, seconds: float) -> "SearchableRegistry":
    if not is_address(peer.database):
        from inspector.registry.peer import SqlitePeer

        return SqlitePeer(Path(peer.database), seconds=seconds)
    try:
        from inspector.registry.postgres import open_peer
    except ImportError as error:
        hint = "Install it with `pip install 'toolsight[postgres]'`."
        raise ConfigError(f"a required package is not installed: {error.name}", hint=hint) from error
    return open_peer(peer.database, seconds=seconds)


def _sight(peer: Peer) -> Sight:
    """What its policy grants us, read for each search: a grant that goes is gone at once."""
    return load_policy(Path(peer.policy)).sight(peer.user, peer.expert) if peer.policy else EVERYTHING
