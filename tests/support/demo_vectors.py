"""The vectors of the demo's tools, embedded once for all tests: what is tested is not how long that takes."""

import fcntl
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from inspector.search.sqlite import SqliteVectors


def kept(folder: Path, embed: Callable[[Path], None]) -> Path:
    """A database in this folder with these vectors alone; `embed` fills another one by searching the demo.

    Processes that ask at the same time wait for the first.
    """
    made = folder / "demo-vectors.db"
    with (folder / "demo-vectors.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            embed(folder / "embedded.db")
            _copied(folder / "embedded.db", folder / "copied.db").rename(made)
    return made


def _copied(source: Path, target: Path) -> Path:
    with sqlite3.connect(source) as database:
        rows = database.execute("SELECT model, key, vector FROM vector").fetchall()
    database.close()
    vectors = SqliteVectors(target)
    for model in {row[0] for row in rows}:
        vectors.keep_vectors(model, {key: vector for name, key, vector in rows if name == model})
    vectors.close()
    return target


def give(vectors: Path, database: Path) -> None:
    """Begin a database with these vectors."""
    shutil.copyfile(vectors, database)
