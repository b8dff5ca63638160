"""What can be raced: the last question of the conversation, or a scenario that fits the servers."""

from collections.abc import Sequence
from pathlib import Path

from textual.content import Content

from inspector.app.dialogs.choice_row import scenario_row
from inspector.app.draw.style import MUTED
from inspector.app.scenario_job import ScenarioFile
from inspector.core.conversation import Conversation, ItemKind
from inspector.core.number import count, money, tokens
from inspector.core.session import SessionState
from inspector.scenario.estimate import Estimate
from inspector.scenario.ground import lacking, question
from inspector.scenario.scenario import Scenario
from inspector.tokens.catalog import Catalog
from widgets import Record, visible

QUESTION = ""
"""The key of the last question among the choices; scenarios have their paths."""
ALONE = "The question was asked alone, without the earlier conversation."


def last_question(conversation: Conversation) -> ScenarioFile | None:
    """Return the user's newest message as something to race."""
    said = [item.text for item in conversation.items if item.kind is ItemKind.USER]
    return ScenarioFile(Path("question"), question(said[-1])) if said else None


def is_alone(conversation: Conversation) -> bool:
    """Whether nothing came before the last question."""
    return sum(item.kind is ItemKind.USER for item in conversation.items) < 2


def is_stand_in(model: str) -> bool:
    """Whether a model costs nothing, because it is none."""
    return model.startswith("demo/")


def before(
    file: ScenarioFile | None, profile: str, *, has_lab: bool, asked: bool, spends: str = ""
) -> Content:
    """Return what the page is for, before the first race."""
    if not has_lab:
        return Content("Nothing to race in this session. Try `toolsight demo`.")
    if file is None:
        return Content("Ask something in Chat first, or press c to choose a scenario.")
    if file.scenario is None:
        return Content.assemble(("✕ ", "$text-error"), visible(file.problem, limit=400))
    what = "it asks the question" if asked else "it runs the scenario"
    where = f"once with every tool bound and once under {visible(profile, limit=40)}, each on its own servers"
    calls = "Calls that need your approval are skipped, except for tools you allowed for this session."
    lines = [
        Content.assemble(("r or enter starts the race", "bold"), f": {what} {where}."),
        Content.styled(spends, "$text-warning") if spends else Content(),
        Content.styled(calls, MUTED),
        Content.styled(
            "c picks the question or scenario, p the profile to race against static binding.", MUTED
        ),
    ]
    return Content("\n").join(line for line in lines if line)


def spending(model: str, guess: Estimate | None) -> str:
    """Return what a race of a question will take of a real model; "" for one that only stands in."""
    if is_stand_in(model):
        return ""
    name = visible(model, limit=60, newlines=False)
    if guess is None:
        return f"This asks {name} twice; the cost is unknown until it has answered once."
    price = ""
    if guess.dollars is not None and guess.prices is not None:
        price = f" ({money(guess.dollars)} at {guess.prices.model} prices)"
    took = f"about {count(guess.calls, 'call')} with {tokens(guess.tokens)} input tokens{price}"
    return f"This asks {name} twice: {took}, plus its answers."


def servers(session: SessionState) -> str:
    """Return how many servers and tools a race is run on."""
    ready = session.ready_servers
    return f"{count(ready, 'server')}, {count(len(session.tools), 'tool')}" if ready else "no server is ready"


def misfit(scenario: Scenario, catalog: Catalog) -> str:
    """Return why a scenario cannot be raced on these servers; "" if it can."""
    missing = lacking(scenario, catalog)
    return f"does not fit: needs {', '.join(missing)}" if missing else ""


def choices(
    files: Sequence[ScenarioFile], asked: ScenarioFile | None, chosen: str, catalog: Catalog
) -> tuple[Record, ...]:
    """Return what can be raced: the last question, the scenarios that fit, then those that do not."""
    rows = [
        scenario_row(file, chosen, misfit(file.scenario, catalog))
        for file in files
        if file.scenario is not None
    ]
    rows.sort(key=lambda row: row.tone == "muted")
    return (_question_row(asked, chosen == QUESTION), *rows) if asked is not None else tuple(rows)


def _question_row(asked: ScenarioFile, chosen: bool) -> Record:
    title = visible(asked.title, limit=200, newlines=False)
    return Record(
        QUESTION, ("✓" if chosen else " ", title, ""), detail="The last question in the conversation."
    )
