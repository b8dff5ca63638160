"""Descriptions in source files: found as they are read, what differs written, and nothing else changed."""

import ast
import json
from inspect import cleandoc
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from inspector.core.error import ConfigError
from inspector.features.check.source_text import place_of, replacement
from tests.support.hostile import with_hostile_text

OLD = "Gets stuff."
BUILT = 'server.tool("a", "Gets stuff.");\n'
# A sentence that may be added, by a template or by a model.
sentences = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.sampled_from("\"'`\\{}$ ")
)


def _file(folder: Path, name: str, source: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.encode())
    return path


def _texts(path: Path, source: str) -> list[str]:
    if path.suffix == ".json":
        return [str(one["description"]) for one in json.loads(source)]
    nodes = ast.walk(ast.parse(source))
    return [one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]


SOURCES = {
    "quoted.py": 'a = "é"; x(desc="Gets stuff.", other="o")  # ü\n',
    "single.py": "x = 'Gets stuff.'\r\ny = 1\r\n",
    "raw.py": 'x = r"Gets stuff."\n',
    "doc.py": 'def f():\n    """Gets stuff."""\n    return "ß"\n',
    "block.py": "def f():\n    '''\n    Gets stuff.\n    '''\n",
    "joined.py": 'd = (\n    "Gets "\n    "stuff."\n)\n',
    "a.json": '[{"Gets": 1, "description": "Gets stuff."},\n {"description": "other"}]\n',
}


@pytest.mark.parametrize("name", SOURCES)
@given(added=sentences, before=st.booleans())
@example(added='ends with "quotes" and \\', before=False)
@example(added='"""', before=True)
@example(added="", before=False)
def test_what_is_written_is_read_back_and_nothing_else_changes(
    tmp_path_factory: pytest.TempPathFactory, name: str, added: str, before: bool
) -> None:
    path = _file(tmp_path_factory.mktemp("source"), name, SOURCES[name])
    new = f"{added} {OLD}".strip() if before else f"{OLD} {added}".strip()
    try:
        changed = replacement(path, OLD, new).after.decode()
    except ConfigError:
        return  # What would be read back as another text is refused.
    old = [cleandoc(one).strip() for one in _texts(path, SOURCES[name])]
    wanted = [cleandoc(new).strip() if one == OLD else one for one in old]
    assert [cleandoc(one).strip() for one in _texts(path, changed)] == wanted
    head, _, tail = SOURCES[name].partition("Gets ")
    assert changed.startswith(head.rstrip())
    assert changed.endswith(tail.rpartition("stuff.")[2])


@pytest.mark.parametrize("name", SOURCES)
def test_a_plain_sentence_can_always_be_added(tmp_path: Path, name: str) -> None:
    path = _file(tmp_path, name, SOURCES[name])
    for new in (f"{OLD} Use this for bills.", f"Use this for bills. {OLD}"):
        assert "Use this for bills." in replacement(path, OLD, new).after.decode()


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("tool('x', \"Gets stuff.\", /* ' */ 'é');", '"Gets bills, it\'s `a`."'),
        ("tool('x', 'Gets stuff.');", r"'Gets bills, it\'s `a`.'"),
        ("tool('x', `Gets stuff.`);", r"`Gets bills, it's \`a\`.`"),
        ("tool('x', \"Gets \" +\n  `stuff.`);", ""),
        ('tool("x", "Gets " +\n  "stuff.");', '"Gets " +\n  "bills, it\'s `a`."'),
    ],
)
def test_a_script_keeps_its_quotes_and_its_seams(tmp_path: Path, source: str, written: str) -> None:
    path = _file(tmp_path, "s.ts", source)
    if written:
        assert written in replacement(path, OLD, "Gets bills, it's `a`.").after.decode()
    else:
        with pytest.raises(ConfigError, match="nowhere as one text"):
            replacement(path, OLD, "x")


def test_a_docstring_of_several_lines_keeps_its_indentation(tmp_path: Path) -> None:
    source = 'def f():\n    """Gets stuff.\n\n    Args: none\n    """\n'
    path = _file(tmp_path, "s.py", source)
    after = replacement(path, "Gets stuff.\n\nArgs: none", "Gets stuff.\nFast.\n\nArgs: none").after.decode()
    assert after == source.replace("stuff.\n", "stuff.\n    Fast.\n")


@pytest.mark.parametrize(
    ("name", "source", "line", "column"),
    [
        ("s.py", "# ä\nx = 'é', 'Gets stuff.'\n", 2, 10),
        ("s.py", "\ufeffdef f():\n  '''\n  Gets stuff.\n  '''\n", 2, 3),
        ("s.json", '{"a":\r\n  "Gets stuff."}', 2, 3),
        ("s.go", 'x := "Gets stuff."', 1, 6),
    ],
)
def test_a_description_is_found_where_it_stands(
    tmp_path: Path, name: str, source: str, line: int, column: int
) -> None:
    place = place_of([_file(tmp_path, "other.py", "x ="), _file(tmp_path, name, source)], OLD)
    assert place is not None
    assert (place.path.name, place.line, place.column) == (name, line, column)


def test_the_servers_own_script_counts_before_what_lies_beside_it(tmp_path: Path) -> None:
    own, other = (_file(tmp_path, name, "a = 'Gets stuff.'") for name in ("s.py", "other.py"))
    place = place_of([own, other], OLD)
    assert place is not None
    assert place.path == own
    assert place_of([_file(tmp_path, "empty.py", ""), own, other], OLD) is None
    assert place_of([_file(tmp_path, "twice.py", "a, b = 'Gets stuff.', 'Gets stuff.'")], OLD) is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = f'Gets {y}.'", "nowhere as one text in"),
        ("x = 'Gets stuff. More.'", "nowhere as one text in"),
        ("a = 'Gets stuff.'\nb = 'Gets stuff.'\n", "in 2 places in"),
        ("x = 'Gets stuff.'\ny = ", "cannot be written into"),
    ],
)
def test_what_is_no_one_text_is_refused_with_the_reason(tmp_path: Path, source: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        replacement(_file(tmp_path, "s.py", source), OLD, "x y z")


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_bytes("# coding: latin-1\nx = 'Gets stuff.'  # é\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not UTF-8"):
        replacement(path, OLD, "x")


@with_hostile_text
def test_hostile_texts_are_found_nowhere_or_written_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = _file(tmp_path_factory.mktemp("hostile"), "s.py", SOURCES["quoted.py"])
    place_of([path], text)
    try:
        changed = replacement(path, OLD, f"{OLD} {text}").after.decode()
    except ConfigError:
        return
    assert cleandoc(f"{OLD} {text}") in map(cleandoc, _texts(path, changed))


def test_an_edit_of_what_a_build_wrote_goes_to_its_source(tmp_path: Path) -> None:
    _file(tmp_path, "package.json", "{}")
    built, source = _file(tmp_path, "dist/index.js", BUILT), _file(tmp_path, "src/index.ts", BUILT)
    place = place_of([built], OLD)
    assert place is not None
    assert place.path == source
    assert "Gets bills." in replacement(place.path, OLD, "Gets bills.").difference


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("dist/index.js", BUILT, "is in dist, which a build overwrites"),
        ("packages/a/out/index.mjs", BUILT, "is in out, which a build overwrites"),
        ("src/api.ts", f"// Code generated by gen. DO NOT EDIT.\n{BUILT}", "says that it is generated"),
        ("a.js", f"/**\n * @generated\n */\n{BUILT}", "says that it is generated"),
        ("node_modules/a/index.js", BUILT, "is in node_modules, which the next install overwrites"),
        (".venv/lib/site-packages/a.py", "x = 'Gets stuff.'\n", "is in site-packages"),
    ],
)
def test_a_generated_file_is_refused_with_the_reason(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    _file(tmp_path, "package.json", "{}")
    path = _file(tmp_path, name, text)
    with pytest.raises(ConfigError, match=reason):
        replacement(path, OLD, "x")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/index.ts", BUILT),
        ("server.js", "// Ids are generated here.\n" + BUILT),
        ("build/server.py", "x = 'Gets stuff.'\n"),
        ("main.js", f'const s = "@generated";\n{BUILT}'),
    ],
)
def test_a_file_that_a_person_wrote_is_edited(tmp_path: Path, name: str, text: str) -> None:
    _file(tmp_path, "package.json", "{}")
    assert replacement(_file(tmp_path, name, text), OLD, "Gets bills.").difference
