"""What each client does with skills, as measured: `known_skills.toml`, whose head says what its keys are."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, convert


class CostRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What a list takes in a request; with an `even` budget each description is cut, else the last vanish.

    `off` is how far an estimate is from the `measured` one of two lists that it meets worse, as a share.
    """

    fixed: float
    entry: float
    characters: int
    measured: tuple[int, int]
    described: int
    off: float
    name: float = 0.0
    paths: int = 0
    budget: int = 0
    even: bool = False
    unknown: str = ""


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
    kept: int | None = None
    block: bool = False
    adds: str = ""
    order: str = "name"
    tells: str = ""
    executes: bool = False
    empties: Mapping[str, tuple[str, ...]] = {}
    always: tuple[str, ...] = ()
    shows: Mapping[str, str] = {}
    hides: Mapping[str, str] = {}


_READ = tomllib.loads(Path(__file__).with_name("known_skills.toml").read_text(encoding="utf-8"))
FLAWS: Mapping[str, str] = _READ.pop("flaws")
"""What some client leaves out or hides, in words."""
RULES: Mapping[str, SkillRule] = {
    name: convert({"client": name, **told}, SkillRule) for name, told in _READ.items()
}
"""The rules by client, in display order."""
