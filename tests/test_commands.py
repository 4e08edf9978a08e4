"""What people type: answers on stdout, one clear line on stderr for what was asked wrongly, exit status."""

from __future__ import annotations

import importlib
import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import networkx
import pytest
from conftest import Answered, Run
from crawled import crawled, fetched, link
from frontiers import done, fail, lease_one, let_pass, links, page
from localweb import PROJECT, scrapy, sites
from localweb import page as page_with_links
from ports import dead_server
from pyarrow import parquet

from webcrawler import clock
from webcrawler.archive.catalog import Catalog, _database
from webcrawler.clock import now
from webcrawler.commands import graph
from webcrawler.connection import connect
from webcrawler.crawl.robots import RobotsCache, judge
from webcrawler.evaluation import Recorded, read
from webcrawler.frontier import Frontier, Politeness, ordering

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def told(run: Run, *arguments: str, folder: Path) -> Any:
    """The JSON that a command of the frontier says."""
    return json.loads(run("frontier", *arguments, "--json", folder=folder).out)


def export(run: Run, kind: str, file: Path, folder: Path) -> Answered:
    return run("graph", "export", "--format", kind, str(file), folder=folder)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A page done, one failed, one leased by a dead worker, and three that wait; of mode fifo."""
    folder = tmp_path_factory.mktemp("filled")
    with connect(None, folder) as connection:
        frontier = Frontier(connection.client, ordering("fifo"), politeness=Politeness(delay=0.0))
        frontier.open("fifo")
        frontier.discover(links(A))
        lease = lease_one(frontier)
        frontier.fetched([])
        with closing(Catalog(folder / "catalog.sqlite")) as catalog:
            catalog.write([(page(lease, *links(B, C, A + "x")), None)])
        frontier.complete([done(lease, B, C, A + "x", "http://d.test/", "http://e.test/")])
        fail(frontier, lease_one(frontier), "not-found", retry=False)
        lease_one(frontier)
        yield folder


# ---- asked wrongly: one clear line, exit status 2


def assert_told_off(answer: Answered, line: str) -> None:
    assert answer.status == 2, answer
    assert answer.out == ""
    assert answer.err.count("\n") == 1, answer.err
    assert re.search(line, answer.err), answer.err
    assert len(answer.err) < 600


def test_a_redis_that_does_not_answer(run: Run) -> None:
    url = f"{dead_server()}/0".replace("http://", "redis://user:secret@")

    for command in (("crawl", "index", "-a", f"seeds={A}"), ("frontier", "stats")):
        answer = run(*command, "-s", f"REDIS_URL={url}")
        assert_told_off(answer, "Redis at redis://127.0.0.1:.* does not answer.*REDIS_URL")
        assert "secret" not in answer.err


def test_a_data_folder_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    for command in (("crawl", "index", "-a", f"seeds={A}"), ("frontier", "stats")):
        assert_told_off(run(*command, folder=tmp_path / "file" / "crawl"), "cannot write.*CRAWL_DIR")


def test_another_mode_on_a_frontier_that_is_not_empty(run: Run, filled: Path) -> None:
    answer = run("crawl", "index", "-a", "mode=breadth", folder=filled)

    assert_told_off(answer, "filled with mode=fifo: .*--rescore")


def test_a_query_of_a_megabyte(run: Run, tmp_path: Path) -> None:
    """In parts: the kernel takes no single argument as long."""
    assert_told_off(run("search", *["word " * 20_000] * 10), "query")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("crawl", "index", "-a", "seeds=nonsense"), "'nonsense' is not a URL; write http"),
        (("crawl", "index", "-a", "seeds=@no/such/file"), "cannot read URLs from no/such/file"),
        (
            ("crawl", "index", "-a", "mode=deepest"),
            "unknown mode 'deepest': choose one of adaptive, anchor, backlink, best-first, blend, "
            "blend-in-turn",
        ),
        (("crawl", "index", "-a", "sedes=http://a.test/"), "no such argument: sedes; there are .*seeds"),
        (("crawl", "index", "-a", "max_pages=none"), "max_pages=none is not a whole number"),
        (("crawl", "index", "-a", "max_time=-1"), "max_time=-1"),
        (("crawl", "index", "-s", "ADDRESSES_ALLOWED=everything"), "ADDRESSES_ALLOWED: .*127.0.0.1/32"),
        (("crawl", "index", "-s", "FRONTIER_DELAY=soon"), "FRONTIER_DELAY=soon"),
        (("crawl", "index", "-s", "REDIS_FSYNC=sometimes"), "REDIS_FSYNC"),
        (("crawl", "index", "-s", "LOG_FILE=/proc/nope"), "cannot write to /proc"),
        (("crawl", "index", "-O", "/proc/nope.jsonl"), "cannot write to /proc"),
        (("crawl", A, "-s", "PROTOCOLS=http;https"), "PROTOCOLS=http;https: there are .*put commas between"),
        (("crawl", A, "-s", "TRAP_PATHS=/a/ /b/"), "TRAP_PATHS=/a/ /b/ is not valid: put commas between"),
        (("crawl", A, "-s", "FORMS=a.test;b.test"), "'a.test;b.test' is not a pattern of URLs"),
        (("crawl", A, "-a", "domains=a.test;b.test"), "the domain 'a.test;b.test' is not a host"),
        (("crawl", "index", "-s", "FRONTIER_PARTITIONS=100000"), "partitions, from 0 to 1,024"),
        (("frontier", "stats", "-s", "FRONTIER_PARTITIONS=100000"), "partitions, from 0 to 1,024"),
        (("crawl", "indx"), "no spider is called 'indx'; there are index, realtime"),
        (("crawl", "index", "realtime"), "name one spider"),
        (("crawl", "ftp://a.test/"), "ftp://a.test/ is not fetched: set PROTOCOLS=ftp,http,https"),
        (("crawl", A, "http://[/,x"), r"'http://\[/,x' is not a URL"),
        (("crawl", A, "-a", f"seeds={B}"), "name the seeds once"),
        (("crawl", A, "@list.txt"), "@FILE stands alone"),
        (("crawl", "@no-such.txt"), "cannot read URLs from no-such.txt"),
        (("frontier",), "stats.*peek.*explain.*clear"),
        (("frontier", "nonsense"), "stats.*peek.*explain.*clear"),
        (("frontier", "stats", "nonsense"), "stats.*peek"),
        (("frontier", "explain"), "explain URL"),
        (("frontier", "explain", "nonsense"), "not a URL"),
        (("frontier", "peek", "-n", "-1"), "-1"),
        (("frontier", "stats", "--jsno"), "unknown option --jsno"),
        (("graph",), "stats.*export"),
        (("graph", "nonsense"), "stats.*export"),
        (("graph", "export"), "export"),
        (("graph", "export", "--format", "pdf", "x"), "no format 'pdf': .*graphml"),
        (("graph", "stats"), "nothing was crawled into"),
        (("graph", "export", "x"), "nothing was crawled into"),
        (("reindex",), "nothing was crawled into"),
    ],
    ids=" ".join,
)
def test_a_command_asked_for_wrongly(run: Run, arguments: tuple[str, ...], line: str) -> None:
    assert_told_off(run(*arguments), line)


OTHER = "is of another version of this program"


@pytest.mark.parametrize(
    "arguments",
    [
        "crawl",
        "crawl realtime -a query=owl",
        "frontier rebuild",
        "graph stats",
        "export x.warc.gz",
        "reindex",
    ],
)
def test_a_catalog_of_another_version(run: Run, tmp_path: Path, arguments: str) -> None:
    (tmp_path / "crawl").mkdir()
    Catalog(tmp_path / "crawl/catalog.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "crawl/catalog.sqlite")) as db:
        db.execute("PRAGMA user_version = 999")

    assert_told_off(run(*arguments.split(), folder=tmp_path / "crawl"), OTHER)


def test_a_catalog_that_another_process_does_not_let_go(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_database, "BUSY_SECONDS", 0.0)
    monkeypatch.setattr(clock, "CATALOG_WAIT_SECONDS", 0.01)
    Catalog(tmp_path / "catalog.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")

        assert_told_off(run("crawl", folder=tmp_path), "cannot be written: database is locked")


@pytest.mark.slow
def test_it_is_so_for_a_process_of_its_own_too(tmp_path: Path) -> None:
    """No log before the line, no traceback after it."""
    process = scrapy("crawl", "index", "-a", "seeds=nonsense", folder=tmp_path / "crawl")
    out, err = process.communicate(timeout=60)

    assert_told_off(Answered(process.returncode, out, err), "is not a URL")
    assert not (tmp_path / "crawl").exists()  # nothing is made for somebody who asked for nothing


# ---- scrapy frontier


def test_frontier_stats_add_up(run: Run, filled: Path) -> None:
    answer = run("frontier", "stats", "--json", folder=filled)

    assert (answer.status, answer.err) == (0, "")
    counts = {"seen": 6, "queued": 3, "leased": 1, "done": 1, "failed": 1, "quarantined": 0, "servers": 5}
    assert json.loads(answer.out) == {
        **counts,
        "reasons": {"document": 1, "not-found": 1},
        "refused": {},
        "held_back": "No crawl runs on this data folder.",
        "held_back_by": "idle",
        "scope": {"include": [], "exclude": [], "removed": [], "domains": []},
    }


def test_frontier_stats_for_people_say_the_same(run: Run, filled: Path) -> None:
    out = run("frontier", "stats", folder=filled).out

    assert out.startswith("No crawl runs on this data folder.\n\nseen ")
    assert re.search(r"^seen +6$", out, re.MULTILINE)
    assert re.search(r"^  not-found +1$", out, re.MULTILINE)


def test_frontier_stats_of_an_empty_folder_are_zeros(run: Run) -> None:
    stats = json.loads(run("frontier", "stats", "--json").out)

    counts = {name: value for name, value in stats.items() if isinstance(value, int)}
    assert set(counts.values()) == {0} and len(counts) == 7


@pytest.mark.parametrize("words", [("stats",), ("peek",), ("explain", A), ("again", A), ("clear",)])
def test_a_frontier_that_does_not_exist_is_named_with_those_that_do(
    run: Run, filled: Path, words: tuple[str, ...]
) -> None:
    answer = run("frontier", *words, "--name", "nosuch", folder=filled)

    assert_told_off(answer, "there is no frontier named 'nosuch'; those that exist: index\n")


def test_frontier_peek_shows_what_comes_next(run: Run, filled: Path) -> None:
    answer = run("frontier", "peek", "-n", "2", folder=filled)

    assert answer == (0, f"{A}x\nhttp://d.test/\n", "")
    assert told(run, "peek", folder=filled)[2] == "http://e.test/"


def test_frontier_quarantined_shows_what_killed_workers_when_and_how_often(run: Run, tmp_path: Path) -> None:
    assert run("frontier", "quarantined").out == "nothing is quarantined\n"
    with connect(None, tmp_path) as connection:
        for n in range(5):
            worker = Frontier(connection.client, ordering("fifo"), worker=f"worker{n}")
            worker.open("fifo")
            worker.discover(links(A))
            worker.expire(alive_seconds=5)
            lease_one(worker)
            let_pass(worker, 6)  # it says nothing more
            worker.expire()

        (found,) = told(run, "quarantined", folder=tmp_path)
        shown = run("frontier", "quarantined", folder=tmp_path).out
        state = told(run, "explain", A, folder=tmp_path)["state"]

    when = datetime.fromtimestamp(found["quarantined_ms"] // 1000, UTC)
    assert (found["url"], found["times"], found["kills"]) == (A, 5, "workers")
    assert shown == f"{when:%Y-%m-%d %H:%M:%S}+00:00 5 workers {A}\n"
    assert state == "quarantined"


def test_frontier_explain_joins_what_redis_and_the_catalog_know(run: Run, filled: Path) -> None:
    explained = [told(run, "explain", url, folder=filled) for url in (A, B, C, A + "x", "http://z.test/")]
    shown = run("frontier", "explain", A, folder=filled).out

    states = ["done/document", "decided", "leased", "queued", "unseen"]  # this machine's catalog lacks B
    assert [found["state"] for found in explained] == states
    assert explained[0]["last_fetch"]["status"] == 200
    assert explained[0]["refresh"]["position"] == 1
    assert shown.startswith("url ")
    assert "changes about every" in " ".join(shown.split())


def test_frontier_explain_tells_of_what_a_priority_is_made(run: Run, filled: Path) -> None:
    found, leased = (told(run, "explain", url, folder=filled)["priority"] for url in (A + "x", C))

    made_of = {"mode": "fifo", "order": "by mode", "value": 0, "number": 4, "note": 0, "ahead": 0}
    assert found == {**made_of, "in_links": 1, "linked_from": [A]}
    assert leased == {}


def test_frontier_explain_tells_the_line_of_robots_txt_that_decides(run: Run, tmp_path: Path) -> None:
    def explain(url: str) -> Any:
        return told(run, "explain", url, folder=tmp_path)["robots"]

    with connect(None, tmp_path) as connection:
        frontier = Frontier(connection.client, ordering("fifo"))
        polite, keys = frontier.politeness, partial(frontier.shared_key, "robots")
        cache = RobotsCache(frontier.client, keys, "webcrawler", polite)
        body = b"User-agent: *\nDisallow: /private/"
        cache.put(A[:-1], judge(200, body, "webcrawler", None, now(), polite), now())
        cache.put(B[:-1], judge(503, b"", "webcrawler", None, now(), polite), now())

        found = explain(A + "private/page")
        assert (found["says"], found["line"], found["status"]) == ("disallowed", "Disallow: /private/", 200)
        assert explain(A + "page")["says"] == "allowed"
        assert explain(B) | {"fetched": 0} == {"says": "unreachable", "line": "", "status": 503, "fetched": 0}
        assert explain("http://nobody.test/") == {"says": "not asked yet"}
        shown = " ".join(run("frontier", "explain", A + "private/page", folder=tmp_path).out.split())
        assert "robots: says disallowed line Disallow: /private/ status 200" in shown


@pytest.mark.slow
def test_rescore_goes_on_in_another_mode(run: Run, tmp_path: Path) -> None:
    """The URLs are of a special address, so that the crawl refuses them all and needs no network."""
    with connect(None, tmp_path / "crawl") as connection:
        frontier = Frontier(connection.client, ordering("random"))
        frontier.open("random")
        frontier.discover(links(*(f"http://127.0.0.9/{n}" for n in range(20))))
        assert_told_off(run("crawl", "index", "-a", "mode=fifo"), "--rescore")

        done = run("crawl", "index", "--rescore", "-a", "mode=fifo", "-s", "FRONTIER_DELAY=0")

        assert done.status == 0, done.err
        frontier.open("fifo")
        assert json.loads(run("frontier", "stats", "--json").out)["reasons"] == {"address-refused": 20}


def test_frontier_clear_forgets_and_refuses_while_a_crawl_lives(run: Run, tmp_path: Path) -> None:
    with connect(None, tmp_path / "crawl") as connection:
        frontier = Frontier(connection.client, ordering("fifo"))
        frontier.open("fifo")
        frontier.discover(links(A, B))
        frontier.expire(alive_seconds=60)
        assert_told_off(run("frontier", "clear"), "stop it")
        frontier.leave()

        assert json.loads(run("frontier", "clear", "--json").out) == {"forgotten": 2}
        assert json.loads(run("frontier", "stats", "--json").out)["seen"] == 0


# ---- scrapy graph


def test_graph_stats(run: Run, filled: Path) -> None:
    answer = run("graph", "stats", "--json", folder=filled)

    assert json.loads(answer.out) == {"servers": 1, "documents": 1, "duplicates": 0, "links": 3}
    assert re.search(r"^links +3$", run("graph", "stats", folder=filled).out, re.MULTILINE)


def test_graph_export_as_graphml(run: Run, filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "graph.graphml"

    assert run("graph", "export", str(file), folder=filled).status == 0

    graph = networkx.read_graphml(file)
    urls = networkx.get_node_attributes(graph, "url")
    assert {(urls[s], urls[t]) for s, t in graph.edges} == {(A, B), (A, C), (A, A + "x")}
    assert {urls[n] for n, fetched in graph.nodes(data="fetched") if fetched} == {A}


def test_what_xml_forbids_is_left_out_of_the_graph(run: Run, tmp_path: Path) -> None:
    """Catalogs of earlier versions have it in texts of links."""
    odd = "o\ufffen\uffff\x1b\0\x0be \ufdd0two\U0010ffff"
    crawled(tmp_path / "web", fetched(A, link(B, odd)))

    for kind in ("graphml", "edgelist", "parquet"):
        assert export(run, kind, tmp_path / kind, tmp_path / "web").status == 0

    ((_, _, anchor),) = networkx.read_graphml(tmp_path / "graphml").edges(data="anchor")
    assert anchor == "on e two"


def test_graph_export_as_edge_list(run: Run, filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "edges.tsv"

    assert export(run, "edgelist", file, filled).status == 0

    edges = [f"{A}\t{target}\tnot-fetched\t" for target in (B, C, A + "x")]
    assert file.read_text().splitlines()[1:] == edges
    assert list(tmp_path.iterdir()) == [file]  # nothing half is left beside it


def test_an_exported_edge_list_is_the_same_graph_as_the_crawl(run: Run, tmp_path: Path) -> None:
    """Pages that were not fetched are in the file, and count in neither."""
    crawled(tmp_path / "web", fetched(A, link(B), link(C)), fetched(B, link(A), link(A + "x")), fetched(C))

    assert export(run, "edgelist", tmp_path / "e.tsv", tmp_path / "web").status == 0

    crawl, exported = read(tmp_path / "web"), read(tmp_path / "e.tsv")
    assert f"{B}\t{A}x\tnot-fetched\t\n" in (tmp_path / "e.tsv").read_text()
    assert _links(exported) == _links(crawl) == {(A, B), (A, C), (B, A)}


def _links(recorded: Recorded) -> set[tuple[str, str]]:
    ends = zip(recorded.graph.sources.tolist(), recorded.graph.targets.tolist(), strict=True)
    return {(recorded.urls[source], recorded.urls[target]) for source, target in ends}


def test_graph_export_as_parquet(run: Run, filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "edges.parquet"

    assert export(run, "parquet", file, filled).status == 0

    table = parquet.read_table(file)
    names = ["source", "target", "source_url", "target_url", "anchor", "rel", "target_fetched"]
    assert table.column_names == names
    ends = [(row["source"], row["target"], row["target_url"]) for row in table.to_pylist()]
    assert ends == [(1, 2, B), (1, 3, C), (1, 4, A + "x")]
    assert list(tmp_path.iterdir()) == [file]


def test_parquet_comes_in_row_groups_so_that_memory_stays_bounded(tmp_path: Path) -> None:
    edges = ((1, target, A, B, "", "", 0) for target in range(graph.ROW_GROUP + 1))

    graph.write_parquet(edges, tmp_path / "edges.parquet")

    described = parquet.ParquetFile(tmp_path / "edges.parquet").metadata
    rows = [described.row_group(i).num_rows for i in range(described.num_row_groups)]
    assert rows == [graph.ROW_GROUP, 1]


def test_graph_export_as_parquet_without_pyarrow(
    run: Run, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed

    answer = export(run, "parquet", tmp_path / "x", filled)

    assert_told_off(answer, r'Parquet needs pyarrow: pip install "scrapy-webcrawler\[parquet\]"')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["graphml", "edgelist", "parquet"])
@pytest.mark.parametrize("name", ["file/x", "graph"], ids=["below a file", "a folder"])
def test_graph_export_to_where_nothing_can_be_written_leaves_nothing(
    run: Run, filled: Path, tmp_path: Path, kind: str, name: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "graph").mkdir()

    assert_told_off(export(run, kind, tmp_path / name, filled), "cannot write")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "graph"]


@pytest.mark.slow
def test_scrapys_own_commands_know_nothing_of_the_frontier(tmp_path: Path) -> None:
    """`scrapy fetch` and `scrapy shell` in the project folder fetch one page, and leave no data folder."""
    with sites(site={"/": page_with_links("/next")}) as opened:
        process = scrapy("fetch", "--nolog", f"{opened['site'].url}/", folder=tmp_path / "crawl")
        fetched, _ = process.communicate(timeout=60)

    assert process.returncode == 0
    assert "to /next" in fetched
    assert "/next" not in opened["site"].asked
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("command", "work", "arguments"),
    [("rebuild", "rebuild", ()), ("import", "import_files", ("a.warc.gz",)), ("merge", "merge", ("a", "b"))],
)
def test_ctrl_c_in_a_command_that_makes_much_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str, work: str, arguments: tuple[str, ...]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt  # no signal: those who begin in the background ignore it

    monkeypatch.setattr(importlib.import_module(f"webcrawler.commands.{command}"), work, interrupted)

    ended = run(command, *arguments)

    assert (ended.status, ended.out) == (1, "")
    assert re.fullmatch(r"\w+ing .* …\ninterrupted: .*\n", ended.err)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["scrapy.shell", "webcrawler.commands.base"])
def test_ctrl_c_before_a_command_has_begun_is_one_line(module: str) -> None:
    """From the import of the settings on; what Scrapy imports before, nobody can answer for."""
    code = f"""
import os, signal, sys
from scrapy import cmdline
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(lambda event, values: event == "import" and values[0] == {module!r} and interrupt())
cmdline.execute(["scrapy", "list"])
"""

    python = [sys.executable, "-c", code]
    ended = subprocess.run(python, cwd=PROJECT, capture_output=True, text=True, timeout=60)

    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "interrupted\n")
