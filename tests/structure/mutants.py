"""Lines that carry load (`mutants.toml`), each broken once: the tests that reach it have to fail.

`python -m tests.structure.mutants [WORD]` applies one mutant after another (those whose rule has the word),
runs its tests, and puts the file back. It exits with 1 if a mutant survives. Run it after cutting tests.
"""

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule, the line that carries it, what breaks it, and the tests that reach it."""

    rule: str
    file: str
    line: str
    broken: str
    tests: tuple[str, ...]


_FOUND = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["mutant"]
MUTANTS = tuple(Mutant(**{**one, "tests": tuple(one["tests"])}) for one in _FOUND)


def survives(mutant: Mutant) -> bool:
    """Whether the tests pass on the broken line. Raises ValueError where the line is not there once."""
    path = ROOT / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.line) != 1:
        raise ValueError(f"{mutant.file} has {text.count(mutant.line)} times: {mutant.line}")
    path.write_text(text.replace(mutant.line, mutant.broken), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutant.tests]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
    finally:
        path.write_text(text, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Try the mutants, and return how many survive."""
    tried = [one for one in MUTANTS if all(word in one.rule for word in words)]
    left = [one for one in tried if _told(one)]
    sys.stdout.write(f"{len(tried) - len(left)} of {len(tried)} caught\n")
    return len(left)


def _told(mutant: Mutant) -> bool:
    is_alive = survives(mutant)
    sys.stdout.write(f"{'SURVIVES' if is_alive else 'caught  '} {mutant.rule}\n")
    sys.stdout.flush()
    return is_alive


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
