"""What a check of the settings is given, and what it says."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from inspector.config.configuration import Configuration
from inspector.core.access import EVERYTHING, Sight
from inspector.core.ranking import IndexState
from inspector.core.session import ServerState
from inspector.core.setting_problem import SettingProblem
from inspector.core.settings import Settings
from inspector.schema.dialect import PLAIN, ModelFeatures


@dataclass(frozen=True, slots=True)
class Checked:
    """What is checked: the settings in force, and what they are about.

    `toolset` is the name of the one in use, "" for none. `tools` holds the ids of the connected servers'
    tools, before the toolset, with those that were skipped; `gone` those that were there earlier.
    `index` is the state of the search index, `features` what the model's provider takes. `sight` says what
    may be seen, and `granted` holds those of the policy's patterns whose holder may be told of them.
    """

    configuration: Configuration
    settings: Settings
    toolset: str
    servers: Mapping[str, ServerState]
    tools: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    index: IndexState = IndexState()
    features: ModelFeatures = PLAIN
    sight: Sight = EVERYTHING
    granted: tuple[str, ...] = ()


Check = Callable[[Checked], Iterable[SettingProblem]]
