"""Every ranker: its name, its description for people, and its formula. Imports none of them.

The texts stand in `rankers.toml`, in display order.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from inspector.core.error import ToolsightError
from inspector.core.ranking import Matching
from inspector.core.text import closest

DENSE, ISO, THREE_TIER = "dense", "iso", "three-tier"


class RankerInfo(Struct, frozen=True):
    """What is known of a ranker that is not built; `slow` ones come last.

    `stands_for` says whose search it is or of what kind, then its term of art. One that compares meaning
    alone scores nothing without vectors. One `of_client` is a client's own search, which knows nothing of
    what Toolsight has loaded or pinned.
    """

    name: str
    stands_for: str
    about: str
    formula: str
    slow: bool = False
    matching: Matching = "words"
    of_client: bool = False

    @property
    def uses_vectors(self) -> bool:
        return self.matching in ("both", "meaning")


_TEXTS = tomllib.loads(Path(__file__).with_name("rankers.toml").read_text(encoding="utf-8"))
INFO: Mapping[str, RankerInfo] = {name: RankerInfo(name, **told) for name, told in _TEXTS.items()}
RANKERS = tuple(INFO)
"""The names in display order."""


def require_ranker(name: str) -> str:
    """The name of an existing ranker. Raises ToolsightError with the closest names for any other."""
    if name in RANKERS:
        return name
    near = closest(name, RANKERS) or RANKERS
    raise ToolsightError(f"no ranker '{name}'", hint=f"Choose from: {', '.join(near)}.")


def matching(name: str, *, has_vectors: bool) -> Matching:
    """What a ranker compares; without vectors words are all that is left to compare."""
    info = INFO.get(name)
    if info is None:
        return "words"
    return "words" if info.matching == "both" and not has_vectors else info.matching
