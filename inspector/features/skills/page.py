"""Skills in real clients: the skills, the clients with what their lists cost, and why below."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import report_lines
from inspector.app.list_page import ReadingPage
from inspector.core.report import Block
from inspector.features.skills.cost import ListCost
from inspector.features.skills.facts import (
    NONE,
    SIGNS,
    client_report,
    costs,
    places_text,
    skill_report,
)
from inspector.features.skills.feature import SKILLS
from inspector.features.skills.inventory import Inventory
from inspector.features.skills.shown import Shown, State
from inspector.features.skills.skill import Skill
from inspector.tokens.counter import TiktokenCounter
from widgets import Column, Record, RecordList, visible

READING = "Reading the skills of this folder and of HOME …"
NOT_HERE = "This session cannot read skills. Use `toolsight skills`."
_STATES = tuple(
    Column(state, sign, align="right", weight=8, hide_below=44 if state is State.HIDDEN else 0)
    for state, sign in SIGNS.items()
)
_LEGEND = "   ".join(f"{sign} {state}" for state, sign in SIGNS.items())
COLUMNS = (
    Column("skill", "skill", min_width=12, shorten="name", weight=9),
    *_STATES,
    Column("body", "body tok", align="right", weight=6, hide_below=46),
    Column("place", "place", weight=4, hide_below=70),
)
CLIENTS = (
    Column("client", "client", min_width=11, weight=9),
    *_STATES,
    Column("tokens", "list tok", align="right", weight=8),
)
_COLORS = {State.WHOLE: "$text-success", State.CUT: "$text-warning", State.GONE: "$text-error"}


def _numbers(shown: Sequence[Shown]) -> Iterator[Content]:
    """Yield how many are in each state."""
    states = Counter(one.state for one in shown)
    for state in SIGNS:
        yield Content.styled(str(states[state]), _COLORS.get(state, "") if states[state] else MUTED)


def _named(name: str, place: str) -> Content:
    """A name, with the place of one that others share, without what all places end with."""
    end = f" {visible(place.removesuffix('/skills'), newlines=False)}" if place else ""
    return Content.assemble(visible(name, newlines=False), (end, MUTED))


class SkillsScreen(ReadingPage):
    """The skills with their states over all clients, and the clients with what becomes of all skills."""

    page = "skills"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#skills RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "again", "reload", id="skills.again")]
    help_lines: ClassVar[tuple[str, ...]] = (
        "What real clients list of the skills (SKILL.md) that stand where they look: ✓ whole, ✂ cut,",
        "~ name alone, ∅ hidden, ✕ gone. Below is the skill under the cursor in each client, and why.",
        "tab goes to the clients: what the list of each costs in its first request, and every skill in it.",
        "list tok: counted on the text that the client writes, in the folder where that is longest.",
        "body tok: what a skill takes once it is loaded.",
        "enter reads what is below, y copies the path, r reads the files again.",
    )
    clients = query_one("#clients", RecordList)

    _found: Inventory | None = None
    _costs: Sequence[ListCost] = ()

    def lists(self) -> ComposeResult:
        with Horizontal(id="pair"):
            yield RecordList(COLUMNS, header=True, empty=READING, id="skills")
            yield RecordList(CLIENTS, header=True, empty="", id="clients")

    def on_mount(self) -> None:
        self.action_again()

    def action_again(self) -> None:
        """Read the files again."""
        skills, count = self.context.parts.get(SKILLS), TiktokenCounter("").count
        if skills is None:
            self.say(NOT_HERE)
            return

        def read(_job: object) -> tuple[Inventory, Sequence[ListCost], dict[Path, int]]:
            found = skills()
            return found, costs(found, count), {one.path: count(one.body) for one in found.skills}

        self.run_job("skills", read, lambda made: self._show(*made), failed=self.say_failure)

    def _show(self, found: Inventory, lists: Sequence[ListCost], bodies: dict[Path, int]) -> None:
        self._found, self._costs, by_path = found, lists, found.by_path()
        places, by_name = found.places(), found.by_name()

        def cells(one: Skill) -> tuple[Content | str, ...]:
            place = places[one.place.path]
            name = _named(one.name, place if len(by_name[one.name]) > 1 else "")
            return (name, *_numbers(by_path[one.path]), f"{bodies[one.path]:,}", place)

        # What is gone somewhere comes first.
        gone = {path: sum(one.is_listed for one in shown) - len(shown) for path, shown in by_path.items()}
        self.say(NONE)
        if found.skills:
            self.write(Content.assemble(visible(places_text(found)), (f"   {_LEGEND}", MUTED)))
        self.list.records = tuple(
            Record(
                str(one.path),
                cells(one),
                search=f"{one.name} {one.description} {places[one.place.path]}",
                copy=str(one.path),
            )
            for one in sorted(found.skills, key=lambda skill: (gone[skill.path], skill.name))
        )
        self.clients.records = tuple(
            Record(
                one.rule.client,
                (one.rule.client, *_numbers(found.shown[one.rule.client]), f"{one.tokens:,}"),
                copy=one.rule.client,
            )
            for one in lists
        )
        self.draw_detail()

    @on(RecordList.Highlighted, "#clients")
    def _moved_client(self) -> None:
        self.draw_detail()

    def on_descendant_focus(self) -> None:
        super().on_descendant_focus()
        self.draw_detail()

    def draw_detail(self) -> None:
        if self._found is None or self.is_reading:
            return
        reading = self.query_one("#reading")
        report: Iterator[Block] = iter(())
        if self.clients.has_focus_within and (key := self.key_in(self.clients)):
            reading.border_title = f"all skills in {key}"
            report = client_report(self._found, next(one for one in self._costs if one.rule.client == key))
        elif self.key:
            wanted = [one for one in self._found.skills if str(one.path) == self.key]
            reading.border_title = Content(f"{visible(wanted[0].name, newlines=False)} in each client")
            report = skill_report(self._found, wanted)
        self.write(Content("\n").join(report_lines(report, self.width)), "#detail")

    def opened(self, key: str) -> None:  # noqa: ARG002 - it is shown already
        self.action_read()

    @on(RecordList.Selected, "#clients")
    def _opened_client(self) -> None:
        self.action_read()
