"""Which files are transcripts, how they are opened, and what becomes of broken ones."""

import json
import os
import sys
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from fixtures.transcripts import make
from inspector.core.error import ConfigError
from inspector.features.agents.transcript import Answered
from inspector.features.agents.transcript_file import reader as reading
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import (
    find_transcripts,
    line_reader,
    open_transcript,
    read_lines,
)
from tests.support.transcripts import (
    CODE_MODE,
    FILES,
    GROWING,
    SUB_AGENT,
    Claude,
    fed,
    line,
    of,
    records,
    said,
    whole,
)

every_format = pytest.mark.parametrize("kind", list(Format))
every_line_format = pytest.mark.parametrize("kind", GROWING)


GOLDEN = Path(__file__).parent / "read"


@pytest.mark.parametrize(
    "path", [*list(FILES.values())[:5], CODE_MODE, SUB_AGENT], ids=lambda path: path.stem
)
def test_a_small_transcript_is_read_as_its_golden_file_says(path: Path, tmp_path: Path) -> None:
    """Whatever its name is; `TOOLSIGHT_GOLDEN=write` writes the files anew."""
    (tmp_path / "anything").write_bytes(path.read_bytes())
    transcript = open_transcript(tmp_path / "anything")
    lines = [transcript.format.value, *map(repr, transcript.entries())]
    told = "\n".join([*lines, repr(transcript.tally), ""])
    golden = GOLDEN / f"{path.stem}.txt"
    if os.environ.get("TOOLSIGHT_GOLDEN") == "write":
        golden.write_text(told, encoding="utf-8")
    assert told == golden.read_text(encoding="utf-8")


FRAME = {"uuid": "u", "parentUuid": None, "sessionId": "s", "timestamp": "2026-11-28T10:00:00.000Z"}
TEXT = [{"type": "text", "text": "x"}]
STRANGERS: dict[str, list[dict[str, object]]] = {
    "parts in no thread": [{"uuid": "u", "sessionId": "s", "type": "user", "message": {"parts": TEXT}}],
    "another frame": [{**FRAME, "type": "system", "subtype": "session_model"}],
    "not Gemini CLI": [{"sessionId": "s", "projectHash": "h"}, {"id": "1", "type": "user", "content": TEXT}],
    "not opencode": [{"info": {"id": "i"}, "messages": [{"info": {"sessionID": "i"}}]}],
    "a chat": [{"role": "user", "content": "x", "timestamp": "2026-10-09"}, {"role": "assistant"}],
    "not Cline": [{"sessionId": "s", "messages": [{"role": "user", "content": TEXT}]}],
    "not fast-agent": [{"messages": [{"role": "user", "content": TEXT}]}],
    "not Continue": [{"sessionId": "s", "history": []}],
    "another start": [{"type": "session_start", "id": "s"}, {"type": "message", "id": "m"}],
    "not OpenHands": [{"kind": "ActionEvent", "id": "e"}],
    "streamed": [{"type": "assistant", "message": {"content": TEXT}, "session_id": "s", "uuid": "u"}],
    "another event": [{"type": "session.start", "timestamp": 1, "data": {}}],
    "another chat": [{"sessionId": "s", "requests": [{"url": "x"}]}],
    "another progress": [{"type": "progress", "sessionId": "s"}],
}


@every_format
def test_an_unknown_kind_is_counted_by_its_name_and_nothing_else_of_it_is_kept(kind: Format) -> None:
    reader = line_reader(kind)
    assert fed(reader, [line({"type": "novelty", "payload": {"secret": "s3cret"}})]) == []
    assert sum(reader.tally.unknown.values()) == 1
    assert "s3cret" not in repr(reader.tally)


@every_line_format
@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        (b'{"type": "user", "mess', "not JSON"),
        (b"[1, 2]", "not an object"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_line_is_counted_and_changes_nothing(kind: Format, garbage: bytes, reason: str) -> None:
    lines = [line(record) for record in records(FILES[kind])]
    reader = line_reader(kind)
    whole_file = fed(line_reader(kind), lines)
    assert fed(reader, [lines[0], garbage + b"\n", *lines[1:], garbage]) == whole_file
    assert reader.tally.malformed[reason] == 2


def test_what_is_not_utf_8_is_replaced_and_counted() -> None:
    record = line(Claude().answer("m", said("caf_"))).replace(b"caf_", b"caf\xe9")
    reader = line_reader(Format.CLAUDE_CODE)
    (answer,) = of(Answered, fed(reader, [record]))
    assert answer.text == "caf\ufffd"
    assert reader.tally.malformed == {"not UTF-8": 1}


def test_a_line_that_is_too_long_is_passed_over_without_being_held() -> None:
    class Counted(BytesIO):
        longest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            found = super().readline(size)
            self.longest = max(self.longest, len(found))
            return found

    file = Counted(b"short\n" + b"x" * 5_000_000 + b"\nlast")
    assert list(read_lines(file, limit=100)) == [b"short\n", None, b"last"]
    assert file.longest <= 1024 * 1024


NO_RECORDS = (
    b"",
    b"hello",
    b"{}",
    b"[]",
    b'{"type":"message","text":"x"}\n',
    b'{"mcpServers":{}}',
    b"\0" * 9,
)


@pytest.mark.parametrize(
    "content", [*NO_RECORDS, *(b"".join(map(line, written)) for written in STRANGERS.values())]
)
def test_what_is_not_certainly_a_known_format_is_refused_with_a_hint(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(ConfigError, match="not a transcript") as caught:
        open_transcript(tmp_path / "a.jsonl")
    assert "docs/papers/transcripts.md" in caught.value.hint


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "missing", tmp_path / "a\0b"):
        with pytest.raises(ConfigError) as caught:
            open_transcript(path)
        assert caught.value.hint


def test_transcripts_are_found_below_a_folder_the_newest_last(tmp_path: Path) -> None:
    for age, name in enumerate(("new.jsonl", "deep/er/older.jsonl", "deep/oldest.jsonl")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(FILES[Format.CODEX].read_bytes())
        os.utime(path, (1000 - age, 1000 - age))
    (tmp_path / "agent.meta.json").write_text(json.dumps({"agentType": "x"}))
    (tmp_path / "notes.jsonl").write_text("no transcript")
    assert [path.name for path in find_transcripts(tmp_path)] == ["oldest.jsonl", "older.jsonl", "new.jsonl"]
    assert find_transcripts(tmp_path / "new.jsonl") == [tmp_path / "new.jsonl"]


def test_nothing_outside_the_folder_is_opened(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside, inside / "tool-results", inside / ".hidden"):
        folder.mkdir()
    for folder in (outside, inside / "tool-results", inside / ".hidden"):
        (folder / "a.jsonl").write_bytes(FILES[Format.CODEX].read_bytes())
    (inside / "link.jsonl").symlink_to(outside / "a.jsonl")
    (inside / "linked").symlink_to(outside)
    os.mkfifo(inside / "pipe.jsonl")
    assert find_transcripts(inside) == []


def packed(path: Path, *parts: bytes) -> Path:
    """A file that is compressed with zstd; each part is a frame."""
    zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")
    path.write_bytes(b"".join(map(zstd.compress, parts)))
    return path


def test_a_compressed_transcript_is_read_as_the_plain_one(tmp_path: Path) -> None:
    lines = FILES[Format.CODEX].read_bytes().splitlines(keepends=True)
    path = packed(tmp_path / "rollout.jsonl.zst", b"".join(lines[:5]), b"".join(lines[5:]))
    told: list[tuple[int, int]] = []
    transcript = open_transcript(path)
    entries = list(transcript.entries(lambda done, size: told.append((done, size))))
    assert (transcript.format, transcript.packed, entries) == (Format.CODEX, True, whole(FILES[Format.CODEX]))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert not list(transcript.entries(stopped=lambda: True))
    assert find_transcripts(tmp_path) == [path]
    (tmp_path / "rollout.jsonl").write_bytes(b"".join(lines))
    assert find_transcripts(tmp_path) == [tmp_path / "rollout.jsonl"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0.2, 0.99), damage=st.binary(max_size=300))
def test_a_compressed_transcript_that_is_damaged_tells_what_comes_before(
    tmp_path: Path, cut: float, damage: bytes
) -> None:
    text = "".join(make.codex(20, seed=5, words=50)).encode()
    path = packed(tmp_path / "a.zst", *(text[at : at + 2000] for at in range(0, len(text), 2000)))
    full, data = list(open_transcript(path).entries()), path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)] + damage)
    transcript = open_transcript(path)
    part = list(transcript.entries())
    assert len(part) >= len(full) * cut / 2
    assert part[:-4] == full[: max(len(part) - 4, 0)]
    assert damage == b"" or transcript.tally.malformed["a compressed file that is cut off or damaged"] == 1


def test_a_small_file_that_stands_for_endless_text_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "ALWAYS", 1_000_000)
    path = packed(tmp_path / "a.zst", FILES[Format.CODEX].read_bytes(), b" " * 3_000_000)
    with pytest.raises(ConfigError, match="decompresses to more than"):
        list(open_transcript(path).entries())
