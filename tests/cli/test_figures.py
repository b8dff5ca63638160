"""What the README and the docs print is what is measured now, and a figure is written where it stands."""

import json
import re
from pathlib import Path

import pytest

from docs import evidence, figures, measured
from docs.benchmark import data
from docs.figures import Cells, Marked, Sentence, Written, differences, new_texts
from docs.measured import Figures, Texts
from inspector.store.server_memory import SqliteVectors
from tests.support.commands import Toolsight


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


def printed(*_words: str, module: str = "inspector") -> str:
    """What both commands print, with few keys."""
    if module == "docs.papers":
        row = ["live", "100", "105", "1", "1", "96.9 % [94.5, 98.2]", "1", "1", "91.6 % [88.8, 93.5]"]
        rows = [row, [row[0], "200", *row[2:]]]
        return json.dumps({"sections": [{"tables": [{"title": "Random sets", "rows": rows}]}]})
    share = {"mean": 0.5, "low": 0.25, "high": 1.5}
    setups = [
        {"setup": {"name": name}, "runs": 9, "tasks": 8, "solved": 7, "returned": share, "reached": share}
        | dict.fromkeys(("tool_tokens", "cost", "uncached", "cost_ratio", "uncached_ratio"), share)
        for name in ("static", "toolsight delivery append", "toolsight delivery call_tool")
    ]
    return json.dumps({"setups": setups, "tools": 42, "calls": 3, "left_out": {"a": 1}})


def test_every_figure_of_recorded_runs_that_the_readme_names_is_measured_and_signed() -> None:
    found = evidence.figures(Path("data"), printed)
    for words in evidence.SENTENCES:
        assert set(re.findall(r"\{(\w+)\}", words)) <= found.keys()
    assert found["mcpmark_append_cost"] == "-50"
    assert found["mcpmark_append_cost_high"] == "+50"
    assert (found["live_first_100"], found["live_found_200_high"]) == ("96.9", "93.5")
    rows = evidence.table(Path("data"), printed)["table"].splitlines()
    assert len(rows) == 2 + 3 * len(evidence.COLLECTIONS)
    assert len({row.count("|") for row in rows}) == 1
    assert "| $0.500, -50 % [-75, +50] |" in rows[3]
