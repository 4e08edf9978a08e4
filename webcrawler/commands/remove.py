"""`webcrawler remove`: takes documents out of catalog and index, and keeps them out."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import Any

from webcrawler import connection
from webcrawler.archive import purge
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views, is_crawling
from webcrawler.commands._terminal import JSON, Option, progress_bars
from webcrawler.commands.base import Command
from webcrawler.dataset import PURGED
from webcrawler.errors import BadInput
from webcrawler.frontier import Again, Frontier, maintenance, ordering
from webcrawler.index import reindex, wait_until_caught_up
from webcrawler.job import read_patterns
from webcrawler.realtime import journal
from webcrawler.repository import hold_alone
from webcrawler.scope import Patterns, Scope, change, expand, read
from webcrawler.search.vocabulary import remake

SHOWN = 10  # patterns, by name
UNKNOWN = (
    "no known URL matches; https://example.org/page means one page, 'https://example.org/docs/*' all that "
    "begins so, https://example.org a whole server"
)
BUSY = "a crawl or a search of the web is running on this data folder: end it before --purge"


class Remove(Command):
    arguments = "URL | 'PREFIX*' | SERVER | @FILE …"
    summary = "Take documents out of catalog and index, and keep them out"
    details = (
        "Removes the documents of these URLs: https://example.org/page is one page, "
        "'https://example.org/docs/*' all that begins so, https://example.org a whole server. They are "
        "neither found nor fetched any more, also by a crawl that is running, until --undo."
    )
    options = (
        Option("--dry-run", False, "only say how many documents it would be"),
        Option("--out-of-scope", False, "the documents outside include and exclude of `webcrawler crawl`"),
        Option("--undo", False, "let them in again; the next crawl fetches them"),
        Option("--purge", False, "also delete what is kept of them from the disk; cannot be undone"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        given = (read_patterns(one) if one.startswith("@") else expand(one) for one in args)
        named = Patterns(chain(self._out_of_scope() if opts.out_of_scope else (), *given))
        if opts.purge and opts.undo:
            raise BadInput(
                "--purge cannot be undone: --undo alone lets the URLs in again, to be fetched anew"
            )
        if opts.purge and is_crawling(self.crawl_dir):
            raise BadInput(BUSY)
        if not named.texts:
            raise BadInput(f"name what to remove: {self.arguments}; --help says more")
        undone = frozenset(filter(named.match, read(self.crawl_dir).removed)) if opts.undo else frozenset()
        if opts.undo and not undone:
            raise BadInput(f"{named.texts[0]} was not removed; scope.json has all that was")
        found: dict[str, Any] = {"patterns": list(named.texts), **self._known(named)}
        if not (found["urls"] or opts.undo):
            print(UNKNOWN, file=sys.stderr)
        if not opts.dry_run:
            what = "letting in" if opts.undo else f"removing {found['documents']:,} documents of"
            print(f"{what} {found['urls']:,} known URLs …", file=sys.stderr)
            found |= self._undo(undone) if opts.undo else self._remove(named)
            if opts.purge:
                found |= self._purge(named)
        if len(named.texts) > SHOWN and not opts.json:
            found["patterns"] = len(named.texts)
        self.show(found, opts)

    def _out_of_scope(self) -> list[str]:
        """The URLs of the documents that a crawl with the scope of today would not fetch.

        Raises:
            BadInput: there is none.
        """
        scope = read(self.crawl_dir)
        with closing(self.catalog()) as catalog:
            outside = {number: url for number, url in catalog.urls.all() if scope.bars(url) == "scope"}
            documents = catalog.documents(list(outside))
        if not documents:
            raise BadInput(f"no document is outside the scope: {scope.told or 'there is none'}")
        return [outside[number] for number in documents]

    def _known(self, named: Patterns) -> dict[str, int]:
        """How many URLs and documents of the catalog are named; looks at all URLs."""
        if not (self.crawl_dir / "catalog.sqlite").exists():
            return {"urls": 0, "documents": 0}
        with closing(self.catalog()) as catalog:
            numbers = [number for number, url in catalog.urls.all() if named.match(url)]
            return {"urls": len(numbers), "documents": len(catalog.documents(numbers))}

    def _remove(self, named: Patterns) -> dict[str, int]:
        def removed(scope: Scope) -> Scope:
            new = [pattern for pattern in named.texts if not scope.has_removed(pattern)]
            return replace(scope, removed=(*scope.removed, *new))

        scope = change(self.crawl_dir, removed)  # first: what follows is done by the next crawl as well
        with connection.from_settings(self.project) as connected:
            frontier = Frontier(connected.client, ordering("fifo"))
            is_made = frontier.stored_partitions()
            decided = maintenance.refuse(frontier, scope.bars, scope.digest) if is_made else 0
        self._obey()
        return {"urls_decided": decided}

    def _purge(self, named: Patterns) -> dict[str, int]:
        """Delete records, texts and links of what is removed; then build the views of them anew.

        Raises:
            BadInput: a crawl is alive.
        """
        with progress_bars() as progress:
            # No view puts elsewhere meanwhile what is to be deleted there.
            with hold_alone(self.crawl_dir), Views(self.crawl_dir).take_over():
                if (self.crawl_dir / "home").exists():
                    (self.crawl_dir / PURGED).touch()
                purged = purge(self.crawl_dir, named, progress)
            journal.discard(self.crawl_dir, named.match)
            reindex(self.crawl_dir, lambda applied, last: progress("index", applied, last))
            progress("words", 0, None)
            remake(self.crawl_dir)
        if self._is_followed():
            Views(self.crawl_dir).ensure_started(self.views_settings())
        return {"records_deleted": purged.records, "duplicates_completed": purged.completed}

    def _is_followed(self) -> bool:
        """Do others follow this folder, who have to hear of it before the next crawl?"""
        return any(self.project.get(name) for name in ("SINK_URL", "DATASET_URL"))

    def _undo(self, undone: frozenset[str]) -> dict[str, int]:
        change(
            self.crawl_dir, lambda now: replace(now, removed=tuple(p for p in now.removed if p not in undone))
        )
        self._obey()
        return {"undone": len(undone), "urls_queued": self._queue_again(Patterns(undone))}

    def _queue_again(self, named: Patterns) -> int:
        """Have a crawl fetch again what was removed; returns how many URLs."""
        if not (self.crawl_dir / "catalog.sqlite").exists():
            return 0
        with closing(self.catalog()) as catalog, connection.from_settings(self.project) as connected:
            known = {number: url for number, url in catalog.urls.all() if named.match(url)}
            was = catalog.fetches.outcomes_of(list(known))
            frontier = Frontier(connected.client, ordering("fifo"))
            spelled = known | catalog.urls.spellings(list(known))
            due = [
                Again(url, was.get(number, "failed/removed"), spelling=spelled[number])
                for number, url in known.items()
            ]
            return frontier.again(due) if frontier.stored_partitions() else 0

    def _obey(self) -> None:
        """Open the catalog for writing, which makes it obey the scope, and wait for the index.

        Not for that of a running crawl, which follows late; searches hide by the catalog what was removed.
        """
        if (self.crawl_dir / "catalog.sqlite").exists():
            Catalog(self.crawl_dir / "catalog.sqlite").close()
            if not is_crawling(self.crawl_dir):
                wait_until_caught_up(self.crawl_dir)
            # suggestions are titles
            if (self.crawl_dir / "vocabulary").exists() or self._is_followed():
                Views(self.crawl_dir).ensure_started(self.views_settings())
