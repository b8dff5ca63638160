"""What each client does with skills, as measured: `known_skills.toml`, whose head says what its keys are."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, convert
from msgspec.structs import replace

CHARACTERS = 4
"""Of a token, as the clients estimate it."""


class CostRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What a list takes in a request; with an `even` budget each description is cut, else the last vanish.

    Its text has a `line` for each entry, a `bare` one without a description, and one for each `place`, or
    `folder` of a skill; what comes with the first entry takes `fixed` tokens. `own` are the client's own
    entries: characters beside the description, of it, and its tokens, of which a spent budget takes those
    that are `lost`. A budget that is a `share` of the model's window is that of the client's own model, and
    `reserves` room for all names.
    """

    line: str
    bare: str = ""
    place: str = ""
    folder: str = ""
    fixed: int = 0
    budget: int = 0
    share: float = 0.0
    even: bool = False
    reserves: bool = False
    own: tuple[tuple[int, int, int], ...] = ()
    lost: int = 0


class SkillRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What one client does, in the version and on the date of its measurement."""

    client: str
    version: str
    date: str
    project: tuple[str, ...]
    home: tuple[str, ...]
    wins: str
    stands: str
    body: str
    gone: tuple[str, ...]
    cost: CostRule
    above: str = ""
    limit: int = 0
    named: str = "name"
    longest: int | None = None
    ends: str = ""
    middle: bool = False
    escapes: str = ""
    block: bool = False
    adds: str = ""
    order: str = "name"
    tells: str = ""
    executes: bool = False
    empties: Mapping[str, tuple[str, ...]] = {}
    always: tuple[str, ...] = ()
    shows: Mapping[str, str] = {}
    hides: Mapping[str, str] = {}

    def at(self, window: int | None) -> "SkillRule":
        """The rule with a model of so many tokens; None for the client's own."""
        if window is None or not self.cost.share:
            return self
        budget = round(window * self.cost.share) * CHARACTERS
        return replace(self, cost=replace(self.cost, budget=budget))


_READ = tomllib.loads(Path(__file__).with_name("known_skills.toml").read_text(encoding="utf-8"))
FLAWS: Mapping[str, str] = _READ.pop("flaws")
"""What some client leaves out or hides, in words."""
RULES: Mapping[str, SkillRule] = {
    name: convert({"client": name, **told}, SkillRule) for name, told in _READ.items()
}
"""The rules by client, in display order."""
