"""What several folders know together is what one folder would know alone; a run that dies changes nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import failpoints
import pytest
from conftest import Clock, Run
from crawled import fetched, link
from exported import export
from pyarrow import parquet
from test_anchors import Crawl, gone, page
from test_dataset_in_s3 import bucket
from testdata import needed

from webcrawler.archive.catalog import Catalog
from webcrawler.dataset import export as exporter
from webcrawler.dataset import jobs, runs
from webcrawler.dataset import pagerank as arrays
from webcrawler.dataset.engines import read_memory
from webcrawler.dataset.place import Place
from webcrawler.dataset.results import Taking
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index.elsewhere import Elsewhere
from webcrawler.index.follower import Follower
from webcrawler.index.schema import anchors_of
from webcrawler.linkgraph import catalog_graph, pagerank, stored
from webcrawler.linkgraph.frontier_updates import Ranking
from webcrawler.records import Entry
from webcrawler.urls import server, url_id

__all__ = ["bucket"]  # a fixture
DOMAINS = [f"http://{name}.example" for name in ("alpha", "beta", "gamma", "delta", "bücher")]
WORDS = ("red giants", "dwarf stars", "Größe", "home", "東京", "read more")


def silent(step: str, done: int, total: int | None) -> None:
    """Show no progress."""


def some_web(seed: int) -> list[Entry]:
    """Pages of five domains, with links to each other, redirects, copies, and what is gone or unknown."""
    drawn = random.Random(seed)
    urls = [f"{domain}/{n}" for domain in DOMAINS for n in range(8)]
    entries = []
    for n, url in enumerate(urls):
        targets = drawn.sample(urls, 12)
        targets += [f"{domain}/{name}" for domain in DOMAINS for name in ("old", "new", "gone")]
        rels = ("", "", "nofollow")
        links = {target: link(target, drawn.choice(WORDS), drawn.choice(rels)) for target in targets}
        links |= {f"{DOMAINS[0]}/original": link(f"{DOMAINS[0]}/original", drawn.choice(WORDS))}
        if n == 9:
            links |= {f"{DOMAINS[1]}/copy": link(f"{DOMAINS[1]}/copy", "a copy")}
        entry = page(url, *links.values(), noindex=n % 11 == 0, time=10.0 + n)
        entries.append(replace(entry, simhash=-1 - (1 << n % 5)) if n % 7 == 0 else entry)
    entries.append(page(f"{DOMAINS[0]}/original", content="the same", time=1.0))
    entries.append(page(f"{DOMAINS[0]}/second", content="the same", time=2.0))
    entries.append(page(f"{DOMAINS[1]}/copy", link(urls[3], "from a copy"), content="the same", time=90.0))
    for n, domain in enumerate(DOMAINS):  # redirects lead to the next domain
        entries.append(fetched(f"{domain}/old", reason="redirect", target=f"{DOMAINS[n - 1]}/0"))
        entries.append(gone(f"{domain}/gone"))
    return entries


def url_of(entry: Entry) -> str:
    return entry.fetch.lease.url


def folder_with(path: Path, entries: Sequence[Entry]) -> Path:
    with closing(Catalog(path / "catalog.sqlite")) as catalog:
        for entry in entries:
            catalog.write([(entry, None)])
    return path


def of_fleet(tmp_path: Path, entries: Sequence[Entry], number: int, url: str = "") -> list[Path]:
    """As many folders, each of which crawled some domains; exported, computed and taken."""
    url = url or str(tmp_path / "set")
    shares = defaultdict[int, list[Entry]](list)
    for entry in entries:
        shares[DOMAINS.index(server(url_of(entry))) % number].append(entry)
    folders = [folder_with(tmp_path / f"folder{n}", share) for n, share in sorted(shares.items())]
    for folder in folders:
        export(folder, url)
    jobs.run(url, tmp_path / "work", silent, memory="500MB")
    for folder in folders:
        take(folder, url)
    return folders


def take(folder: Path, url: str) -> None:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        Taking(catalog, folder, url).step(crawling=False)


def called(folder: Path) -> dict[str, tuple[object, object]]:
    """URL to what others call it, votes and citations."""
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        numbers = list(dict(catalog.urls.all()))
        found = anchors_of(catalog, numbers, Elsewhere(folder))
        return {one.url: (one.texts, one.cited) for one in found}


def ranks(folder: Path) -> dict[str, float]:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        found = stored.load(folder / "ranks", catalog.identity)
        assert found is not None
        urls = dict(catalog.urls.all())
        return dict(zip(urls.values(), found.of(list(urls)).tolist(), strict=True))


@pytest.mark.parametrize("number", [1, 2, 4])
def test_several_folders_together_know_what_one_with_all_pages_knows(tmp_path: Path, number: int) -> None:
    entries = some_web(seed=number)
    one = folder_with(tmp_path / "one", entries)
    folders = of_fleet(tmp_path, entries, number)

    anchors = called(one)
    together = dict[str, tuple[object, object]]()
    for folder in folders:
        mine = called(folder)
        assert {url: said for url, said in mine.items() if anchors.get(url, said) != said} == {}
        together |= mine
    assert {*anchors} - {*together} == set()
    assert {*together} - {*anchors} <= {f"{DOMAINS[1]}/copy"}, "the only copy of its folder"

    with closing(Catalog(one / "catalog.sqlite", readonly=True)) as catalog:
        values = pagerank(catalog_graph(catalog)).tolist()
        expected = dict(zip(dict(catalog.urls.all()).values(), values, strict=True))
    for folder in folders:
        assert ranks(folder) == pytest.approx({url: expected[url] for url in ranks(folder)}, abs=1e-6)


def rows(url: str, table: str) -> list[tuple[object, ...]]:
    """Those of the run in force, each once, in order."""
    place = Place(url)
    run = runs.current(place)
    assert run is not None
    tables = [parquet.read_table(place.local(key, Path())) for key in run.keys(table)]
    return sorted(
        {row for found in tables for row in zip(*found.to_pydict().values(), strict=True)}, key=repr
    )


def test_duplicates_terms_and_domains_do_not_depend_on_who_crawled_what(tmp_path: Path) -> None:
    entries = some_web(seed=5)
    of_fleet(tmp_path / "one", entries, 1)
    of_fleet(tmp_path / "three", entries, 3)
    one, three = str(tmp_path / "one/set"), str(tmp_path / "three/set")

    original = url_id(f"{DOMAINS[0]}/original")
    assert {row[:2] for row in rows(one, "duplicates") if row[2] == "exact"} == {
        (url_id(f"{DOMAINS[0]}/second"), original),
        (url_id(f"{DOMAINS[1]}/copy"), original),
    }
    assert [row for row in rows(one, "duplicates") if row[2] == "near"]
    for table in ("duplicates", "anchors", "terms", "domains"):
        assert repr(rows(one, table)) == repr(rows(three, table)), table


def test_ranks_in_sql_are_those_of_arrays_and_begin_with_the_last_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder,) = of_fleet(tmp_path, some_web(seed=6), 1)
    by_arrays = ranks(folder)

    monkeypatch.setattr(arrays, "PAGE_BYTES", 1 << 40)
    jobs.run(str(tmp_path / "set"), tmp_path / "work", silent)
    take(folder, str(tmp_path / "set"))

    assert ranks(folder) == pytest.approx(by_arrays, abs=1e-7)
    assert stored.run_of(folder / "ranks") == 2


def test_links_to_what_is_not_told_yet_do_not_count_for_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = str(tmp_path / "set"), folder_with(tmp_path / "folder", some_web(seed=6)[:8])
    monkeypatch.setattr(exporter, "URLS_AT_ONCE", 3)
    monkeypatch.setattr(exporter, "FULL_BYTES", 1)
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        exporter.Exporting(catalog, folder, url).step(crawling=True)
        known = catalog.urls.count()

    jobs.run(url, tmp_path / "work", silent)
    by_arrays = dict(rows(url, "ranks"))
    monkeypatch.setattr(arrays, "PAGE_BYTES", 1 << 40)
    jobs.run(url, tmp_path / "work", silent)

    assert 0 < len(by_arrays) < known
    assert dict(rows(url, "ranks")) == pytest.approx(by_arrays, abs=1e-7)


@pytest.mark.fleet
def test_jobs_over_a_bucket_find_what_those_over_a_folder_find(bucket: object, tmp_path: Path) -> None:
    in_folder = of_fleet(tmp_path / "folder", some_web(seed=3), 2)
    in_bucket = of_fleet(tmp_path / "bucket", some_web(seed=3), 2, "s3://bucket/tables")

    assert [called(folder) for folder in in_bucket] == [called(folder) for folder in in_folder]
    assert [ranks(folder) for folder in in_bucket] == [ranks(folder) for folder in in_folder]
    assert not list(tmp_path.rglob("elsewhere.parts"))


@pytest.mark.fleet
@pytest.mark.timeout(900)  # Spark
def test_spark_finds_what_duckdb_finds(tmp_path: Path) -> None:
    needed("pyspark", "fleet")
    of_fleet(tmp_path, some_web(seed=4), 2)
    url, tables = str(tmp_path / "set"), ("duplicates", "anchors", "anchors_elsewhere", "hidden", "terms")
    before = {table: rows(url, table) for table in (*tables, "ranks")}

    jobs.run(url, tmp_path / "work", silent, engine="spark", memory="1GB", master="local[2]")

    assert {table: rows(url, table) for table in tables} == {table: before[table] for table in tables}
    assert dict(rows(url, "ranks")) == pytest.approx(dict(before["ranks"]), abs=1e-6)
    assert not list((tmp_path / "set/v1/runs").glob("*/scratch"))


# What the folder does with them


def test_ranks_of_all_folders_stay_when_its_own_would_be_due(tmp_path: Path) -> None:
    (folder,) = of_fleet(tmp_path, some_web(seed=6)[:20], 1)
    before = ranks(folder)
    folder_with(folder, some_web(seed=6)[20:])

    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        for url, run in ((str(tmp_path / "set"), 1), ("", 0)):
            ranking = Ranking(catalog, folder, {"DATASET_URL": url})
            ranking.step(crawling=False)
            assert not ranking.is_behind()
            assert stored.run_of(folder / "ranks") == run
            assert (ranks(folder)[f"{DOMAINS[0]}/0"] == before[f"{DOMAINS[0]}/0"]) == bool(run)


def test_the_index_follows_what_other_folders_say_and_unsay(tmp_path: Path) -> None:
    url, said = str(tmp_path / "set"), f"{DOMAINS[0]}/0"
    mine = folder_with(tmp_path / "mine", [page(said)])
    theirs = folder_with(tmp_path / "theirs", [page(f"{DOMAINS[1]}/0", link(said, "brown dwarfs"))])
    for expected in ({said: 1}, {}):
        for folder in (mine, theirs):
            export(folder, url)
        jobs.run(url, tmp_path / "work", silent)
        take(mine, url)
        assert found(mine, "dwarf") == expected
        folder_with(theirs, [page(f"{DOMAINS[1]}/0", time=2.0)])  # the link is gone


def found(folder: Path, word: str) -> dict[str, int]:
    """URL to how often a word counts in what others call it, once the index has followed."""
    with closing(Follower(folder)) as following:
        following.catch_up()
        assert following.is_done()
    crawl = Crawl(folder)
    with closing(crawl.catalog):
        return crawl.called(word)


# What goes wrong


RUN = """
import sys
from pathlib import Path
from test_graph_jobs import silent
from webcrawler.dataset import jobs
jobs.run(sys.argv[1], Path(sys.argv[2]), silent)
"""
TAKE = """
import sys
from pathlib import Path
from test_graph_jobs import take
take(Path(sys.argv[1]), sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "passing"),
    [*(("step", n) for n in range(1, 7)), *(("written", n) for n in (1, 4, 7)), ("complete", 1)],
)
def test_a_job_that_is_killed_leaves_the_results_before_it(tmp_path: Path, place: str, passing: int) -> None:
    url = str(tmp_path / "set")
    (folder,) = of_fleet(tmp_path, some_web(seed=8)[:12], 1)
    run = [sys.executable, "-c", RUN, url, str(tmp_path / "work")]
    paths = {"PYTHONPATH": os.pathsep.join([str(failpoints.HOOK), *sys.path])}

    armed = os.environ | failpoints.environment(f"graph.{place}:kill:{passing}") | paths
    assert subprocess.run(run, env=armed, check=False).returncode == -9

    take(folder, url)
    assert stored.run_of(folder / "ranks") == Elsewhere(folder).run == 1
    jobs.run(url, tmp_path / "work", silent)
    take(folder, url)
    assert stored.run_of(folder / "ranks") == Elsewhere(folder).run == 3, "the dead one keeps its number"
    assert not (tmp_path / "work").exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["ranked", "taken"])
def test_who_is_killed_while_it_takes_results_takes_the_rest_later(tmp_path: Path, place: str) -> None:
    (folder, _) = of_fleet(tmp_path, some_web(seed=9), 2)
    (folder / "ranks/ranks.bin").unlink()
    (folder / "elsewhere.sqlite").unlink()
    paths = {"PYTHONPATH": os.pathsep.join([str(failpoints.HOOK), *sys.path])}

    armed = os.environ | failpoints.environment(f"graph.{place}:kill:1") | paths
    run = [sys.executable, "-c", TAKE, str(folder), str(tmp_path / "set")]
    assert subprocess.run(run, env=armed, check=False).returncode == -9
    take(folder, str(tmp_path / "set"))

    assert stored.run_of(folder / "ranks") == Elsewhere(folder).run == 1
    assert called(folder)


def test_of_two_runs_the_one_that_began_later_stays(tmp_path: Path) -> None:
    place = Place(str(tmp_path))
    first, second = runs.begin(place, {}), runs.begin(place, {})
    assert (first.number, second.number) == (1, 2)
    assert runs.current(place) is None

    for run in (second, first):
        runs.complete(place, run)

        assert runs.current(place) == second


def test_a_run_is_kept_for_a_week_after_a_later_one(tmp_path: Path, clock: Clock) -> None:
    place = Place(str(tmp_path))
    for _ in range(2):
        runs.complete(place, runs.begin(place, {}))
    runs.sweep(place)
    assert sorted(path.name for path in (tmp_path / "v1/runs").iterdir()) == ["000001", "000002"]

    clock.move(8 * 24 * 3600)
    runs.sweep(place)

    assert [path.name for path in (tmp_path / "v1/runs").iterdir()] == ["000002"]
    assert runs.begin(place, {}).number == 3


def test_half_a_part_is_named_and_the_run_before_stays(tmp_path: Path) -> None:
    of_fleet(tmp_path, some_web(seed=8)[:12], 1)
    part = next((tmp_path / "set/v1/links").rglob("*.parquet"))
    whole = part.read_bytes()

    part.write_bytes(whole[:-100])
    with pytest.raises(BadInput, match=f"{part.name} is damaged"):
        jobs.run(str(tmp_path / "set"), tmp_path / "work", silent)

    part.write_bytes(whole[:-100] + bytes(100))  # as long as it was
    with pytest.raises(Unavailable, match=part.name):
        jobs.run(str(tmp_path / "set"), tmp_path / "work", silent)
    found = runs.current(Place(str(tmp_path / "set")))
    assert found is not None and found.number == 1


def test_half_a_result_is_not_taken_and_what_was_taken_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder,) = of_fleet(tmp_path, some_web(seed=8)[:12], 1)
    jobs.run(str(tmp_path / "set"), tmp_path / "work", silent)
    (part,) = (tmp_path / "set/v1/runs/000002/ranks").rglob("*.parquet")
    part.write_bytes(part.read_bytes()[:-1])

    take(folder, str(tmp_path / "set"))

    assert stored.run_of(folder / "ranks") == 1
    assert "is damaged" in caplog.text


@pytest.mark.parametrize("text", ["x", "1", "0GB", "-1GB", "1TB", "GB"])
def test_memory_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no amount of memory"):
        read_memory(text)


def test_memory_is_read_in_mb() -> None:
    assert [read_memory(text) for text in ("", "1GB", "1.5 g", "800MB")] == [0, 1024, 1536, 800]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "graph run needs DATASET_URL"),
        (("-s", "DATASET_URL={}/set"), "no tables in"),
        (("-s", "DATASET_URL=ftp://x/"), "neither a folder nor s3://"),
        (("-s", "DATASET_URL={}/set", "--memory", "much"), "no amount of memory"),
    ],
)
def test_a_run_that_cannot_be_says_so_in_one_line(
    run: Run, tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    found = run("graph", "run", *(option.format(tmp_path) for option in options))

    assert found.status == 2
    assert says in found.err and found.err.count("\n") == 1


def test_the_command_runs_all_jobs_and_takes_what_they_say(run: Run, tmp_path: Path) -> None:
    url = str(tmp_path / "set")
    folder = folder_with(tmp_path / "folder", some_web(seed=8)[:12])
    export(folder, url)
    given = ("-s", f"DATASET_URL={url}", "--json")

    made = run("graph", "run", *given)
    assert (made.status, json.loads(made.out)["run"]) == (0, 1), made.err
    taken = run("graph", "take", *given, folder=folder)
    assert (taken.status, json.loads(taken.out)) == (0, {"run": 1}), taken.err
    assert stored.run_of(folder / "ranks") == 1
