"""Writes what a catalog holds into a cluster, and keeps up with its changes.

It follows the catalog as the index does: documents change by change, anchor texts in rounds. How far it has
come stands in the cluster, beside what it has written: a cluster that was restored from a snapshot, or made
anew, gets what it lacks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from webcrawler.archive.catalog import LEAST_PAGES, SAMPLED, Catalog
from webcrawler.clock import now
from webcrawler.errors import Unavailable
from webcrawler.index import Elsewhere, anchors_of
from webcrawler.linkgraph import stored
from webcrawler.opensearch.bulk import Bulk, Write
from webcrawler.opensearch.client import Cluster, reason
from webcrawler.opensearch.documents import (
    Made,
    Source,
    Writer,
    digest_of,
    hexadecimal,
    made,
    rank_of,
    tombstone,
)
from webcrawler.opensearch.homes import Homes
from webcrawler.opensearch.indexes import Indexes
from webcrawler.opensearch.mapping import NAMED, PAGES
from webcrawler.opensearch.state import SEQ_BITS, Checkpoint
from webcrawler.urls import url_id

BATCH = 200  # changed documents
ROUND = 500  # pages that are looked at together
ROUNDS_SHARE = 0.05  # of the time while a crawl is alive
RANKS_APART = 0.02  # a rank that differs by less is left as it is
TOMBSTONE_SECONDS = 7 * 86400.0
PURGE_SECONDS = 86400.0
FETCHED = 1 << 62  # of a version: what any folder has fetched is not only linked to, whatever its home says
COMPARED = "names,rank,sampled,term"
NO_NAMES = digest_of(None)


class Sink:
    """One folder's part of a collection. After an error of the cluster, `open` it again.

    Raises:
        BadInput: the collection is somebody else's, or another version's.
        Unavailable: the cluster is away.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path, cluster: Cluster, homes: Homes, bulk: Bulk) -> None:
        self._catalog, self._crawl_dir, self._ranks_dir = catalog, crawl_dir, crawl_dir / "ranks"
        self._elsewhere = Elsewhere(crawl_dir)
        self._cluster, self._homes, self._bulk = cluster, homes, bulk
        self._state = homes.state
        self._indexes = Indexes(cluster, self._state)
        self._checkpoint = Checkpoint()
        self._pages: list[int] = []  # that are left to look at in this round
        self._told = set[int]()  # of those, the ones of which other folders say something else now
        self._round = Checkpoint()  # what is known when it is over
        self.round_due = 0.0  # on the monotonic clock

    def open(self) -> None:
        self._cluster.check()
        self._indexes.open()
        self._pages = []
        self._checkpoint = self._state.checkpoint(self._homes.folder, self._indexes.generation)
        identity = self._catalog.identity
        is_new = not self._checkpoint.identity
        is_other = not is_new and self._checkpoint.identity != identity
        is_behind = max(self._checkpoint.seq, self._checkpoint.anchors) > self._catalog.last_seq()
        if is_other or is_behind:  # it was made anew, or restored from a backup
            self._begin_anew()
        elif is_new:
            self._keep(identity=identity)
        self._homes.open()

    def _begin_anew(self) -> None:
        self._homes.open(anew=True)
        term = self._checkpoint.term + 1
        self._checkpoint = Checkpoint(self._catalog.identity, term, swept=self._checkpoint.swept)
        self._keep()

    def held(self) -> tuple[int, int, int]:
        """What is there of changes and anchor texts, of ranks, and of what other folders say.

        It is `known` where nothing is left to do.
        """
        state = self._checkpoint
        return min(state.seq, state.anchors), state.ranks, state.elsewhere

    def step(self) -> bool:
        """Write the next changes; returns whether there were any."""
        if not (changes := self._catalog.changes(self._checkpoint.seq, BATCH)):
            return False
        self._homes.look()
        # Of a URL that is no document, the rounds write what others say.
        pages = {change.number for change in changes if change.kind != "links"}
        self._write(sorted(pages), self._both)
        self._keep(seq=changes[-1].seq)
        return True

    def step_round(self, with_ranks: bool) -> bool:
        """Write the next pages whose anchor texts have changed; returns whether there may be more.

        Args:
            with_ranks: look at all pages if the ranks were computed anew.
        """
        began = time.monotonic()
        if not self._pages and not self._begin_round(with_ranks):
            return False
        some, self._pages = self._pages[:ROUND], self._pages[ROUND:]
        # Of a URL that another folder may have fetched, this one does not say that it is no page.
        own = self._catalog.documents([number for number in some if number in self._told])
        self._write(list(own), self._both)
        self._write(self._differing([number for number in some if number not in own]), self._where_it_is)
        if not self._pages:
            self._keep_round()
        ended = time.monotonic()
        self.round_due = max(began, self.round_due) + (ended - began) / ROUNDS_SHARE
        return True

    def _begin_round(self, with_ranks: bool) -> bool:
        seq, ranks, told = known(self._catalog, self._crawl_dir)
        is_ranked = with_ranks and ranks != self._checkpoint.ranks
        self._round = self._checkpoint._replace(anchors=seq, elsewhere=told)
        if is_ranked:
            self._round = self._round._replace(ranks=ranks)
        after = 0 if is_ranked else self._checkpoint.anchors
        changed = self._elsewhere.changed(self._checkpoint.elsewhere, told)
        self._told = set(self._catalog.urls.numbers(changed))
        self._pages = sorted({*self._catalog.anchors.changed(after, seq), *self._told})
        if not self._pages and self._round != self._checkpoint:
            self._keep_round()
        return bool(self._pages)

    def _keep_round(self) -> None:
        done = self._round
        self._keep(anchors=done.anchors, ranks=done.ranks, elsewhere=done.elsewhere)

    def tidy(self) -> None:
        """All is there: take out what no catalog has any more, and have searches see it."""
        state = self._checkpoint
        if state.swept < state.term:
            old = [{"term": {"home": self._homes.folder}}, {"range": {"term": {"lt": state.term}}}]
            self._delete({"bool": {"filter": old}})
            self._keep(swept=state.term)
        if now() - state.purged > PURGE_SECONDS:
            self._delete({"range": {"gone_at": {"lt": now() - TOMBSTONE_SECONDS}}})
            self._keep(purged=now())
        self._indexes.change_over()

    def _delete(self, which: dict[str, Any]) -> None:
        names = ",".join(self._indexes.name(kind) for kind in (PAGES, NAMED))
        self._cluster.ask("POST", f"/{names}/_refresh")
        self._cluster.ask("POST", f"/{names}/_delete_by_query?conflicts=proceed", {"query": which}, 600.0)

    def _write(self, numbers: Sequence[int], places: Callable[[Made], dict[str, Source | None]]) -> None:
        """Write these pages as the catalog has them now, which is not older than the version says."""
        seq = self._catalog.last_seq()
        writer = Writer(self._homes.folder, self._checkpoint.term)
        ranks = stored.load(self._ranks_dir, self._catalog.identity)
        gone = tombstone(now(), writer)

        def writes() -> Iterator[Write]:
            for one in made(self._catalog, numbers, ranks, writer, self._elsewhere):
                version = self._homes.version(one.server, seq)
                for kind, source in places(one).items():
                    wins = kind == NAMED and one.page and not self._homes.is_ours(one.server)
                    at = version | FETCHED if wins else version
                    yield Write(self._indexes.name(kind), one.id, one.url, at, source or gone)

        self._bulk.write(writes())

    def _both(self, one: Made) -> dict[str, Source | None]:
        """A page that has changed may have left either index."""
        named = {NAMED: one.named} if one.page or self._homes.is_ours(one.server) else {}
        return {PAGES: one.page, **named}

    def _where_it_is(self, one: Made) -> dict[str, Source | None]:
        """Of a page that was not fetched anew, only what others say has changed."""
        if one.page:
            return {PAGES: one.page}
        return {NAMED: one.named} if self._homes.is_ours(one.server) else {}

    def _differing(self, numbers: list[int]) -> list[int]:
        """Those of which the cluster has other anchor texts, another rank, or too old a main content."""
        ids = {number: hexadecimal(url_id(url)) for number, url in self._catalog.urls.of(numbers).items()}
        servers = self._catalog.urls.servers_of(numbers)
        there = self._there(list(ids.values()))
        said = {one.number: digest_of(one) for one in anchors_of(self._catalog, numbers, self._elsewhere)}
        ranks = stored.load(self._ranks_dir, self._catalog.identity)
        return [
            number
            for number in ids
            if self._differ(there.get(ids[number], {}), said.get(number, NO_NAMES), rank_of(ranks, number))
            or self._is_outdated(there.get(ids[number], {}), servers[number])
        ]

    def _there(self, ids: list[str]) -> dict[str, Source]:
        """What the cluster has of these, by id; of none what is gone."""
        docs = [{"_index": self._indexes.name(kind), "_id": id} for kind in (NAMED, PAGES) for id in ids]
        found = self._cluster.ask("POST", f"/_mget?_source_includes={COMPARED}", {"docs": docs})
        if lost := [one["error"] for one in found["docs"] if "error" in one]:
            raise Unavailable(f"the cluster does not say what it has: {reason(lost[0])}")
        living = (one for one in found["docs"] if one.get("_source"))
        return {one["_id"]: one["_source"] for one in living}

    def _differ(self, there: Source, names: str, rank: float) -> bool:
        """A page without anchor texts does not differ from one that is not there."""
        if there.get("names", NO_NAMES) != names:
            return True
        is_old = there.get("term", self._checkpoint.term) < self._checkpoint.term
        return is_old or bool(abs(there.get("rank", rank) - rank) > RANKS_APART * rank)

    def _is_outdated(self, there: Source, server: str) -> bool:
        """Tell whether twice as many pages tell now what repeats over its server (`Follower.outdated`)."""
        sampled = there.get("sampled", SAMPLED)
        if 2 * sampled > SAMPLED:
            return False
        return bool(self._catalog.blocks.pages(server) >= max(LEAST_PAGES, 2 * sampled))

    def _keep(self, **changed: Any) -> None:
        """What was written is there: say so."""
        self._checkpoint = self._checkpoint._replace(**changed, at=now())
        self._state.keep(self._homes.folder, self._indexes.generation, self._checkpoint)


def known(catalog: Catalog, crawl_dir: Path) -> tuple[int, int, int]:
    """The last change of the catalog, that which its ranks know, and the last that other folders told.

    Ranks of all folders are other ones with each run of the jobs, also where no change came.
    """
    ranks = stored.load(crawl_dir / "ranks", catalog.identity)
    told = ranks.seq + (stored.run_of(crawl_dir / "ranks") << SEQ_BITS) if ranks else 0
    return catalog.last_seq(), told, Elsewhere(crawl_dir).seq
