"""The record of a run: readable whenever its writer was killed."""

import json
from pathlib import Path

from hypothesis import given, strategies as st

from inspector.mcp.process import record
from inspector.mcp.process.record import Run, Start
from tests.support.hostile import with_hostile_text

NAMES = st.text(max_size=20)
LINES = st.one_of(
    st.builds(record.announced, st.integers(1, 4), st.floats(0, 2e9, allow_nan=False), NAMES.map(json.dumps)),
    st.builds(record.started, st.integers(1, 4), st.integers(2, 99999), st.integers(0, 10**9).map(str)),
    st.builds(record.ended, st.integers(1, 4)),
    st.builds(record.kept, st.integers(1, 4)),
)


def written(folder: Path, content: bytes) -> Run | None:
    path = folder / "ab12"
    path.write_bytes(content)
    return record.read(path)


def test_a_start_is_read_as_it_was_noted(tmp_path: Path) -> None:
    run = written(
        tmp_path,
        record.opening("here")
        + record.announced(1, 5.5, '"git"')
        + record.announced(2, 6.0, '"time"')
        + record.started(2, 4711, "99")
        + record.ended(2),
    )
    assert run == Run("ab12", "here", (Start(1, 5.5, '"git"'), Start(2, 6.0, '"time"', 4711, "99", True)))
    assert run.unknown == (Start(1, 5.5, '"git"'),)
    assert run.marker(run.starts[1]) == "ab12.2"


@given(lines=st.lists(LINES), cut=st.integers(0, 400))
def test_a_run_that_was_killed_while_it_wrote_is_read_up_to_the_last_whole_line(
    lines: list[bytes], cut: int, tmp_path_factory: object
) -> None:
    folder = Path(tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    whole = record.opening("here") + b"".join(lines)
    torn = whole[:cut]
    assert written(folder, torn) == written(folder, torn[: torn.rfind(b"\n") + 1])


@with_hostile_text
def test_a_servers_name_stays_within_its_line(tmp_path_factory: object, text: str) -> None:
    folder = Path(tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    run = written(folder, record.opening("here") + record.announced(1, 0.0, json.dumps(text)))
    assert run is not None
    assert json.loads(run.starts[0].name) == text


def test_what_is_no_record_says_nothing_of_any_process(tmp_path: Path) -> None:
    assert written(tmp_path, b"") is None
    assert written(tmp_path, b"something else\n") is None
    run = written(
        tmp_path, record.opening("here") + b"started\t1\t4711\t9\nstarted\nannounced\tx\ty\tz\n\xff\t\n"
    )
    assert run == Run("ab12", "here")
