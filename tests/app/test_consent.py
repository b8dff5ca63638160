"""The question whether an unknown configuration may start: complete, readable, and safe."""

import pytest

from inspector.app.dialogs.approver import question_body
from inspector.config.configuration import Configuration, Named
from inspector.config.consent import Handed, ServerConsent, check_consent, consent_question
from inspector.core.server import ChangedFile, Expansion, Program, ServerSpec
from tests.support.app import app_rig, seen, until
from tests.support.hostile import with_hostile_text
from tests.widgets.hostile import dangerous

LOCAL = ServerConsent("notes", ("npx", "-y", "notes server", "--root", "/srv"), "/srv", ("TOKEN", "URL"))
REMOTE = ServerConsent("shop", url="https://shop.example/mcp", header_names=("Authorization",))
PREDICATES = ServerConsent(
    "settings", named=(Named("access.predicates", "/srv/predicates.py", "0123456789ab"),)
)
MARKED = ServerConsent("a", ("x",), decisive=(("PATH", "[red]/tmp/evil[/red]"),))


def body(source: str, servers: tuple[ServerConsent, ...]) -> str:
    return str(question_body(consent_question(source, servers)))


@pytest.mark.parametrize(
    ("servers", "texts"),
    [
        ((LOCAL,), ("1 server with", "npx -y 'notes server' --root /srv", "TOKEN, URL")),
        ((REMOTE,), ("\nwould connect to 1 server:\n",)),
        ((LOCAL, REMOTE), ("\nwould start 1 server and connect to 1 server with your permissions:\n",)),
        (
            (LOCAL, PREDICATES),
            ("1 server and execute a Python file with", "/srv/predicates.py", "0123456789ab"),
        ),
        ((MARKED,), ("\n! chooses  which programs are found: PATH=[red]/tmp/evil[/red]",)),
    ],
    ids=["quoted", "address", "both", "predicates", "markup is text"],
)
def test_the_question_says_exactly_what_would_run(
    servers: tuple[ServerConsent, ...], texts: tuple[str, ...]
) -> None:
    told = body("mcp.json", servers)
    assert [text for text in texts if text not in told] == []


@with_hostile_text
def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    evil = text[:2000]
    server = ServerConsent(
        *(evil, (evil, evil), evil, (evil,), evil, (evil,), True),
        named=(Named(evil, evil, evil), Named("discovery.embedding_model", evil), Named(evil, evil)),
        changed=(ChangedFile(evil),),
        metadata=(evil,),
        program=Program(evil or "x", evil, evil),
        decisive=((evil, evil),),
        handed=(Handed(evil, evil, evil),),
    )
    text = body(evil, (server,))
    assert not [letter for letter in dangerous(text) if letter != "\n"]


TRICKY = Configuration(
    "mcp.json",
    (
        ServerSpec("calm", "/bin/calm", program=Program("/bin/calm")),
        ServerSpec(
            "tricky",
            "npx",
            ("-y", "shop"),
            {"PATH": "/tmp/evil:" + ":".join(f"/opt/tools-{n}/bin" for n in range(12))},
            program=Program("/tmp/evil/npx"),
        ),
        ServerSpec(
            "sends",
            url="https://api.example.com/mcp",
            headers={"X-Trace": "s3cret"},
            expansions=(
                Expansion("headers.X-Trace", ("AWS_SECRET_ACCESS_KEY",), "${AWS_SECRET_ACCESS_KEY}"),
            ),
        ),
    ),
)


async def test_what_decides_is_read_with_keys_in_a_small_terminal() -> None:
    async with app_rig(size=(80, 24), settled=False, approved=False, configuration=TRICKY) as (pilot, rig):
        await until(pilot, lambda: "Check the 2 lines marked !" in seen(pilot))
        read = seen(pilot)
        for _ in range(4):
            await pilot.press("pagedown")
            read += seen(pilot)
        assert "file     /tmp/evil/npx" in read
        assert "! chooses  which programs are found:" in read
        assert "! secret   passes your AWS_SECRET_ACCESS_KEY to" in read
        assert "s3cret" not in read
        assert rig.store.sessions() == []
        await pilot.press("left", "enter")
        await until(pilot, lambda: check_consent(TRICKY, rig.memory).is_approved)
