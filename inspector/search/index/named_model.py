"""Sentence vectors of any model that fastembed supports, downloaded once into a folder."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.error import ModelError
from inspector.core.redaction import private_folder
from inspector.core.text import closest
from inspector.search.index.packaged_model import FastembedEmbedder, keep_to_one_thread, side_by_side

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding


_GIGABYTE = 1_000_000_000


class NamedModel(Struct, frozen=True):
    """A model on fastembed's list: its repository, its files, and its approximate size in bytes."""

    name: str
    repository: str
    files: tuple[str, ...]
    size: int


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


# fastembed's own `download_model` hides why it failed and sleeps for 39 seconds between attempts. A process
# of its own can be stopped at once.
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
_HINT = (
    "Is this machine offline, or behind a proxy (HTTPS_PROXY)? HF_ENDPOINT sets a mirror of huggingface.co; "
    "HF_HUB_OFFLINE blocks every download."
)


def download(model: NamedModel, folder: Path, cancelled: Callable[[], bool]) -> None:
    """Download a model's files into the cache `folder`.

    Blocks, and asks `cancelled` several times a second. Raises ModelError for a failure, or a cancellation
    ("cancelled").
    """
    try:
        private_folder(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "Check that the folder exists and that you can write to it."
        raise ModelError(f"{model.name} cannot be downloaded to {folder}: {reason}", hint=hint) from error
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
            _wait(child, cancelled)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        if child.returncode:
            stderr.seek(0)
            said = stderr.read().decode("utf-8", "replace").strip().rpartition("\n")[2][:_LONGEST_REASON]
            reason = said or f"the download ended early (exit code {child.returncode})"
            raise ModelError(f"{model.name} cannot be downloaded: {reason}", hint=_HINT)


def _wait(child: subprocess.Popen[bytes], cancelled: Callable[[], bool]) -> None:
    while not cancelled():
        with suppress(subprocess.TimeoutExpired):
            child.wait(_POLL_SECONDS)
            return
    raise ModelError("cancelled")


class NamedEmbedder(FastembedEmbedder):
    """Unit vectors with as many dimensions as the model has. `prepare` downloads the model if needed."""

    def __init__(self, name: str, folder: Path) -> None:
        """`folder` is the cache of downloaded models. Nothing is looked up yet."""
        super().__init__(folder)
        self.name = name

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, after a download if it is missing. Raises ModelError, also for an unknown name."""
        model = named_model(self.name)
        try:
            self._loaded()
        except ModelError:
            progress(0, model.size)
            download(model, self._folder, cancelled)
            self._loaded()

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            return side_by_side(self._vector, texts)
        except Exception as error:
            raise ModelError(f"the embedding model {self.name} failed: {error}") from error

    def _vector(self, text: str) -> list[float]:
        """One text at a time: what a quantized model makes of a batch depends on every text in it."""
        assert self._model is not None
        return _unit(next(iter(self._model.embed([text]))))

    def _load(self) -> "TextEmbedding":
        from fastembed import TextEmbedding

        model = named_model(self.name)
        keep_to_one_thread()
        try:
            return TextEmbedding(model.name, cache_dir=str(self._folder), local_files_only=True)
        except Exception as error:
            size = max(model.size // 1_000_000, 1)
            message = f"the embedding model {self.name} is not in {self._folder}, or damaged: {error}"
            raise ModelError(
                message, hint=f"Delete its folder there, and download it (about {size} MB)."
            ) from error


def _unit(vector: "np.ndarray") -> list[float]:
    """The vector scaled to length 1. A text without tokens has no direction, so it gets the first axis."""
    import numpy as np

    exact = np.nan_to_num(vector.astype(np.float64), posinf=0.0, neginf=0.0)
    length = float(np.linalg.norm(exact))
    if length == 0.0:
        exact[0] = length = 1.0
    scaled: list[float] = (exact / length).tolist()
    return scaled
