"""Sentence vectors of any model that fastembed supports: its facts, its download, and the model itself."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from inspector.core.error import ModelError
from inspector.core.redaction import private_folder
from inspector.core.text import closest
from inspector.search.index.metric import side_by_side
from inspector.search.index.packaged_model import keep_to_one_thread, whole_words

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding


_GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model on fastembed's list: its repository, its files, and its approximate size in bytes."""

    name: str
    repository: str
    files: tuple[str, ...]
    size: int

    def folder(self, cache: Path) -> Path:
        """The folder in huggingface_hub's cache that holds the repository."""
        return cache / f"models--{self.repository.replace('/', '--')}"

    def is_whole(self, cache: Path) -> bool:
        """Whether the download is complete: fastembed writes the list of a model's files last."""
        from fastembed import TextEmbedding

        folder = self.folder(cache)
        try:
            sizes = json.loads((folder / TextEmbedding.METADATA_FILE).read_bytes())
            # Two models may share a repository, as nomic-embed-text-v1.5 and its quantized form do.
            present = {
                path.split("/", 2)[2]
                for path, meta in sizes.items()
                if (folder / path).stat().st_size == meta["size"]
            }
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return False
        return present.issuperset(self.files)


def named_model(name: str) -> NamedModel:
    """The model with that name, ignoring case. Raises ModelError, with the nearest names as its hint."""
    from fastembed import TextEmbedding

    known = {
        model["model"]: model for model in TextEmbedding.list_supported_models() if model["sources"]["hf"]
    }
    model = next((known[key] for key in known if key.lower() == name.lower()), None)
    if model is None:
        near = closest(name, known)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Known models: {', '.join(sorted(known))}."
        raise ModelError(f"fastembed has no embedding model {name!r}", hint=hint)
    return NamedModel(
        name=model["model"],
        repository=model["sources"]["hf"],
        files=(model["model_file"], *model["additional_files"]),
        size=round(model["size_in_GB"] * _GIGABYTE),
    )


# fastembed's own `download_model` hides why it failed and sleeps for 39 seconds between attempts.
_CHILD = """
import sys
from fastembed import TextEmbedding
repository, folder, *files = sys.argv[1:]
try:
    TextEmbedding.download_files_from_huggingface(repository, cache_dir=folder, extra_patterns=files)
except Exception as error:
    sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")
"""
_POLL_SECONDS = 0.1
_LONGEST_REASON = 500
_TAIL_BYTES = 8192
_HINT = (
    "Is this machine offline, or behind a proxy (HTTPS_PROXY)? HF_ENDPOINT sets a mirror of huggingface.co; "
    "HF_HUB_OFFLINE blocks every download."
)


def download(
    name: str, folder: Path, *, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
) -> None:
    """Download a model's files into the cache `folder`, unless they are already there.

    Blocks, and several times a second asks `cancelled` and calls `progress` (bytes so far, approximate
    total). Raises ModelError for an unknown name, a failure, or a cancellation ("cancelled").
    """
    model = named_model(name)
    if not model.is_whole(folder):
        try:
            private_folder(folder)
            _run(model, folder, progress, cancelled)
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "Check that the folder exists and that you can write to it."
            raise ModelError(f"{model.name} cannot be downloaded to {folder}: {reason}", hint=hint) from error
    progress(model.size, model.size)


def _run(
    model: NamedModel, folder: Path, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
) -> None:
    repository = model.folder(folder)
    before = _files(repository)
    with tempfile.TemporaryFile() as stderr:
        child = subprocess.Popen(
            # -P: a file in the current folder is never imported in place of a library.
            [sys.executable, "-P", "-c", _CHILD, model.repository, str(folder), *model.files],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
            start_new_session=True,
        )
        try:
            while not _ended(child):
                if cancelled():
                    raise ModelError("cancelled")
                done = sum(_files(repository).values()) - sum(before.values())
                progress(min(done, model.size), model.size)
        finally:
            _kill(child)
            _clean(repository, before)
        if child.returncode or not model.is_whole(folder):
            reason = _last_line(stderr) or f"the download ended early (exit code {child.returncode})"
            raise ModelError(f"{model.name} cannot be downloaded: {reason}", hint=_HINT)


def _ended(child: subprocess.Popen[bytes]) -> bool:
    try:
        child.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _clean(folder: Path, before: Mapping[Path, int]) -> None:
    """Delete what a killed child was writing: huggingface_hub never resumes such a file.

    Files that were there before may belong to another program.
    """
    for path in _files(folder):
        if path.suffix == ".incomplete" and path not in before:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _files(folder: Path) -> dict[Path, int]:
    """File sizes in bytes; links are not counted. A file may be renamed while this runs."""
    sizes: dict[Path, int] = {}
    for parent, _folders, names in os.walk(folder):
        for path in (Path(parent, name) for name in names):
            with suppress(OSError):
                if not path.is_symlink():
                    sizes[path] = path.stat().st_size
    return sizes


def _last_line(stderr: IO[bytes]) -> str:
    end = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(end - _TAIL_BYTES, 0))
    lines = stderr.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_LONGEST_REASON] if lines else ""


_HINT_DAMAGED = "Delete the model's folder and download it again."


class NamedEmbedder:
    """Unit vectors with as many dimensions as the model has. `prepare` downloads the model if needed."""

    def __init__(self, name: str, folder: Path) -> None:
        """`folder` is the cache of downloaded models. Nothing is looked up yet."""
        self.name = name
        self._folder = folder
        self._model: TextEmbedding | None = None
        self._loading = threading.Lock()

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Download the model if it is missing, then load it. Raises ModelError, also for an unknown name."""
        download(self.name, self._folder, progress=progress, cancelled=cancelled)
        self.embed(["ready"])

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Raises ModelError if the model is missing or damaged."""
        if not texts:
            return []
        self._loaded()
        # The tokenizer rejects lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            return side_by_side(self._vector, clean)
        except Exception as error:
            raise ModelError(f"the embedding model {self.name} failed: {error}") from error

    def words(self) -> Sequence[str]:
        """The words of its vocabulary. Raises ModelError if the model is missing or damaged."""
        return whole_words(self._loaded())

    def _loaded(self) -> "TextEmbedding":
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _vector(self, text: str) -> list[float]:
        """One text at a time: what a quantized model makes of a batch depends on every text in it."""
        assert self._model is not None
        return _unit(next(iter(self._model.embed([text]))))

    def _load(self) -> "TextEmbedding":
        from fastembed import TextEmbedding

        known = named_model(self.name)
        if not known.is_whole(self._folder):
            size = max(known.size // 1_000_000, 1)
            hint = f"Download it first (about {size} MB), or use the model that comes with Toolsight."
            raise ModelError(f"the embedding model {self.name} has not been downloaded", hint=hint)
        keep_to_one_thread()
        try:
            return TextEmbedding(known.name, cache_dir=str(self._folder), local_files_only=True)
        except Exception as error:
            message = f"the embedding model {self.name} cannot be loaded: {error}"
            raise ModelError(message, hint=_HINT_DAMAGED) from error


def _unit(vector: "np.ndarray") -> list[float]:
    """The vector scaled to length 1. A text without tokens has no direction, so it gets the first axis."""
    import numpy as np

    exact = np.nan_to_num(vector.astype(np.float64), posinf=0.0, neginf=0.0)
    length = float(np.linalg.norm(exact))
    if length == 0.0:
        exact[0] = length = 1.0
    scaled: list[float] = (exact / length).tolist()
    return scaled
