"""VS Code's chats: what the model called, what was refused, and what is not part of an export."""

import json
from pathlib import Path

from inspector.clients.transcript import Answered, Asked, Begun, Called, Interrupted, ServerAnnounced
from inspector.clients.transcript_file.reader import Format, open_transcript
from tests.support.transcripts import FILES, NO_USAGE, of, read, records, whole

VSCODE = Format.VSCODE


def test_a_chat_is_told_in_the_order_in_which_it_happened() -> None:
    kinds = [type(entry) for entry in whole(FILES[VSCODE])]
    assert kinds == [
        *(Begun, Asked, ServerAnnounced, Answered, Called, Called, Answered),
        *(Asked, Answered, Interrupted),
    ]


def test_a_call_is_told_once_though_it_is_written_twice() -> None:
    order, stock = of(Called, whole(FILES[VSCODE]))
    assert (order.call_id, order.tool.server, order.tool.name) == ("call-1", "bakery", "order_flour")
    assert (order.arguments, order.text) == ({"kind": "rye", "kilograms": 20}, "order 118 placed")
    assert stock.call_id == "call-2"


def test_a_call_that_was_denied_did_not_succeed() -> None:
    order, stock = of(Called, whole(FILES[VSCODE]))
    assert (order.ok, stock.ok, stock.text) == (True, False, "denied")


def test_without_rounds_all_is_one_answer() -> None:
    (chat,) = records(FILES[VSCODE])
    del chat["requests"][0]["result"]
    answer, _ = of(Answered, read(VSCODE, chat))
    assert (answer.text, len(answer.calls)) == ("The flour is ordered.", 2)


def test_tokens_are_unknown_and_not_nothing() -> None:
    assert {answer.usage for answer in of(Answered, whole(FILES[VSCODE]))} == {NO_USAGE}


def test_what_the_server_told_the_model_is_told_once() -> None:
    (server,) = of(ServerAnnounced, whole(FILES[VSCODE]))
    assert (server.server, server.instructions) == ("bakery", "Weights are in kilograms.")


def test_a_cancelled_request_was_stopped_by_the_user() -> None:
    (stopped,) = of(Interrupted, whole(FILES[VSCODE]))
    assert stopped.by_user


def test_a_stored_chat_knows_its_session() -> None:
    (chat,) = records(FILES[VSCODE])
    (begun,) = of(Begun, read(VSCODE, {**chat, "sessionId": "chat-1", "creationDate": 1791277200000}))
    assert (begun.session, begun.at) == ("chat-1", 1791277200.0)


def test_an_export_on_one_line_is_the_same_chat(tmp_path: Path) -> None:
    (chat,) = records(FILES[VSCODE])
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    assert whole(tmp_path / "chat.json") == whole(FILES[VSCODE])


def test_of_an_export_that_is_cut_off_the_whole_requests_are_told(tmp_path: Path) -> None:
    text = FILES[VSCODE].read_text()
    (tmp_path / "chat.json").write_text(text[: text.index("request-2")])
    transcript = open_transcript(tmp_path / "chat.json")
    entries = list(transcript.entries())
    assert entries == whole(FILES[VSCODE])[:7]
    assert transcript.tally.malformed == {"not JSON": 1}
