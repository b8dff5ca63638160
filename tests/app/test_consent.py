"""The question whether an unknown configuration may start: complete, readable, and safe."""

import pytest

from inspector.app.dialogs.consent import ConsentDialog
from inspector.app.dialogs.consent_text import consent_body
from inspector.domain.consent import ServerConsent
from tests.support.app import app_rig, seen, until
from tests.support.hostile import with_hostile_text
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines

LOCAL = ServerConsent("notes", ("npx", "-y", "notes server", "--root", "/srv"), "/srv", ("TOKEN", "URL"))
REMOTE = ServerConsent("shop", url="https://shop.example/mcp", header_names=("Authorization",))
PREDICATES = ServerConsent("predicates", executes="/srv/predicates.py", digest="0123456789ab")
MANY = (LOCAL, REMOTE, *(ServerConsent(f"server-{n}", ("run", f"package-{n}")) for n in range(10)))


def dialog() -> ConsentDialog:
    return ConsentDialog("/home/me/mcp.json", MANY)


def test_the_command_line_is_quoted_so_that_a_space_is_no_separator() -> None:
    text = consent_body("mcp.json", (LOCAL,)).plain
    assert "npx -y 'notes server' --root /srv" in text
    assert "TOKEN, URL" in text
    assert "1 server with" in text


def test_an_address_is_shown_with_the_names_of_its_headers() -> None:
    text = consent_body("mcp.json", (REMOTE,)).plain
    assert "https://shop.example/mcp" in text
    assert "Authorization" in text
    assert "command" not in text


def test_a_file_of_predicates_is_announced_and_shown_with_its_digest() -> None:
    text = consent_body("mcp.json", (LOCAL, PREDICATES)).plain
    assert "1 server and execute a Python file with" in text
    assert "/srv/predicates.py" in text
    assert "0123456789ab" in text


@with_hostile_text
def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    evil = text[:2000]
    server = ServerConsent(evil, (evil, evil), evil, (evil,), evil, (evil,), True, evil, evil)
    text = consent_body(evil, (server,)).plain
    assert not [letter for letter in dangerous(text) if letter != "\n"]


async def test_all_of_it_can_be_read_without_a_mouse() -> None:
    async with app_rig(size=(80, 24)) as (pilot, _):
        for key, times in (("down", 60), ("pagedown", 9), ("end", 1)):
            await pilot.app.push_screen(dialog())
            await pilot.pause()
            assert "package-9" not in seen(pilot)
            await pilot.press(*[key] * times)
            assert "package-9" in seen(pilot), key
            pilot.app.pop_screen()


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (200, 60)])
async def test_both_answers_can_be_seen_however_long_the_question(size: tuple[int, int]) -> None:
    async with app_rig(size=size) as (pilot, _):
        await pilot.app.push_screen(dialog())
        await pilot.pause()
        shown = lines(pilot.app)
        assert any("start these servers" in line and "no, leave" in line for line in shown)


async def test_the_safe_answer_is_the_easy_one() -> None:
    async with app_rig() as (pilot, _):
        answers: list[str | None] = []
        for key in ("escape", "enter"):
            await pilot.app.push_screen(dialog(), answers.append)
            await pilot.pause()
            await pilot.press("down", key)
        await until(pilot, lambda: len(answers) == 2)
        assert not any(ConsentDialog.accepted(answer) for answer in answers)
