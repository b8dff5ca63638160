"""All skills of a folder and of HOME in all clients: what leaves them out, and which have the same name."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec import Struct

from inspector.features.skills.place import find_skills
from inspector.features.skills.rule import SkillRule
from inspector.features.skills.shown import Shown, State, shown_in
from inspector.features.skills.skill import Flaw, Skill

_BEST = tuple(State)


class Fault(Struct, frozen=True):
    """What of a skill's file leaves it out of the lists of these clients, and `others` with it."""

    skill: Skill
    flaw: Flaw
    clients: tuple[SkillRule, ...]
    others: tuple[Shown, ...]

    @property
    def quoted(self) -> str:
        """The line as it stands there; "" if it is no line's fault."""
        return self.skill.whole.split("\n")[self.flaw.line - 1].strip() if self.flaw.line else ""


class Duplicate(Struct, frozen=True):
    """Skills of one name, and which of them each client shows that finds more than one."""

    name: str
    skills: tuple[Skill, ...]
    winners: Mapping[str, tuple[Skill, ...]]


class Inventory(Struct, frozen=True):
    """The skills, and by client what it shows of those that stand where it looks."""

    skills: tuple[Skill, ...]
    rules: tuple[SkillRule, ...]
    shown: Mapping[str, tuple[Shown, ...]]

    @classmethod
    def of(cls, folder: Path, home: Path, rules: Sequence[SkillRule]) -> "Inventory":
        """Read the skills of a folder and of HOME."""
        skills = find_skills(folder, home, rules)
        return cls(skills, tuple(rules), {rule.client: shown_in(rule, skills) for rule in rules})

    def by_name(self) -> dict[str, list[Skill]]:
        """The skills by name, in order."""
        found: dict[str, list[Skill]] = {}
        for one in sorted(self.skills, key=lambda skill: skill.name):
            found.setdefault(one.name, []).append(one)
        return found

    def by_path(self) -> dict[Path, list[Shown]]:
        """What each client makes of a skill, by its file."""
        found: dict[Path, list[Shown]] = {one.path: [] for one in self.skills}
        for one in chain.from_iterable(self.shown.values()):
            found[one.skill.path].append(one)
        return found

    def best(self, client: str) -> dict[str, Shown]:
        """By name, what a client shows at best of the skills of a name that stand where it looks."""
        found = sorted(self.shown[client], key=lambda one: _BEST.index(one.state), reverse=True)
        return {one.skill.name: one for one in found}

    def faults(self) -> Iterator[Fault]:
        """What leaves skills out, each cause with all clients."""
        causes: dict[tuple[Path, Flaw], list[Shown]] = {}
        for one in chain.from_iterable(self.shown.values()):
            if one.state is State.GONE and one.flaw is not None:
                causes.setdefault(((one.by or one.skill).path, one.flaw), []).append(one)
        skills = {one.path: one for one in self.skills}
        for (path, flaw), found in causes.items():
            clients = tuple(one.rule for one in found if one.by is None)
            yield Fault(skills[path], flaw, clients, tuple(one for one in found if one.by is not None))

    def duplicates(self, skills: Sequence[Skill]) -> Iterator[Duplicate]:
        """Those of these skills' names that several have, as far as any client finds more than one."""
        wanted = {one.name for one in skills}
        for name, same in self.by_name().items():
            if name not in wanted or len(same) < 2:
                continue
            own = {
                client: [one for one in every if one.skill.name == name]
                for client, every in self.shown.items()
            }
            winners = {
                client: tuple(one.skill for one in found if one.is_listed)
                for client, found in own.items()
                if len(found) > 1
            }
            if winners:
                yield Duplicate(name, tuple(same), winners)
