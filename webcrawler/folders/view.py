"""A data folder for readers that is made of others, and follows them."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from hashlib import sha1
from itertools import chain
from pathlib import Path
from uuid import uuid4

from webcrawler import clock, pace
from webcrawler.archive.catalog import Catalog, Position, blocked_servers
from webcrawler.background import MERGER, is_held
from webcrawler.durable import replaced
from webcrawler.errors import BadInput
from webcrawler.folders.news import Progress, copy_news
from webcrawler.index import applied_seq, wait_until_caught_up
from webcrawler.linkgraph import stored
from webcrawler.scope import change, read
from webcrawler.search.vocabulary import VocabularyRenewal

CATALOG = "catalog.sqlite"
FOLDERS, CURRENT, POSITIONS = "folders.json", "current", "merged.json"
READ_SECONDS = 60.0  # a server may read a view for so long after another one has taken its place


class MergedView:
    """The view of some folders.

    Args:
        place: its own in the cache; `find` makes it.
        folders: their absolute paths; [] where the view was made before.
    """

    def __init__(self, place: Path, folders: Sequence[str] = ()) -> None:
        self.place, self.folder = place, place / CURRENT
        self.folders = [Path(name) for name in folders or json.loads((place / FOLDERS).read_text("utf-8"))]

    @classmethod
    def find(cls, folders: Sequence[str], cache: str = "") -> MergedView:
        """The view of these folders, in any order, which need not have been made yet.

        Args:
            cache: folder of all such views; "": that of the user (XDG Base Directory Specification).
        Raises:
            BadInput: there is no catalog in one of them, or the cache cannot be written.
        """
        named = sorted({str(Path(folder).resolve()) for folder in folders})
        for folder in named:
            if not (Path(folder) / CATALOG).exists():
                raise BadInput(f"there is no catalog in {folder}: CRAWL_DIR names the folders of crawls")
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "webcrawler"
        key = sha1("\n".join(named).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        place = Path(cache or base).resolve() / key
        try:
            place.mkdir(0o700, parents=True, exist_ok=True)  # pages may be secret
        except OSError as error:
            raise BadInput(f"cannot write {place} ({error.strerror}): set MERGED_DIR to a folder") from None
        return cls(place, named)

    def bring_up_to_date(self, progress: Progress) -> bool:
        """Make the view, or have it follow its folders; False: another process is at it, and it may be read.

        Killed at any moment, it leaves a view that is whole, or none; it may be repeated.

        Raises:
            BadInput: a folder has no catalog any more, or one of an older version.
            Unavailable, OSError: the disk is full.
        """
        while True:
            with MERGER.at_work(self.place) as is_ours:
                if is_ours:
                    self.follow(progress)
                    return True
            if self.folder.exists():
                return False
            progress("waiting for the process that makes it", 0, None)
            time.sleep(pace.MERGER_POLL_SECONDS)

    def behind(self) -> int:
        """How many changes of the folders are not in the view; at least 1 where it is to be made anew."""
        with ExitStack() as opened:
            now = [part.source.position() for part in self._open(opened)]
        before = self._positions()
        if len(before) != len(now):
            return 1
        pairs = list(zip(before, now, strict=True))
        more = sum(max(b.changes - a.changes, b.fetches - a.fetches) for a, b in pairs)
        return more if all(a.is_before(b) for a, b in pairs) else max(1, more)

    def follow(self, progress: Progress = lambda step, done, total: None) -> None:
        """Do it, by the one process that has the lock. Raises as `bring_up_to_date`."""
        self._sweep()
        with ExitStack() as opened:
            parts = self._open(opened)
            now = [part.source.position() for part in parts]
            removed = tuple(dict.fromkeys(chain.from_iterable(read(one).removed for one in self.folders)))
            blocked = {name for part in parts for name in part.urls.blocked_servers()}
            goes_on = self._goes_on(now, removed, blocked)
            view = self.folder if goes_on else self._begun_anew()
            before = self._positions() if goes_on else [Position(one.made) for one in now]
            known = set(blocked_servers(view / CATALOG))
            if not goes_on or before != now or known != blocked or read(view).removed != removed:
                change(view, lambda scope: replace(scope, removed=removed))
                with closing(Catalog(view / CATALOG)) as catalog:  # takes out what was removed
                    for name in sorted(blocked - known):
                        catalog.block(name)
                    copy_news(parts, before, catalog, progress)
        each = [read(folder).domains for folder in self.folders]
        domains = tuple(dict.fromkeys(chain.from_iterable(each))) if all(each) else ()
        change(view, lambda scope: replace(scope, domains=domains))
        self._make_views(view, progress)
        if before != now:
            with replaced(view / POSITIONS) as file:
                file.write(json.dumps(now).encode() + b"\n")
        if not goes_on:
            self._put_in_place(view)
            self._sweep()

    def _open(self, opened: ExitStack) -> list[Catalog]:
        return [opened.enter_context(closing(Catalog(one / CATALOG, readonly=True))) for one in self.folders]

    def _positions(self) -> list[Position]:
        """How far the folders were read for the view; [] where there is none."""
        with suppress(OSError, ValueError, TypeError):
            return [Position(*one) for one in json.loads((self.folder / POSITIONS).read_text("utf-8"))]
        return []

    def _goes_on(self, now: Sequence[Position], removed: Sequence[str], blocked: set[str]) -> bool:
        """Can the view go on? What is let in again would have to be looked for in all folders."""
        before = self._positions()
        return (
            len(before) == len(now)
            and all(a.is_before(b) for a, b in zip(before, now, strict=True))
            and set(read(self.folder).removed).issubset(removed)
            and blocked.issuperset(blocked_servers(self.folder / CATALOG))
        )

    def _begun_anew(self) -> Path:
        """A view without pages, beside the one that is searched."""
        view = self.place / uuid4().hex
        (view / "pages").mkdir(parents=True)
        for number, folder in enumerate(self.folders):
            (view / "pages" / str(number)).symlink_to(folder / "pages")
        return view

    def _put_in_place(self, view: Path) -> None:
        if not self.folder.is_symlink():
            with replaced(self.place / FOLDERS) as file:
                file.write(json.dumps(list(map(str, self.folders)), indent=1).encode() + b"\n")
        link = self.place / "next"
        link.unlink(missing_ok=True)
        link.symlink_to(view.name)
        link.replace(self.folder)

    def _sweep(self) -> None:
        """Delete what killed processes have left, and views that nobody reads any more."""
        is_served, current = is_held(self.place / "crawls.lock"), self.folder
        if is_served and current.is_symlink() and clock.age(current.lstat()) < READ_SECONDS:
            return
        for path in self.place.iterdir():
            if path.is_dir() and not path.is_symlink() and path != current.resolve():
                shutil.rmtree(path, ignore_errors=True)

    def _make_views(self, view: Path, progress: Progress) -> None:
        """Ranks and words as for one folder: while it is crawled, only where it has grown; then exactly."""
        is_crawled = any(is_held(folder / "crawls.lock") for folder in self.folders)
        with closing(Catalog(view / CATALOG, readonly=True)) as catalog:
            last = catalog.last_seq()
            if any(applied_seq(view / name) != last for name in ("index", "anchors")):
                wait_until_caught_up(view, lambda applied, last: progress("index", applied, last))
            ranks = stored.RankRenewal(catalog, view / "ranks")
            words = VocabularyRenewal(catalog, view / "vocabulary")
            for step, renewal in (("ranks", ranks), ("words", words)):
                if renewal.is_outgrown() if is_crawled else renewal.is_behind():
                    progress(step, 0, None)
                    renewal.renew()
