"""What the README and the docs print is what is measured now, and a figure is written where it stands."""

from pathlib import Path

import pytest

from docs import figures, measured
from docs.benchmark import data
from docs.figures import Cells, Marked, Sentence, Written, differences, new_texts
from docs.measured import Figures, Texts
from inspector.store.server_memory import SqliteVectors
from tests.cli.conftest import Toolsight


@pytest.mark.slow
def test_every_figure_that_takes_seconds_is_printed_as_it_is_measured_now(
    toolsight: Toolsight, demo_vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "printed", lambda *words: toolsight(*words).stdout)
    monkeypatch.setattr(data, "_vectors", lambda: SqliteVectors(demo_vectors))
    told = [
        f"{page}  {line}"
        for page, before, after in new_texts(figures.QUICK, lambda _what, _seconds: None)
        for line in differences(before, after)
    ]
    assert not told, "run `make numbers`, these are no longer true:\n" + "\n".join(told)


def measures(**found: str) -> figures.Measure:
    def measure(_: Texts) -> Figures:
        return found

    return measure


def test_a_sentence_gets_its_figures_wherever_its_lines_break() -> None:
    sentence = Sentence("p", measures(), "binds {few} tokens instead of {all}.")
    said = "It binds 994 tokens\ninstead of 10,376. The rest is 994."
    assert sentence.written(said, {"few": "1,001", "all": "9"}) == (
        "It binds 1,001 tokens\ninstead of 9. The rest is 994."
    )


@pytest.mark.parametrize("said", ["It binds some.", "It binds 1 tool. It binds 2 tool."])
def test_a_sentence_that_a_page_lacks_or_has_twice_is_an_error(said: str) -> None:
    with pytest.raises(ValueError, match="does not say once"):
        Sentence("p", measures(), "binds {number} tool").written(said, {"number": "3"})


def test_only_the_table_of_that_name_is_written() -> None:
    text = "<!-- numbers: a -->\nold\n<!-- end -->\n<!-- numbers: b -->\nold\n<!-- end -->\n"
    assert Marked("p", measures(), "b").written(text, {"table": "new\n"}) == (
        "<!-- numbers: a -->\nold\n<!-- end -->\n<!-- numbers: b -->\nnew\n<!-- end -->\n"
    )


def test_cells_are_written_by_column_and_row_and_stay_as_bold_as_they_were() -> None:
    table = "| ranker | demo | pool |\n|---|--:|--:|\n| hybrid | **0.9** | 0.8 |\n| bm25 | 0.9 | 0.8 |\n"
    text = f"## Other\n{table}\n## Own\n{table}"
    cells = Cells("p", measures(), "## Own")
    assert cells.written(text, {"demo hybrid": "0.7"}) == f"## Other\n{table}\n## Own\n" + table.replace(
        "**0.9**", "**0.7**"
    )


def test_a_written_page_keeps_what_depends_on_the_machine() -> None:
    old = "# Page\nMade on Monday\n| speed | 3 |\n## Times\n5 ms\n## Words\nold\n"
    new = "# Page\nMade on Tuesday\n| speed | 4 |\n## Times\n6 ms\n## Words\nnew\n"
    page = Written("p", (), kept=("Made on ", "| speed |"), sections=("## Times",))
    assert page.written(old, {"page": new}) == old.replace("old", "new")
