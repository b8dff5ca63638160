"""Reports as text what grew since a stored audit."""

from collections.abc import Iterator, Sequence

from inspector.app.draw.path import shown_path
from inspector.cli.render import say, say_table
from inspector.domain.number import count, percent, signed, signed_percent
from inspector.engine.tokens.audit.growth import Change, Key
from inspector.engine.tokens.audit.result import title


def say_growth(moved: Sequence[Change], limit: float, *, err: bool) -> None:
    """Print what grew by more than the limit, by server, and what is new, gone or not comparable."""
    grown = [change for change in moved if change.exceeds(limit)]
    for change in moved:
        for line in _remarks(change):
            say(line, err=err)
    if not grown:
        say(f"No configuration grew by more than {percent(limit, 1)}.", err=err)
        return
    rows = [row for change in grown for row in _grown(change)]
    say(f"Grew by more than {percent(limit, 1)}:", err=err)
    if err:
        for row in rows:
            say("  ".join(row), err=True)
        return
    say_table(("configuration or server", "before", "now", "change"), rows, right=frozenset({1, 2, 3}))


def _remarks(change: Change) -> Iterator[str]:
    name = _key(change.key)
    if change.before is None:
        yield f"new: {name}, {count(change.after or 0, 'token')}"
    elif change.after is None:
        yield f"gone: {name}, was {count(change.before, 'token')}"
    elif not change.is_compared:
        yield f"not compared: {name} (no server was measured both times)"
    elif change.skipped:
        yield f"not compared: {', '.join(change.skipped)} in {name} (not measured both times)"


def _grown(change: Change) -> Iterator[tuple[str, str, str, str]]:
    before, after = change.before or 0, change.after or 0
    yield (
        _key(change.key),
        f"{before:,}",
        f"{after:,}",
        signed_percent(change.increase, 1) if before else "new",
    )
    for name, former, now in change.servers:
        yield f"  {name}", f"{former:,}", f"{now:,}", signed(now - former)


def _key(key: Key) -> str:
    client, scope, source = key
    return f"{title(client, scope)}  {shown_path(source)}"
