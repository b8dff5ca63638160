"""Prints what was exchanged with servers, frame by frame."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from inspector.cli.render import say, say_json, say_table
from inspector.domain.closest import closest
from inspector.domain.error import ConfigError
from inspector.domain.frame import Flaw, Frame
from inspector.domain.number import count, milliseconds
from inspector.engine.workbench import Workbench

_HEADERS = ("time, UTC", "", "message", "id", "bytes", "took")


def named(bench: Workbench, name: str) -> tuple[str, ...]:
    """The server of that name, or every server for "". Raises ConfigError."""
    known = tuple(bench.state.servers)
    if not name:
        return known
    if name not in known:
        near = ", ".join(closest(name, list(known)) or known)
        raise ConfigError(f"there is no server '{name}'", hint=f"Servers: {near}.")
    return (name,)


def flaws(bench: Workbench, server: str) -> tuple[Flaw, ...]:
    """What was repaired or dropped of a server's messages."""
    log = bench.wire(server)
    return log.flaws() if log is not None else ()


def flaws_as_json(bench: Workbench, server: str) -> list[dict[str, Any]]:
    """The same, for JSON."""
    return [asdict(flaw) for flaw in flaws(bench, server)]


def say_wire(bench: Workbench, servers: Sequence[str], *, as_json: bool) -> None:
    """Print the frames of these servers, oldest first, as far as they are kept."""
    logs = [(server, *_frames(bench, server)) for server in servers]
    if as_json:
        say_json([{**_as_json(*log), "flaws": flaws_as_json(bench, log[0])} for log in logs])
        return
    for server, frames, dropped in logs:
        say(f"{server}: {count(len(frames), 'message')}{f', {dropped:,} dropped before' if dropped else ''}")
        if frames:
            say_table(_HEADERS, map(_row, frames), right=frozenset({4, 5}), whole=frozenset({0, 1}))
        say()


def _frames(bench: Workbench, server: str) -> tuple[tuple[Frame, ...], int]:
    log = bench.wire(server)
    if log is None:
        return (), 0
    frames = log.frames()
    return frames, log.total - len(frames)


def _row(frame: Frame) -> tuple[str, ...]:
    at = f"{datetime.fromtimestamp(frame.at, UTC):%H:%M:%S.%f}"[:-3]
    took = "" if frame.milliseconds is None else milliseconds(frame.milliseconds)
    return at, frame.arrow, frame.what, frame.id, f"{frame.size:,}", took


def _as_json(server: str, frames: Sequence[Frame], dropped: int) -> dict[str, Any]:
    listed = [{**asdict(frame), "what": frame.what, "cut": frame.is_cut} for frame in frames]
    return {"server": server, "dropped": dropped, "frames": listed}
