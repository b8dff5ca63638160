"""All skills of a folder and of HOME in all clients: what leaves them out, and which have the same name."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from inspector.core.tool import Tool
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
        lines = self.skill.whole.splitlines()
        return lines[self.flaw.line - 1] if 0 < self.flaw.line <= len(lines) else ""


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

    def of_skill(self, skill: Skill) -> list[Shown]:
        """What each client makes of one."""
        return [one for every in self.shown.values() for one in every if one.skill is skill]

    def best(self, name: str, client: str) -> Shown | None:
        """What a client shows of the skills of a name; None if none stands where it looks."""
        found = (one for one in self.shown[client] if one.skill.name == name)
        return min(found, key=lambda one: _BEST.index(one.state), default=None)

    def faults(self) -> Iterator[Fault]:
        """What leaves skills out, each cause with all clients."""
        causes: dict[tuple[Path, Flaw], list[Shown]] = {}
        for every in self.shown.values():
            for one in every:
                if one.state is State.GONE and one.flaw is not None:
                    causes.setdefault(((one.by or one.skill).path, one.flaw), []).append(one)
        for (path, flaw), found in causes.items():
            own = [one for one in found if one.by is None]
            others = tuple(one for one in found if one.by is not None)
            skill = next(one for one in self.skills if one.path == path)
            yield Fault(skill, flaw, tuple(one.rule for one in own), others)

    def duplicates(self) -> Iterator[Duplicate]:
        """The names that several skills have, as far as any client finds more than one of them."""
        for name, skills in self.by_name().items():
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
                yield Duplicate(name, tuple(skills), winners)

    def tools(self, client: str = "") -> tuple[Tool, ...]:
        """The skills as a search reads them: as a client shows them, else with their whole descriptions."""
        shown = {one.name: one.text for one in reversed(self.shown.get(client, ())) if one.is_listed}
        whole = {name: skills[0].description for name, skills in self.by_name().items()}
        return tuple(Tool("skills", name, text) for name, text in (shown if client else whole).items())
