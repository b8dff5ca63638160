"""The chapters: found by id, made in the order of the report, stopped between two steps."""

from datetime import UTC, datetime

import pytest

from inspector.core.error import ConfigError
from inspector.core.report import Origin, Section, Table, markdown
from inspector.research.published import report
from inspector.research.run import CHAPTERS, Chapter, chapters, make
from inspector.research.source import Steps, Stopped
from tests.support.reproduction import MemorySource

SECTION = Section("one", "One", "a paper", "this", ())


def test_chapters_come_in_the_order_of_the_report_and_once() -> None:
    found = chapters(["reduction", "latency", "reduction"])
    assert [chapter.id for chapter in found] == ["reduction", "latency"]
    assert chapters([]) == ()


def test_an_unknown_chapter_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        chapters(["latencies"])
    assert "latency" in caught.value.hint


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.id)
def test_what_a_chapter_is_made_with_is_there(chapter: Chapter) -> None:
    with pytest.raises(Stopped):
        chapter.sections(MemorySource(), Steps(stopped=lambda: True))


def test_no_chapter_has_the_id_of_another() -> None:
    assert len({chapter.id for chapter in CHAPTERS}) == len(CHAPTERS)


def test_a_section_is_there_as_soon_as_it_is_made_and_stopping_keeps_the_next_from_beginning() -> None:
    stopping = False
    chapter = Chapter("one", "One", "a paper", "this", lambda _source, _steps: (SECTION,))
    made = make([chapter, chapter], MemorySource(), Steps(stopped=lambda: stopping))
    assert next(made) == SECTION
    stopping = True
    with pytest.raises(Stopped):
        next(made)


def test_whatever_a_chapter_makes_has_its_real_tables_first() -> None:
    built_in = Table("built in", ("a",), (), origin=Origin.CALIBRATION)
    mixed = Section("one", "One", "a paper", "this", (built_in, Table("real", ("a",), ())))
    chapter = Chapter("one", "One", "a paper", "this", lambda _source, _steps: (mixed,))
    for found in (next(make([chapter], MemorySource(), Steps())), *chapter.sections(MemorySource(), Steps())):
        assert [table.title for table in found.tables] == ["real", "built in"]


def test_the_generated_testbed_is_the_last_chapter() -> None:
    assert CHAPTERS[-1].id == "attention"


def test_a_report_says_when_on_what_and_how_to_repeat_it() -> None:
    source = MemorySource()
    text = markdown(report([SECTION], source, "toolsight bench papers one"))
    assert text.startswith("# Published numbers, reproduced\n")
    assert f"{datetime.fromtimestamp(source.clock.now(), UTC):%Y-%m-%d}" in text
    for word in (
        "`toolsight bench papers one`",
        "processors",
        "Python 3",
        "characters, exact",
        "`memory`",
        "memory 1.0",
    ):
        assert word in text
    assert "/work" not in text
