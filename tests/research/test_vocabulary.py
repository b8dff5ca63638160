"""The vocabulary files hold together, and a file that does not is refused with its name."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.research.testbed import TABLE_2
from inspector.research.vocabulary import library

ENTITY: dict[str, Any] = {
    "name": "file",
    "said": ["document"],
    "about": "a document",
    "objects": ["notes.txt"],
    "fields": ["mode"],
    "actions": ["get"],
}
DOMAIN: dict[str, Any] = {
    "server": "disk",
    "scope": "folder",
    "where": ["at home"],
    "located": ["path"],
    "usual": ["list"],
    "entities": [ENTITY],
}


@pytest.mark.parametrize("size", TABLE_2, ids=lambda size: size.server)
def test_every_server_of_the_testbed_has_a_vocabulary_of_its_own(size: Any) -> None:
    assert size.domain.server == size.server
    assert size.domain.entities


def test_a_vocabulary_is_read_once() -> None:
    assert library.domain("github") is library.domain("github")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"entities": [{**ENTITY, "actions": ["fly"]}]}, "disk: no such action or parameter: fly"),
        ({"located": ["planet"]}, "disk: no such action or parameter: planet"),
        ({"where": "at home"}, "disk: where cannot be 'at home'"),
        ({"where": [3]}, r"disk: where cannot be \[3\]"),
        ({"wher": []}, r"disk: wher cannot be \[\]"),
        ({"entities": [{**ENTITY, "name": None}]}, "disk: entity: name cannot be None"),
        ({"entities": [{"name": "file"}]}, "disk: entity: .*missing.*'said'"),
    ],
)
def test_a_file_that_does_not_hold_together_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], told: str
) -> None:
    library.actions(), library.parameters()
    (tmp_path / "disk.json").write_text(json.dumps({**DOMAIN, **change}), encoding="utf-8")
    monkeypatch.setattr(library, "files", lambda _: tmp_path)
    with pytest.raises(ValueError, match=told):
        library.domain("disk")
