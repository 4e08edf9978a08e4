"""Several data folders become one: their WARC files together, and all that is made of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from scrapy.settings import BaseSettings

from webcrawler.archive.catalog import blocked_servers
from webcrawler.background import try_lock
from webcrawler.crawl.run import keep_begun
from webcrawler.durable import sync_folder
from webcrawler.errors import BadInput
from webcrawler.repository.rebuild import BUSY, Progress, Rebuilt, rebuild
from webcrawler.scope import Scope, change, read


def merge(folders: Sequence[Path], into: Path, settings: BaseSettings, progress: Progress) -> Rebuilt:
    """Make a new data folder of others, which stay as they are; WARC files are linked, or copied elsewhere.

    Originals, duplicates, anchor texts and ranks are those of all pages together. Killed, it may be repeated.

    Raises:
        BadInput: a folder has no WARC files or is being crawled, or the new one has a catalog already.
        Unavailable: the disk is full.
    """
    for folder in folders:
        if not any((folder / "pages").glob("*.warc.gz")):
            raise BadInput(f"there are no WARC files in {folder / 'pages'}: {folder} is no data folder")
    if (into / "catalog.sqlite").exists():
        raise BadInput(f"{into} has a catalog already: name a new folder, and this one among the others")
    (into / "pages").mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for folder in dict.fromkeys((*folders, into)):
            if (alone := try_lock(folder / "crawls.lock")) is None:
                raise BadInput(f"{folder}: {BUSY}")
            held.enter_context(alone)
        for folder in folders:
            _add_pages(folder / "pages", into / "pages")
        scope = _joined([read(folder) for folder in folders])
        change(into, lambda _: scope)
        keep_begun(folders, into)
    blocked = sorted({name for folder in folders for name in blocked_servers(folder / "catalog.sqlite")})
    return rebuild(into, settings, progress, blocked)


def _add_pages(folder: Path, into: Path) -> None:
    """Files are never changed once they are closed, so both folders may have the same ones."""
    for path in sorted(folder.glob("*.warc.gz")):
        target = into / path.name
        if target.exists() and target.stat().st_size == path.stat().st_size:
            continue  # of a run that was killed, or both folders have it
        part = target.with_suffix(".part")
        part.unlink(missing_ok=True)
        try:
            os.link(path, part)
        except OSError:  # another file system
            shutil.copy2(path, part)
        part.replace(target)
    sync_folder(into)


def _joined(scopes: Sequence[Scope]) -> Scope:
    """What was removed from any of them; the bounds of crawls only where all have the same."""
    removed = tuple(dict.fromkeys(pattern for scope in scopes for pattern in scope.removed))
    bounds = {replace(scope, removed=()) for scope in scopes}
    with suppress(ValueError):
        (only,) = bounds
        return replace(only, removed=removed)
    return Scope(removed=removed)
