"""What changed since each server was connected last, in words and as JSON."""

from typing import Any

from inspector.cli.render import say, say_json
from inspector.domain.definition import definition_changes
from inspector.domain.events import DefinitionChanged, ServerReady
from inspector.domain.moment import shown_moment
from inspector.domain.number import count
from inspector.engine.workbench import Workbench

_LINES = 12


def say_changes(bench: Workbench, *, as_json: bool) -> None:
    """Print what every server lists that it did not list last time, from the session's record."""
    records = [record.event for record in bench.records((ServerReady.kind, DefinitionChanged.kind))]
    ready = [event for event in records if isinstance(event, ServerReady)]
    changes = [event for event in records if isinstance(event, DefinitionChanged)]
    if as_json:
        say_json([_data(bench, server, _of(server, changes)) for server in ready])
        return
    news = [server for server in ready if server.added or server.removed or _of(server, changes)]
    if not news:
        say(f"No changes in {count(len(ready), 'server')}.")
    for server in news:
        since = f" since {shown_moment(server.since)} UTC" if server.since else ""
        say(f"{server.server}{since}")
        for sign, names in (("+", server.added), ("-", server.removed)):
            for name in names:
                say(f"  {sign} {name}")
        for change in _of(server, changes):
            _say_change(bench, change)


def _of(server: ServerReady, changes: list[DefinitionChanged]) -> list[DefinitionChanged]:
    return [change for change in changes if change.tool.partition(":")[0] == server.server]


def _say_change(bench: Workbench, change: DefinitionChanged) -> None:
    say(f"  ~ {change.tool}: {'wording only' if change.verdict == 'words' else change.verdict}")
    for reason in change.reasons:
        say(f"      {reason}")
    for gone, new in _lines(bench, change)[:_LINES]:
        say(f"      - {gone}" if gone else "      -")
        say(f"      + {new}" if new else "      +")
    if change.others:
        say(f"  and {count(change.others, 'more tool')} changed")


def _lines(bench: Workbench, change: DefinitionChanged) -> list[tuple[str, str]]:
    versions = bench.state.definitions
    before, after = versions.get(change.before), versions.get(change.after)
    if before is None or after is None:
        return []
    return [
        (f"{part.part} {gone}" if gone else "", f"{part.part} {new}" if new else "")
        for part in definition_changes(before, after)
        for gone, new in part.lines
    ]


def _data(bench: Workbench, server: ServerReady, changes: list[DefinitionChanged]) -> dict[str, Any]:
    return {
        "server": server.server,
        "since": server.since or None,
        "added": server.added,
        "removed": server.removed,
        "changed": [
            {
                "tool": change.tool,
                "verdict": change.verdict,
                "reasons": change.reasons,
                "breaking": change.breaking_reasons,
                "before": change.before,
                "after": change.after,
                "lines": _lines(bench, change),
            }
            for change in changes
        ],
        "others": sum(change.others for change in changes),
    }
