"""What a cluster may refuse, and who may die: in the end it has what the catalogs have."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import until

from webcrawler.opensearch import mapping
from webcrawler.opensearch.buckets import BUCKETS, opened

from .cutting import ANSWER, REQUEST, Cut, cutting
from .opensearch import Cluster as Nodes
from .opensearch import cluster
from .sunk import differences, documents, drain, following, gone, page, pages, sink, sunk, write

pytestmark = [pytest.mark.opensearch, pytest.mark.timeout(900)]  # nodes start slowly beside other tests


@contextmanager
def views(folder: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of views that writes to that cluster, whatever becomes of it."""
    settings = {"SINK_URL": url, "RANKER_ENABLED": "no"}
    command = [sys.executable, "-m", "webcrawler.views", str(folder)]
    with (folder / "log").open("ab") as log:
        started = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log)
    assert started.stdin
    started.stdin.write(json.dumps(settings).encode())
    started.stdin.close()
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def count(nodes: Nodes, name: str) -> int:
    try:
        return int(nodes.ask(f"/{name}-pages-000001/_count")["count"])
    except OSError:
        return 0


def test_views_that_are_killed_while_they_write_lose_nothing(opensearch: Nodes, tmp_path: Path) -> None:
    name, url = "killed", opensearch.url("killed")
    write(tmp_path, *pages(900))
    with views(tmp_path, url) as process:
        until(lambda: count(opensearch, name), "the first pages")
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert count(opensearch, name) < 900

    write(tmp_path, page("http://a.test/5", at=100_000.0, body="changed meanwhile"))
    with views(tmp_path, url) as process:
        assert process.wait() == 0

    assert differences(opensearch, name, tmp_path).none


def test_crawl_goes_on_and_ends_without_a_cluster(tmp_path: Path) -> None:
    with sink_of_nobody(tmp_path) as process:
        until(lambda: "no node of the cluster answers" in (tmp_path / "log").read_text(), "one line")

        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


@contextmanager
def sink_of_nobody(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    from ports import dead_server

    with views(write(folder, *pages(2)), f"{dead_server()}/nobody") as process:
        yield process


def test_what_a_busy_cluster_turns_away_is_sent_again(tmp_path: Path) -> None:
    busy = {"thread_pool__write__queue_size": "1", "thread_pool__write__size": "1"}
    with cluster(tmp_path / "nodes", **busy) as nodes:
        folders = [write(tmp_path / str(n), *pages(150, site=f"http://{n}.test")) for n in range(6)]
        told: list[str] = []

        def work(folder: Path) -> None:
            wait = threading.Event().wait
            with sink(folder, nodes.url("busy"), folder.name, pause=wait, tell=told.append) as opened:
                drain(opened)

        threads = [threading.Thread(target=work, args=(folder,)) for folder in folders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert any("429" in why or "reject" in why for why in told)
        assert differences(nodes, "busy", *folders).none


def test_sink_waits_while_the_disks_of_the_cluster_are_full(opensearch: Nodes, tmp_path: Path) -> None:
    name = "full"
    sunk(write(tmp_path, *pages(2)), opensearch.url(name))
    write(tmp_path, page("http://a.test/later"))
    told: list[str] = []

    def block(on: bool | None) -> None:
        blocks = {"index.blocks.read_only_allow_delete": on}
        opensearch.ask(f"/{name}-pages-000001,{name}-named-000001/_settings", "PUT", blocks)

    def free(seconds: float) -> None:
        if len(told) > 2:
            block(None)

    block(True)
    with sink(tmp_path, opensearch.url(name), pause=free, tell=told.append) as opened:
        drain(opened)

    assert "block" in told[0]
    assert differences(opensearch, name, tmp_path).none


def test_body_of_a_page_that_is_too_large_for_a_node_is_left_out(tmp_path: Path) -> None:
    with cluster(tmp_path / "nodes", http__max_content_length="300kb") as nodes:
        large = " ".join(f"word{n}" for n in range(60_000))
        write(tmp_path, *pages(3), page("http://a.test/large", title="Very large", body=large))

        sunk(tmp_path, nodes.url("large"))

        found = {one["url"]: one for one in documents(nodes, "large", "pages")}
        assert len(found) == 4
        large = found["http://a.test/large"]
        fields = {field for name in BUCKETS if name in large for field in opened({name: large[name]})[name]}
        assert "title" in fields
        assert "body" not in fields


@pytest.mark.parametrize(
    "cut",
    [
        Cut(b"POST /_bulk", REQUEST, 50),
        Cut(b"POST /_bulk", REQUEST, 5_000),
        Cut(b"POST /_bulk", ANSWER, 0),
        Cut(b"POST /_bulk", ANSWER, 300),
        Cut(b"PUT ", ANSWER, 0, times=5),  # indexes that it makes, and how far it has come
        Cut(b"", ANSWER, 10, times=10),
    ],
)
def test_connection_that_is_cut_loses_nothing(opensearch: Nodes, tmp_path: Path, cut: Cut) -> None:
    name = tmp_path.name
    left = [gone(f"http://a.test/{n}", at) for n in range(9) for at in (100_000.0, 200_000.0)]
    write(tmp_path, *pages(100), *left)
    with cutting(opensearch.nodes[0].port, cut) as way:
        with following(tmp_path, f"http://127.0.0.1:{way.port}/{name}") as finish:
            finish()

        assert way.cuts == cut.times
    assert differences(opensearch, name, tmp_path).none


def test_searches_change_over_while_another_folder_writes_and_lose_sight_of_nothing(
    opensearch: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, url, alias = "over", opensearch.url("over"), "/over-pages"
    ann, bob = (write(tmp_path / one, *pages(100, site=f"http://{one}.test")) for one in ("ann", "bob"))
    sunk(ann, url), sunk(bob, url)
    seen = [len(documents(opensearch, name, "pages"))]
    monkeypatch.setattr(mapping, "VERSION", 999)

    with following(ann, url) as finish:
        finish()
        opensearch.ask("/over-pages-000002/_settings", "PUT", {"index.refresh_interval": "-1"})
        with following(bob, url) as finish_other:
            while "over-pages-000002" not in opensearch.ask(f"/_alias{alias}"):
                write(bob, page(f"http://bob.test/later/{len(seen)}"))
                seen.append(opensearch.ask(f"{alias}/_count")["count"])
            seen.append(opensearch.ask(f"{alias}/_count")["count"])
            finish_other()

    assert min(seen) == seen[0] == 200
    assert differences(opensearch, name, ann, bob).none
