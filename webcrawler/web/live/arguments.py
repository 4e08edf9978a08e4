"""The arguments of the spider. Addresses stand in files, one a line, as they may hold commas.

Somebody gave them for this search alone: a file is gone when the search has read it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from webcrawler.web.live.request import Asked

LISTS = ("seeds", "examples")


def write(job: str, asked: Asked, folder: Path) -> dict[str, str]:
    """Raises OSError."""
    numbers = {name: str(getattr(asked, name)) for name in ("enough", "max_pages", "max_time")}
    lists: Mapping[str, tuple[str, ...]] = {name: getattr(asked, name) for name in LISTS}
    files = {name: folder / f"{job}.{name}" for name, urls in lists.items() if urls}
    for name, file in files.items():
        file.touch(mode=0o600)
        file.write_text("\n".join(lists[name]), "utf-8")
    query = {"query": asked.query} if asked.query else {}
    given = {name: f"@{file}" for name, file in files.items()}
    return {"job": job, **query, "strategy": asked.strategy, **numbers, **given}


def forget(job: str, folder: Path) -> None:
    for name in LISTS:
        (folder / f"{job}.{name}").unlink(missing_ok=True)


def forget_old(folder: Path, patience_seconds: float) -> None:
    """Those that a server which was killed has left: of searches that have read them, or never began."""
    for name in LISTS:
        for file in folder.glob(f"*.{name}"):
            with suppress(OSError):  # gone meanwhile, or not ours: the server comes up all the same
                is_read = file.with_suffix(".json").exists()
                if is_read or time.time() - file.stat().st_mtime > patience_seconds:
                    file.unlink(missing_ok=True)
