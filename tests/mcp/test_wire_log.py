"""What is read of the wire has no secrets, by the rules that hold for the record."""

import json

from inspector.config.configuration import Configuration
from inspector.core.redaction import Redactor
from inspector.core.server import ServerSpec
from inspector.mcp.frame import Beginning, Flaw, FrameKind, WireLog
from tests.mcp.test_frame import frame
from tests.support.hostile import with_hostile_text
from tests.support.workbench import connected, shop_and_weather

SECRET = "hunter2-and-more"


def wire(*texts: str) -> WireLog:
    servers = shop_and_weather()
    log = servers["shop"].log
    for text in texts:
        log.append(frame(log.next_number, text=text))
    return WireLog(log, Redactor({"shop.PASSWORD": SECRET}))


def test_a_known_secret_is_nowhere_in_a_frame() -> None:
    nested = json.dumps({"result": {"content": [{"type": "text", "text": f"login {SECRET}"}], SECRET: 1}})
    (read,) = wire(nested).frames()
    assert SECRET not in read.text
    assert json.loads(read.text)["result"]["content"][0]["text"] == "login [redacted shop.PASSWORD]"


def test_the_value_of_a_secret_key_is_hidden() -> None:
    (read,) = wire('{"params":{"arguments":{"api_key":"a-b-c-d"}}}').frames()
    assert json.loads(read.text) == {"params": {"arguments": {"api_key": "[redacted]"}}}


def test_what_is_no_json_is_cleaned_as_text() -> None:
    (read,) = wire(f"starting with {SECRET}").frames()
    assert read.text == "starting with [redacted shop.PASSWORD]"


def test_what_was_wrong_is_counted_from_the_beginning_of_the_session_and_has_no_secrets() -> None:
    log = shop_and_weather()["shop"].log
    log.note("byte order mark", "repaired")
    log.note("invalid UTF-8", "repaired")
    read = WireLog(log, Redactor({"shop.PASSWORD": SECRET}), Beginning.now(log))
    assert read.flaws() == ()
    log.note("invalid UTF-8", "repaired")
    log.note(f"lone surrogate in the tool {SECRET}", "repaired")
    assert read.flaws() == (
        Flaw("invalid UTF-8", "repaired"),
        Flaw("lone surrogate in the tool [redacted shop.PASSWORD]", "repaired"),
    )


@with_hostile_text
def test_hostile_frames_are_read_and_not_obeyed(text: str) -> None:
    for body in (text, json.dumps({"method": text}), '{"a":' * 5_000):
        (read,) = wire(body).frames()
        assert isinstance(read.text, str)


async def test_a_session_reads_its_servers_without_what_the_configuration_gives_them() -> None:
    servers = {"shop": shop_and_weather()["shop"]}
    spec = ServerSpec("shop", "shop", env={"PASSWORD": SECRET})
    async with connected(servers=servers, configuration=Configuration("own.json", (spec,))) as rig:
        servers["shop"].log.append(frame(kind=FrameKind.OTHER, text=f"hello {SECRET}"))
        log = rig.bench.wire("shop")
        assert log is not None
        assert (log.total, log.frames()[0].what) == (1, "not a message: hello [redacted shop.PASSWORD]")
        assert SECRET not in str(rig.bench.records())
