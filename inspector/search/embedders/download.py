"""Downloads an embedding model in a child process, so that it can be watched and stopped at any time."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from inspector.core.error import ModelError
from inspector.core.redaction import private_folder
from inspector.search.embedders.catalog import NamedModel, named_model

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
        child = _start(model, folder, stderr)
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


def _start(model: NamedModel, folder: Path, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        # -P: a file in the current folder is never imported in place of a library.
        [sys.executable, "-P", "-c", _CHILD, model.repository, str(folder), *model.files],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        env={**os.environ, "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
        start_new_session=True,
    )


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
