"""What the pages and links of all folders say together: duplicates, anchors, ranks, domains, terms.

A run reads a fixed set of manifests. Its results of pages are written once for each home that knows the page,
so each home reads its own alone.

- `duplicates/HOME` (url_id, original_id, kind): documents of the home that repeat another, "exact" or "near"
- `anchors` (target_id, anchor, votes, cited): as the index of one folder with all pages would have them
- `anchors_elsewhere/HOME` (url_id, anchor, others, own): what this home lacks of them
- `hidden/HOME` (url_id): URLs that the home has not crawled, and that no search should show
- `ranks/HOME` (url_id, pagerank): mean 1 over the URLs of all homes
- `domains`, `terms`: see the files of their names in sql/

Which of equal pages is the original? Within a folder its catalog has decided, by what came first and what
changed since; among the originals of several folders `duplicates.sql` decides.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from webcrawler.background import try_lock
from webcrawler.dataset import pagerank, runs
from webcrawler.dataset.engines import DuckDB, Engine, open_engine, read_memory
from webcrawler.dataset.manifest import Manifest, newest, parts_of, refuse_halves
from webcrawler.dataset.place import Place
from webcrawler.dataset.runs import Run
from webcrawler.dataset.schema import TABLES
from webcrawler.dataset.texts import text
from webcrawler.errors import BadInput, Unavailable

READ = ("urls", "documents", "links", "postings")
MAX_TEXTS = 200  # anchors of a page, as in `webcrawler.index.schema`
CROWDED = 100  # documents of a band that are looked at, as in near.sql of the catalog
HOPS = 6  # times twice as many steps: 64 redirects
STEPS = ("tables", "duplicates", "terms", "anchors", "ranks", "domains")
BY_HOME = {
    "anchors_elsewhere": "url_id, anchor, others, own",
    "duplicates": "url_id, original_id, kind",
    "hidden": "url_id",
    "ranks": "url_id, pagerank",
}
STEPS_LEFT = """
    SELECT count(*) FROM stands_for a JOIN stands_for b ON b.home = a.home AND b.url_id = a.page_id"""
NO_RANKS = "SELECT url_id, CAST(1 AS DOUBLE) AS pagerank FROM pages WHERE false"

Progress = Callable[[str, int, int | None], None]


def run(
    url: str,
    folder: Path,
    progress: Progress,
    engine: str = "duckdb",
    memory: str = "",
    master: str = "",
) -> Run:
    """Run all jobs over what all homes have exported, and put the results in force.

    Args:
        url: of the dataset.
        folder: for what the engine writes aside; what a run that died has left there goes.
        engine, memory, master: as for `open_engine`.
    Raises:
        BadInput: nothing was exported, half a file lies there, or what was asked for cannot be.
        Unavailable: the store or the engine gave up, or another run is at work here.
    """
    place, megabytes = Place(url), read_memory(memory) or _half_of_all()
    if not (manifests := newest(place)):
        raise BadInput(f"no tables in {url} yet: the views of a folder with DATASET_URL export them")
    refuse_halves(place, [part for table in READ for part in parts_of(manifests, table)])
    with _alone(folder) as work:
        last, begun = runs.current(place), runs.begin(place, {one.home: one.number for one in manifests})
        with closing(open_engine(engine, place, f"{begun.folder}/scratch", work, memory, master)) as opened:
            try:
                Jobs(place, opened, manifests, begun, work, last, megabytes).run(progress)
            except opened.faults as error:
                raise Unavailable(f"{engine}: {str(error).strip().partition(chr(10))[0][:300]}") from error
    sys.audit("webcrawler.graph.complete")
    runs.complete(place, begun)
    runs.sweep(place)
    return begun


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Give an empty folder, to one process at a time."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (lock := try_lock(folder.with_suffix(".lock"))):
        raise Unavailable(f"another `webcrawler graph run` is at work in {folder}")
    with lock:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


def _half_of_all() -> int:
    """Half of this machine's memory, in MB."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**21


class Jobs:
    """All jobs of one run, over the tables of these manifests.

    Args:
        begun: the run; its parts are told as they are made.
        work: a folder of this machine.
        last: the run whose ranks are the first guess of this one's.
        megabytes: for the graph as arrays.
    """

    def __init__(
        self,
        place: Place,
        engine: Engine,
        manifests: Sequence[Manifest],
        begun: Run,
        work: Path,
        last: Run | None,
        megabytes: int,
    ) -> None:
        self._place, self._engine, self._run, self._work = place, engine, begun, work
        self._manifests, self._last, self._megabytes = manifests, last, megabytes

    def run(self, progress: Progress) -> None:
        """Do all; nothing is in force yet."""
        for done, step in enumerate(STEPS):
            progress(step, done, len(STEPS))
            sys.audit("webcrawler.graph.step")
            getattr(self, f"_{step}")()

    def _tables(self) -> None:
        for table in READ:
            parts = sorted(parts_of(self._manifests, table), key=lambda part: part.rows, reverse=True)
            # The largest first: DuckDB takes all for as long as that one, and plans its joins by it.
            self._engine.view(f"all_{table}", [part.path for part in parts] or [self._empty(table)])
        for table in ("known", "documents"):
            self._engine.keep(table, text(table))
        self._engine.define("links", text("links"))  # many, and no query needs all their columns

    def _duplicates(self) -> None:
        engine = self._engine
        engine.keep("duplicates", text("duplicates"))
        engine.keep("near_duplicates", text("near_duplicates"), most=CROWDED)
        self._write_by_home(
            "duplicates",
            """SELECT d.home, x.url_id, x.original_id, x.kind
               FROM (SELECT url_id, original_id, 'exact' AS kind FROM duplicates
                     UNION ALL SELECT url_id, original_id, 'near' FROM near_duplicates) x
               JOIN documents d ON d.url_id = x.url_id""",
        )

    def _anchors(self) -> None:
        engine = self._engine
        engine.keep("stands_for", text("stands_for"))
        for _ in range(HOPS):
            if not engine.value(STEPS_LEFT):
                break
            engine.keep("stands_for", text("stands_for_round"))
        engine.keep("anchor_counts", text("anchor_counts"))
        engine.keep("anchor_totals", text("anchor_totals"), most=MAX_TEXTS)
        self._write("anchors", text("anchors"))
        self._write_by_home("anchors_elsewhere", text("anchors_elsewhere"))
        self._write_by_home("hidden", text("hidden"))
        for table in ("anchor_counts", "anchor_totals", "stands_for"):
            engine.drop(table)

    def _ranks(self) -> None:
        engine = self._engine
        engine.keep("pages", "SELECT url_id FROM known WHERE current")
        engine.keep("edges", text("edges"))
        self._last_ranks()
        links, pages = (engine.value(f"SELECT count(*) FROM {table}") for table in ("edges", "pages"))
        if isinstance(engine, DuckDB) and pagerank.fits(links, pages, self._megabytes):
            pagerank.by_arrays(engine)
        else:
            pagerank.by_sql(engine)
        self._write_by_home(
            "ranks", "SELECT k.home, r.url_id, r.pagerank FROM ranks r JOIN known k ON k.url_id = r.url_id"
        )

    def _last_ranks(self) -> None:
        if keys := self._last.keys("ranks") if self._last else []:
            self._engine.view("all_ranks", keys)
            self._engine.keep("last_ranks", text("last_ranks"))
        else:
            self._engine.keep("last_ranks", NO_RANKS)

    def _domains(self) -> None:
        engine = self._engine
        engine.keep("domain_edges", text("domain_edges"))
        engine.keep("edges", "SELECT source_id, target_id FROM domain_edges")
        engine.keep(
            "pages",
            """SELECT DISTINCT url_host_registered_domain AS url_id FROM known
               WHERE current AND url_host_registered_domain IS NOT NULL""",
        )
        engine.keep("last_ranks", NO_RANKS)
        pagerank.by_sql(engine)
        engine.keep("domain_ranks", "SELECT url_id, pagerank FROM ranks")
        self._write("domains", text("domains"))

    def _terms(self) -> None:
        self._write("terms", text("terms"))

    def _empty(self, table: str) -> str:
        """Put a part without rows, which says the columns where no home has any."""
        from pyarrow import parquet

        file, key = self._work / f"{table}.parquet", f"{self._run.folder}/empty/{table}.parquet"
        parquet.write_table(TABLES[table].empty_table(), file)
        self._place.put(key, file)
        return key

    def _write_by_home(self, table: str, query: str) -> None:
        """Write a query's rows for each `home` alone; it is run once."""
        self._engine.keep("by_home", query)
        for home in self._run.homes:
            self._write(
                f"{table}/{home}", f"SELECT {BY_HOME[table]} FROM by_home WHERE home = :home", home=home
            )
        self._engine.drop("by_home")

    def _write(self, name: str, query: str, **values: object) -> None:
        folder = f"{self._run.folder}/{name}"
        self._engine.write(query, folder, **values)
        self._run.parts[name] = self._place.files(folder, ".parquet")
        sys.audit("webcrawler.graph.written")
