"""Secrets that get out: `python -m docs.hard.secrets`, a row for each of the planted ones.

Each stands where a person can put one: in the environment, a header, an input, an argument, an address, a
question, a transcript. A server repeats all of them in its definitions, results, errors and stderr. Every
command that writes is run, taps stand before the servers, a client is measured, and every page of the app is
drawn and copied from; then everything that was written, printed, drawn or copied is searched. The exit code
is 1 if a secret is in it, or if others than its owner may read any of it.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.terminal import terminal
from docs.hard.secrets_between import as_started, install_agent, through_http, through_stdio

REPEATING = Path(__file__).with_name("repeating_server.py")
PLANTED = {
    "a variable called a token": "tk7Qd20vRm-plant-01",
    "a variable with an ordinary name": "wsp-93fA71cd-plant-02",
    "the header Authorization": "hAu8th3n-plant-03",
    "a header with an ordinary name": "xRef-55ab10-plant-04",
    "an input": "inp-7c7c1e-plant-05",
    "an argument by its position": "pos9K2f81Lq0x-plant-06",
    "-k": "kay-0a1b2c-plant-07",
    "--api-key": "apik-3d4e5f-plant-08",
    "--token=": "tok-6a7b8c-plant-09",
    "-e NAME=": "enm-9d0e1f-plant-10",
    "--header": "hdr-2a3b4c-plant-11",
    "the path of an address": "pth5d6e7f81a2b-plant-12",
    "the query of an address": "qry-8b9c0d-plant-13",
    "the password of an address": "pwd-1e2f3a-plant-14",
    "${...} in an argument": "exp-plant-fifteen",
    "a sentence of a transcript": "hunter2-7e8f9a-plant-16",
    "a cookie of a transcript": "ck-0b1c2d-plant-17",
    "the key of a client's model": "mdl-7a8b9c-plant-18",
}
_VARIABLE, _PLAIN, _AUTHORIZATION, _HEADER, _INPUT, _POSITION, _K, _KEY, _TOKEN, _E, _DASH_HEADER = list(
    PLANTED.values()
)[:11]
_PATH, _QUERY, _PASSWORD, _EXPANDED, _SENTENCE, _COOKIE, _MODEL_KEY = list(PLANTED.values())[11:]
REPEATED = list(PLANTED.values())[:15]
TYPED = [_POSITION, _K, _KEY, _TOKEN, _E, _DASH_HEADER]
OWN = [_VARIABLE, _PLAIN, _INPUT, *TYPED, _EXPANDED]
ADDRESS = f"http://me:{_PASSWORD}@127.0.0.1:9/hook/{_PATH}/mcp?token={_QUERY}"
WORDS = [
    *(_POSITION, "-k", _K, "--api-key", _KEY, f"--token={_TOKEN}", "-e", f"SHOP_CODE={_E}"),
    *("--header", f"X-Api-Key: {_DASH_HEADER}"),
]
_SECONDS, _MISUSED = 120, 2
# F1 to F6; so many pages a place at most; down and enter open what is listed, y copies it, esc closes it.
_PLACES = (b"\x1bOP", b"\x1bOQ", b"\x1bOR", b"\x1bOS", b"\x1b[15~", b"\x1b[17~")
_PAGES, _OPENING, _DRAWING = 7, (b"j", b"y", b"\r", b"y", b"\x1b"), 0.4
_COPIED = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)")
TOOL = "repeating:repeat"


class World(Struct, frozen=True):
    """A machine with a home folder: `home` is what Toolsight writes, `given` what was there before."""

    given: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LANG": os.environ.get("LANG", "C.UTF-8"),
            "PATH": f"{self.given / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "PLANTED_VARIABLE": _EXPANDED,
            "TOOLSIGHT_INPUT_pin": _INPUT,
            "ANTHROPIC_API_KEY": _MODEL_KEY,
            "COLUMNS": "400",
        }

    @property
    def configuration(self) -> Path:
        return self.given / "servers.json"

    @property
    def out(self) -> Path:
        """Where files go that commands are told to write."""
        return self.home / "out"


def planted_world(folder: Path) -> World:
    """Plant every secret in a new folder."""
    world = World(folder / "given", folder / "home")
    world.given.mkdir()
    world.out.mkdir(parents=True, mode=0o700)
    world.home.chmod(0o700)
    (world.given / "said.json").write_text(json.dumps(REPEATED))
    (world.given / "typed.json").write_text(json.dumps(TYPED))
    started = [str(REPEATING), str(world.given / "said.json")]
    file: dict[str, Any] = {
        "inputs": [{"id": "pin", "type": "promptString", "password": True}],
        "servers": {
            "repeating": {
                "command": sys.executable,
                "args": [*started, *WORDS, "--note=${PLANTED_VARIABLE}"],
                "env": {"SERVICE_TOKEN": _VARIABLE, "WORKSPACE_REF": _PLAIN, "PIN": "${input:pin}"},
            },
            "web": {
                "url": ADDRESS,
                "headers": {"Authorization": f"Bearer {_AUTHORIZATION}", "X-Custom-Ref": _HEADER},
            },
        },
    }
    world.configuration.write_text(json.dumps(file))
    # `budget` reads the configurations of clients, which are in the home folder.
    (world.home / ".cursor").mkdir(mode=0o700)
    (world.home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": file["servers"]}))
    (world.given / "cases.jsonl").write_text(
        "".join(
            json.dumps({"id": text, "query": f"repeat {text}", "relevant": ["repeating:repeat"]}) + "\n"
            for text in REPEATED
        )
    )
    (world.given / "transcript.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in _transcript()))
    far = {**file["servers"]["web"], "url": ADDRESS.replace(f"me:{_PASSWORD}@", "")}
    # Behind a tap a server says only what it was given itself: the tap knows nothing of the others.
    args = [str(REPEATING), str(world.given / "own.json"), *file["servers"]["repeating"]["args"][2:]]
    (world.given / "own.json").write_text(json.dumps(OWN))
    tapped = {"servers": {"far": far, "repeating": {**file["servers"]["repeating"], "args": args}}}
    (world.given / "tapped.json").write_text(json.dumps(tapped, indent=1))
    install_agent(world.given / "bin", [_MODEL_KEY])
    return world


def _transcript() -> Iterator[dict[str, object]]:
    """A session of Claude Code in which a person and a tool say secrets."""
    common = {"sessionId": "5d1c7f2e-0000-4000-8000-000000000001", "cwd": "/work", "version": "2.0.0"}
    said = f"The dbpass is {_SENTENCE}, please list the tables."
    answer = {
        "id": "msg_1",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": {"input_tokens": 10, "output_tokens": 5},
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "mcp__web__get", "input": {"why": said}}],
    }
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"cookie: session={_COOKIE}\nok"}
    entries: list[dict[str, object]] = [
        {"type": "user", "message": {"role": "user", "content": said}},
        {"type": "assistant", "message": answer},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]
    for number, entry in enumerate(entries):
        before = {"parentUuid": str(number - 1) if number else None, "uuid": str(number)}
        yield {**common, **before, "timestamp": f"2026-01-02T03:04:0{number}.000Z", **entry}


def on_file(world: World) -> Sequence[str]:
    """The options that start the planted configuration without a question."""
    started = ("--config", str(world.configuration), "--approve", "--yes")
    return (*started, "--set", "discovery.embedding_model=none")


def commands(world: World) -> Iterator[Sequence[str]]:
    """Every command that writes or prints something of what was planted, with its arguments."""
    by_file = on_file(world)
    typed = ("--", sys.executable, str(REPEATING), str(world.given / "typed.json"), *WORDS)
    asked = " ".join(REPEATED)
    said = f"text={asked}"
    for form in ((), ("--json",)):
        yield "servers", *form, *by_file
        yield "servers", "--wire", "repeating", *form, *by_file
        yield "tools", *form, *by_file
        yield "search", asked, *form, *by_file
        yield "call", TOOL, said, *form, *by_file
        yield "call", "repeating:refuse", said, *form, *by_file
        yield "call", TOOL, said, "--save", "planted", *form, *by_file
        yield "call", "--saved", "planted", *form, *by_file
        yield "chat", asked, *form, *by_file
        yield "check", "--all", "--no-model", *form, *by_file
        yield "search", asked, "--why", TOOL, "--try-name", "other", *form, *by_file
        yield "cost", *form, *by_file
        yield "config", "settings", *form, *by_file
        yield "audit", "--approve", *form
        yield "registry", "import", "--set", "discovery.embedding_model=none", *form, *by_file
        yield "registry", "show", *form
        yield "registry", "show", TOOL, *form
        yield "tools", *form, *typed
        yield "call", "repeating_server:fail", f"text={' '.join(TYPED)}", "--yes", *form, *typed
        yield "tools", *form, "--", ADDRESS
    yield "tools", "--request", *by_file
    for form_of_call in ("line", "json-rpc"):
        yield "call", TOOL, said, "--print", form_of_call, *by_file
        yield "call", "repeating_server:repeat", f"text={' '.join(TYPED)}", "--print", form_of_call, *typed
    yield "registry", "export", str(world.out / "registry.jsonl")
    yield "registry", "export", "-"
    yield "race", asked, *by_file
    yield "race", asked, "--json", *by_file
    data = ("--data", str(world.given / "cases.jsonl"), "--ranker", "bm25", "--ranker", "hybrid", *by_file)
    yield "bench", "--json", *data
    yield "bench", "--details", "9", *data
    measured = ("-o", str(world.out / "measured.toml"), "--requests", str(world.out / "requests"))
    yield "clients", "measure", "claude-code", "--yes", *measured
    yield "sessions", "import", str(world.given / "transcript.jsonl")
    for form in ((), ("--json",)):
        yield "sessions", *form
        for reading in ("show", "agents", "metrics"):
            yield "sessions", reading, *form
        yield "sessions", "show", "--as", "events", *form
        yield "doctor", "breakers", *form
    yield "sessions", "show", "--as", "spans", "--content"


def run(world: World, words: Sequence[str], *, is_refused: bool = False) -> bytes:
    """What a command prints, on both streams."""
    program = [sys.executable, "-m", "inspector", *words]
    done = subprocess.run(
        program,
        env=world.environment,
        cwd=world.home,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_SECONDS,
    )
    if (done.returncode == _MISUSED) is not is_refused:
        raise ValueError(f"{' '.join(words)}: {done.stderr.decode()}")
    return done.stdout + done.stderr


def between(world: World) -> Iterator[tuple[str, bytes]]:
    """What is printed while a client and its servers talk through taps, typed and added to a file."""
    environment, home, file = world.environment, world.home, world.given / "tapped.json"
    typed = [sys.executable, str(REPEATING), str(world.given / "typed.json"), *WORDS]
    command = [sys.executable, "-m", "inspector", "tap", "--", *typed]
    yield "tap --", through_stdio(command, environment, home, TYPED)
    yield "tap add far", run(world, ("tap", "add", "far", "--config", str(file)), is_refused=True)
    yield "tap add", run(world, ("tap", "add", "repeating", "--config", str(file), "--yes"))
    values = {**environment, "pin": _INPUT}
    command, variables = as_started(file, "repeating", values)
    yield "tapped", through_stdio(command, {**environment, **variables}, home, OWN)
    yield "tap remove", run(world, ("tap", "remove", "repeating", "--config", str(file), "--yes"))
    headers = {"Authorization": f"Bearer {_AUTHORIZATION}", "X-Custom-Ref": _HEADER}
    known = [_AUTHORIZATION, _HEADER, _PATH, _QUERY]
    yield "tap -- ADDRESS", through_http(ADDRESS, headers, environment, home, known)


def copies(drawn: bytes) -> bytes:
    """What the app asked the terminal to copy."""
    return b"\n".join(map(b64decode, _COPIED.findall(drawn)))


def screens(world: World) -> dict[str, bytes]:
    """What the app draws on each page of each place, with a call's form and the tool's whole text open."""
    shown: dict[str, bytes] = {}
    program = [sys.executable, "-m", "inspector", *on_file(world)]
    with terminal(program, {**world.environment, "TERM": "xterm-256color"}, rows=50) as opened:
        shown["app, start"] = opened.read_until(b"1/2 up")
        for number, place in enumerate(_PLACES):
            for page in range(_PAGES):
                opened.press(place if page == 0 else str(number + 1).encode())
                shown[f"app, place {number + 1}, page {page + 1}"] = opened.read_for(_DRAWING)
                for key in _OPENING:
                    opened.press(key)
                    shown[f"app, place {number + 1}, page {page + 1}, {key!r}"] = opened.read_for(_DRAWING)
    return shown


def found(texts: dict[str, bytes]) -> dict[str, list[str]]:
    """Where each planted secret is, also as JSON or an address would have it."""
    places: dict[str, list[str]] = {}
    for what, secret in PLANTED.items():
        forms = {secret.encode(), quote(secret, safe="").encode()}
        places[what] = [place for place, text in texts.items() if any(form in text for form in forms)]
    return places


def written(world: World) -> dict[str, bytes]:
    """The files that are in the home folder now."""
    return {str(path.relative_to(world.home)): _unpacked(path) for path in _made(world) if path.is_file()}


def _unpacked(path: Path) -> bytes:
    """What the file has; of a database also what is compressed in it."""
    if path.name != "toolsight.db":
        return path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        listed = connection.execute("SELECT text FROM definitions").fetchall()
    return b"\n".join((path.read_bytes(), *(zlib.decompress(text) for (text,) in listed)))


def open_to_others(world: World) -> list[str]:
    """What others than its owner may read or enter. The files of a published model are no secret."""
    paths = (path for path in _made(world) if path.is_dir() or "models" not in path.parts)
    return [str(path.relative_to(world.home)) for path in paths if path.stat().st_mode & 0o077]


def _made(world: World) -> list[Path]:
    """What is in the home folder now, but for the client's configuration."""
    return sorted(path for path in world.home.rglob("*") if ".cursor" not in path.parts)


def main() -> int:
    """Plant, write, search, and print what was found."""
    with tempfile.TemporaryDirectory() as folder:
        world = planted_world(Path(folder))
        printed = {
            f"$ {' '.join(words[:2])} #{number}": run(world, words)
            for number, words in enumerate(commands(world))
        }
        printed |= dict(between(world))
        drawn = screens(world)
        copied = {f"copied: {place}": copies(text) for place, text in drawn.items()}
        say(f"{sum(map(bool, copied.values()))} texts copied")
        places = found({**printed, **drawn, **copied, **written(world)})
        for what, where in places.items():
            say(f"{'in clear' if where else 'kept':<9} {what}: {', '.join(where) or 'nowhere'}")
        readable = open_to_others(world)
        left = sum(map(bool, places.values()))
        say(f"{left} of {len(PLANTED)} secrets in clear; others may read {len(readable)} files or folders")
        for one in readable:
            say(f"open      {one}")
        return int(bool(left or readable))


if __name__ == "__main__":
    sys.exit(main())
