"""An audit of a machine with three clients, made of tools that a test can count."""

from functools import cache

from inspector.config.configuration import Configuration
from inspector.core.budget import Prices
from inspector.core.server import ServerSpec
from inspector.core.settings import Settings
from inspector.core.tool import Tool
from inspector.measure.audit.audit import Pricing, audit
from inspector.measure.audit.result import Audit, Basis, Problem, Reading, Subject
from tests.support.counting import character_meter

PRICES = Prices("m", 2e-6, 8e-6, cache_read=0.5e-6, cache_write=2.5e-6, source="a list", date="today")
_PRICING = Pricing(PRICES, PRICES.terms, judges=True)


@cache
def machine() -> Audit:
    """Two configurations that were measured in part, one that was not, and a file that cannot be read."""
    meter = character_meter(200_000)
    many = {
        "tracker": Reading(_tools("tracker", 800), at=1_790_000_000.0),
        "mail": Reading(reason="needs MAIL_TOKEN", hint="Set MAIL_TOKEN."),
    }
    subjects = (
        _subject("Claude Code", "user", "/srv/claude.json", many),
        _subject("Cursor", "project /srv/engine", "/srv/cursor.json", {"crm": Reading(_tools("crm", 4))}),
        _subject("VS Code", "user", "/srv/code.json", {"files": Reading(reason="not approved")}),
    )
    return Audit(
        Basis("m", meter.tokenizer, meter.window, PRICES, terms=PRICES.terms),
        tuple(audit(subject, meter, _PRICING) for subject in subjects),
        (Problem("Windsurf", "user", "/srv/windsurf.json", "/srv/windsurf.json:2:1: expecting a name"),),
        (),
    )


def _tools(server: str, number: int) -> tuple[Tool, ...]:
    return tuple(
        Tool(server, f"tool_{n}", f"Does thing {n} of {server}, and says so.") for n in range(number)
    )


def _subject(client: str, scope: str, source: str, readings: dict[str, Reading]) -> Subject:
    configuration = Configuration(source, tuple(ServerSpec(name, name) for name in readings))
    return Subject(client, scope, configuration, readings, Settings())
