"""What a folder has applied: a small file beside tantivy's own, written after each commit.

A crash between the two repeats what the commit holds already, and what is repeated replaces by number.
Needs no tantivy: whoever shows the lag reads this.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

_NAME = "followed.json"
META = "meta.json"  # tantivy's newest commit


class State(NamedTuple):
    version: str
    catalog: str  # identity
    applied: int  # last seq


def is_here(folder: Path) -> bool:
    """Whether the folder is one of this engine."""
    return (folder / _NAME).exists() or (folder / META).exists()


def read(folder: Path) -> State | None:
    """None where there is none, or a damaged one."""
    try:
        known = json.loads((folder / _NAME).read_bytes())
        return State(str(known["version"]), str(known["catalog"]), int(known["applied"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def write(folder: Path, state: State) -> None:
    aside = folder / f"{_NAME}.new"
    with aside.open("w") as file:
        json.dump(state._asdict(), file)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(folder / _NAME)


def applied_seq(folder: Path, catalog: str | None = None) -> int:
    """As `webcrawler.index.whoosh.folder.applied_seq`, of this engine; 0.05 ms."""
    state = read(folder)
    return state.applied if state and catalog in (None, state.catalog) else 0


def indexed_documents(folder: Path) -> int:
    """In the newest commit; 0 without one."""
    try:
        segments = json.loads((folder / META).read_bytes())["segments"]
        return sum(int(s["max_doc"]) - int((s["deletes"] or {}).get("num_deleted_docs", 0)) for s in segments)
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def generation(folder: Path) -> object:
    """Differs after every commit, None without one; one call of the system."""
    try:
        found = (folder / META).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
