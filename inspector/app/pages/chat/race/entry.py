"""What can be raced: the last question of the conversation, or a scenario that fits the servers."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from rich.cells import cell_len
from textual.content import Content

from inspector.app.dialogs.choice import scenario_row
from inspector.app.draw.line import MUTED
from inspector.app.pages.chat.race import content, outcome
from inspector.app.scenario_job import ScenarioFile
from inspector.core.conversation import Conversation, ItemKind
from inspector.core.number import count, money, tokens
from inspector.core.session import SessionState
from inspector.scenario.ground import Estimate, lacking, question
from inspector.scenario.race import RaceFrame, Racer, Verdict
from inspector.scenario.scenario import Scenario
from inspector.tokens.manifest import Catalog
from widgets import Record, plain, shorten, visible

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


WIDTH, HEIGHT = 100, 26
# Text and its ANSI style codes, "" for none.
Piece = tuple[str, str]
Line = tuple[Piece, ...]
_BOLD, _DIM, _GOOD = "1", "2", "1;32"
_STYLES = ("37", "94")
_HOME, _CLEAR, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
_NEXT_LINE = "\r\n"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_LONGEST = 400
# Cells for a racer's total.
_TOTAL = 9
# Seconds for which a player shows the last frame.
_END = 3.0


def drawn(
    title: str, frame: RaceFrame, verdict: Verdict | None, width: int, most: int | None = None
) -> list[Line]:
    """Return a moment of the race as lines of at most `width` cells, or its end if there is a verdict.

    `most` is the number of tokens of a full bar, by default those of the larger racer so far.
    """
    longest = most if most is not None else max(racer.tokens for racer in frame.racers)
    lines = list(_head(title, frame, width))
    for side, racer in enumerate(frame.racers):
        state = content.outcome(racer).plain if verdict is not None else ""
        lines += [(), *_racer(racer, state, _STYLES[side], longest, width)]
    lines.append(())
    summary = outcome.result(verdict) if verdict is not None else content.so_far(frame)
    for number, text in enumerate(summary.plain.splitlines()):
        style = (_BOLD if verdict.shortfall else _GOOD) if verdict is not None and not number else ""
        lines += [((part, style),) for part in _wrapped(text, width)]
    return lines


def _head(title: str, frame: RaceFrame, width: int) -> Iterator[Line]:
    racer = frame.racers[1]
    yield (("Race  ", _DIM), (visible(title, limit=_LONGEST, newlines=False), _BOLD))
    facts = [racer.tokenizer, racer.model, f"call {frame.call}" if frame.call else "getting ready"]
    pieces = [plain(fact, limit=_LONGEST, newlines=False) for fact in facts if fact]
    yield ((content.joined(pieces, width).plain, _DIM),)


def _racer(racer: Racer, state: str, color: str, most: int, width: int) -> Iterator[Line]:
    name = content.racer_title(racer.profile).plain
    yield ((name, f"1;{color}"), (f"   {state}" if state else "", ""))
    yield ((f"{racer.tokens:>{_TOTAL},}", f"1;{color}"), (_facts(racer, width - _TOTAL - 1), ""))
    yield ((content.bar(racer, most, width, "").plain, color),)
    call = f"{racer.calls:>3} {tokens(racer.present):>6}  {racer.last}" if racer.calls else ""
    yield ((visible(call, limit=_LONGEST, newlines=False), ""),)


def _facts(racer: Racer, width: int) -> str:
    """Return as many facts as fit whole."""
    searches = f" ({content.SEARCHES} {tokens(racer.search_tokens)} searches)" if racer.search_tokens else ""
    facts = [
        f" tokens for tools{searches}",
        count(racer.calls, "model call"),
        f"all input {tokens(racer.input_tokens)}",
        *([money(racer.dollars)] if racer.dollars is not None else []),
        f"{count(racer.bound, 'tool')} bound",
    ]
    return content.joined([plain(fact) for fact in facts], width).plain


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, subsequent_indent="  ", break_on_hyphens=False) or [""]


def ansi_line(line: Line, width: int, *, colored: bool = True) -> str:
    """Return the line with its styles, cut at `width` cells and free of any other control sequence."""
    room, pieces = width, []
    for text, style in line:
        shown = shorten(plain(text, limit=_LONGEST, newlines=False), room).plain
        room -= cell_len(shown)
        pieces.append(f"\x1b[{style}m{shown}\x1b[0m" if colored and style and shown else shown)
    return "".join(pieces)


def screen(lines: Sequence[Line], width: int) -> str:
    """Return the sequence that draws the lines over a terminal from its upper left corner."""
    drawn_lines = (f"{ansi_line(line, width)}{_REST_OF_LINE}" for line in lines)
    return f"{_HOME}{_NEXT_LINE.join(drawn_lines)}{_REST}"


def cast(title: str, frames: Sequence[RaceFrame], verdict: Verdict) -> str:
    """Return a recording: a JSON header, then a JSON event per line (docs.asciinema.org/manual/asciicast/v2).

    The same frames give the same recording.
    """
    most = max(racer.tokens for racer in verdict.racers)
    moments = [(frame.seconds, drawn(title, frame, None, WIDTH, most)) for frame in frames]
    end = frames[-1].seconds
    moments.append((end, drawn(title, frames[-1], verdict, WIDTH, most)))
    height = max(HEIGHT, *(len(lines) + 1 for _, lines in moments))
    header = {
        "version": 2,
        "width": WIDTH,
        "height": height,
        "duration": end + _END,
        "title": visible(title, limit=_LONGEST, newlines=False),
        "env": {"TERM": "xterm-256color"},
    }
    events = [
        [0.0, "o", f"{_HIDE_CURSOR}{_CLEAR}"],
        *([seconds, "o", screen(lines, WIDTH)] for seconds, lines in moments),
        [end + _END, "o", f"{_NEXT_LINE}{_SHOW_CURSOR}"],
    ]
    return "".join(f"{json.dumps(line)}\n" for line in (header, *events))
