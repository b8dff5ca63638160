"""Every part of a session that can be replaced while it runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.core.access import EVERYTHING, Sight
from inspector.core.configuration import Configuration
from inspector.core.live import LiveModel

if TYPE_CHECKING:
    from inspector.search.retrieval import Retrieval


@dataclass(slots=True)
class Live(LiveModel):
    """Every replaceable part of a session. `toolset` is "" if all tools are permitted.

    The configuration and the settings are those that `sight` leaves.
    """

    configuration: Configuration
    retrieval: "Retrieval"
    toolset: str = ""
    sight: Sight = EVERYTHING
