"""Descriptions in source files: found as they are read, replaced in their form, and nothing else changed."""

import ast
import json
from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from inspector.core.error import ConfigError
from inspector.features.check.source_text import Replacement, place_of, replacement

OLD = "Gets stuff."
texts = st.text(st.characters(exclude_categories=()) | st.sampled_from("\"'\\`$\n{}|>#: "), max_size=30)


def _python(source: str) -> list[str]:
    nodes = ast.walk(ast.parse(source))
    return [one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _json(source: str) -> list[str]:
    return [str(one["description"]) for one in json.loads(source)]


FORMS: dict[str, tuple[str, str, Callable[[str], list[str]]]] = {
    "python": ("s.py", "a = 'é'; x(desc={}, other='o')  # ü\nb = r'\\d'\n", _python),
    "json": ("s.json", '[{{"Gets stuff.": 1, "description": {}}},\n {{"description": "other"}}]\n', _json),
}
QUOTED = {
    "python": ['"Gets stuff."', "'Gets stuff.'", '"""Gets stuff."""', "'''Gets stuff.'''", 'r"Gets stuff."'],
    "json": ['"Gets stuff."'],
}
EACH = [(language, quoted) for language, forms in QUOTED.items() for quoted in forms]


def _file(folder: Path, name: str, source: str) -> Path:
    path = folder / name
    path.write_bytes(source.encode())
    return path


@pytest.mark.parametrize(("language", "quoted"), EACH)
@given(new=texts)
@example(new='ends with "quotes" and \\')
@example(new='"""')
def test_what_is_written_is_read_back_and_nothing_else_changes(
    tmp_path_factory: pytest.TempPathFactory, language: str, quoted: str, new: str
) -> None:
    name, template, read = FORMS[language]
    path = _file(tmp_path_factory.mktemp("source"), name, template.format(quoted))
    before = read(path.read_text())
    after = replacement(path, OLD, new).after.decode()
    assert read(after) == [new if one == OLD else one for one in before]
    head, tail = template.split("{}") if language != "json" else template.format("\0").split("\0")
    assert after.startswith(head)
    assert after.endswith(tail.lstrip("\n"))


@pytest.mark.parametrize(
    "quoted", ['"Gets stuff."', "'Gets stuff.'", "`Gets stuff.`", '"Gets " +\n  `stuff.`']
)
@given(new=texts)
@example(new="`${x}` and \\`")
def test_a_script_is_read_back_by_another_reader(
    tmp_path_factory: pytest.TempPathFactory, quoted: str, new: str
) -> None:
    source = f"const r = /[\"'`/]/; // it's\nserver.tool('x', {quoted}, /* \" */ 'é');\n"
    path = _file(tmp_path_factory.mktemp("source"), "s.ts", source)
    after = replacement(path, OLD, new).after.decode()
    written = _file(path.parent, "again.ts", after)
    assert replacement(written, new, "other").path == written if new not in ("", "x", "é", "other") else True
    assert after.startswith(source[: source.index(quoted)])
    assert after.endswith(", /* \" */ 'é');\n")


LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.just(" "), max_size=12)
)


@given(
    lines=LINES, newline=st.sampled_from(["\n", "\r\n"]), opening=st.sampled_from(['"""', '"""\n    ', "'''"])
)
def test_a_docstring_is_laid_out_in_its_indentation(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], newline: str, opening: str
) -> None:
    new = cleandoc("\n".join(lines)).strip() or "x"
    source = f"def f():\n    {opening}Gets stuff.\n\n    Args: none\n    {opening[:3]}\n    return 'ß'\n"
    path = _file(tmp_path_factory.mktemp("source"), "s.py", source.replace("\n", newline))
    old = "Gets stuff.\n\nArgs: none"
    after = replacement(path, old, new).after.decode()
    function: Any = ast.parse(after).body[0]
    assert cleandoc(ast.get_docstring(function, clean=False) or "") == new
    assert after.endswith(f"{newline}    return 'ß'{newline}")
    assert after.replace(newline, "").isprintable() or newline == "\n"


def test_of_joined_literals_only_those_that_change_are_written(tmp_path: Path) -> None:
    source = 'd = (\n    "Gets "  # why\n    "stuff. "\n    "Fast."\n)\n'
    path = _file(tmp_path, "s.py", source)
    after = replacement(path, "Gets stuff. Fast.", "Gets bills. Fast.").after.decode()
    assert after == source.replace('"stuff. "', '"bills. "')
    after = replacement(path, "Gets stuff. Fast.", "Gets stuff. Fast. Use it.").after.decode()
    assert after == source.replace('"Fast."', '"Fast. Use it."')


@pytest.mark.parametrize(
    ("name", "source", "line", "column"),
    [
        ("s.py", "# ä\nx = 'é', 'Gets stuff.'\n", 2, 10),
        ("s.py", "\ufeffdef f():\n  '''\n  Gets stuff.\n  '''\n", 2, 3),
        ("s.json", '// "Gets stuff."\n{"Gets stuff.":\r\n  "Gets stuff."}', 3, 3),
        ("s.js", "// 'Gets stuff.'\nf('a', \"Gets stuff.\")", 2, 8),
    ],
)
def test_a_description_is_found_where_it_stands(
    tmp_path: Path, name: str, source: str, line: int, column: int
) -> None:
    place = place_of([_file(tmp_path, "other.py", "x ="), _file(tmp_path, name, source)], OLD)
    assert place is not None
    assert (place.path.name, place.line, place.column) == (name, line, column)


def test_a_text_in_two_places_has_no_place(tmp_path: Path) -> None:
    path = _file(tmp_path, "s.py", "a = 'Gets stuff.'\nb = 'Gets stuff.'\n")
    assert place_of([path], OLD) is None
    with pytest.raises(ConfigError, match="in 2 places in"):
        replacement(path, OLD, "x")


def test_the_servers_own_script_counts_before_what_lies_beside_it(tmp_path: Path) -> None:
    own, other = (_file(tmp_path, name, "a = 'Gets stuff.'") for name in ("s.py", "other.py"))
    place = place_of([own, other], OLD)
    assert place is not None
    assert place.path == own
    assert place_of([_file(tmp_path, "empty.py", ""), own, other], OLD) is None


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("s.py", "x = f'Gets {y}.'", "nowhere as a literal in"),
        ("s.py", "x = 'Gets ' 'nothing'", "nowhere as a literal in"),
        ("s.py", "x = '", "cannot be read as source"),
        ("s.ts", "x = `Gets ${y}.`", "nowhere as a literal in"),
        ("s.go", 'x := "Gets stuff."', "nowhere as a literal in"),
    ],
)
def test_what_is_no_literal_is_refused_with_the_reason(
    tmp_path: Path, name: str, source: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        replacement(_file(tmp_path, name, source), OLD, "x")


ENCODINGS = ("utf-8", "latin-1", "cp1251", "shift_jis", "gb18030", "iso2022_jp", "koi8-r")


@given(
    encoding=st.sampled_from(ENCODINGS),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.sampled_from(["", "\ufeff"]),
    comment=st.text(st.characters(exclude_categories=("C", "Z")), max_size=8),
    quote=st.sampled_from(['"', '"""', "'"]),
    new=texts,
)
@example(encoding="latin-1", newline="\n", mark="", comment="é", quote='"', new="→ é")
def test_an_edit_and_the_reverse_edit_give_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    encoding: str,
    newline: str,
    mark: str,
    comment: str,
    quote: str,
    new: str,
) -> None:
    encoding = "utf-8" if mark else encoding
    lines = (f"{mark}# coding: {encoding}", f"# {comment}", f"x = {quote}{OLD}{quote}", "y = 1", "")
    before = newline.join(lines).encode(encoding, "replace")
    path = tmp_path_factory.mktemp("source") / "s.py"
    path.write_bytes(before)
    if new == OLD:
        return
    replacement(path, OLD, new).write()
    written = path.read_bytes()
    assert new in _python(written.decode(encoding).removeprefix("\ufeff"))
    assert written.startswith(before[: before.index(b"x = ")])
    replacement(path, new, OLD).write()
    assert path.read_bytes() == before


@pytest.mark.parametrize("encoding", ["utf-7", "rot13", "no-such"])
def test_a_file_that_would_be_encoded_otherwise_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "s.py"
    path.write_bytes(f"# coding: {encoding}\nx = 'Gets stuff.+AGE-'\n".encode())
    with pytest.raises(ConfigError, match="cannot be read as source"):
        replacement(path, "Gets stuff.", "x")


def _changed(folder: Path) -> Replacement:
    return replacement(_file(folder, "s.py", "x = 1\r\ny = 'Gets stuff.'\r\n"), OLD, "Gets bills.")


def test_a_difference_shows_the_lines_that_change(tmp_path: Path) -> None:
    assert _changed(tmp_path).difference.splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        " x = 1",
        "-y = 'Gets stuff.'",
        "+y = 'Gets bills.'",
    ]


def test_a_file_keeps_its_mode_its_line_ends_and_its_link(tmp_path: Path) -> None:
    path, link = tmp_path / "s.py", tmp_path / "link.py"
    link.symlink_to(path)
    _changed(tmp_path)
    path.chmod(0o755)
    replacement(link, OLD, "Gets bills.").write()
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o755
    assert path.read_bytes() == b"x = 1\r\ny = 'Gets bills.'\r\n"


def test_a_file_that_has_changed_since_is_left_alone(tmp_path: Path) -> None:
    change = _changed(tmp_path)
    change.path.write_text("x = 2\n")
    with pytest.raises(ConfigError, match="has changed in the meantime"):
        change.write()
    assert change.path.read_text() == "x = 2\n"
    assert [one.name for one in tmp_path.iterdir()] == ["s.py"]
