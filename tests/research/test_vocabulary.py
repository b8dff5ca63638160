"""The vocabulary files hold together, and a file that does not is refused with its name."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.research import vocabulary
from inspector.research.testbed import TABLE_2

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
    assert vocabulary.domain("github") is vocabulary.domain("github")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"entities": [{**ENTITY, "actions": ["fly"]}]}, "disk: no such action or parameter: fly"),
        ({"located": ["planet"]}, "disk: no such action or parameter: planet"),
        ({"where": "at home"}, r"disk: (.|\n)*where\n.*valid tuple"),
        ({"where": [3]}, r"disk: (.|\n)*where.0\n.*valid string"),
        ({"wher": []}, r"disk: (.|\n)*wher\n.*not permitted"),
        ({"entities": [{**ENTITY, "name": None}]}, r"disk: (.|\n)*entities.0.name\n.*valid string"),
        ({"entities": [{"name": "file"}]}, r"disk: (.|\n)*entities.0.said\n.*required"),
    ],
)
def test_a_file_that_does_not_hold_together_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], told: str
) -> None:
    vocabulary.actions(), vocabulary.parameters()
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "disk.json").write_text(json.dumps({**DOMAIN, **change}), encoding="utf-8")
    monkeypatch.setattr(vocabulary, "files", lambda _: tmp_path)
    with pytest.raises(ValueError, match=told):
        vocabulary.domain("disk")
