"""What watches a crawl: the metrics that are described, and the dashboard, held against a real Prometheus."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from localweb import PROJECT, Route, crawl, environment, page, sites
from marked import Mark
from ports import free_port
from prometheus_client.parser import text_string_to_metric_families
from searched import entry, publish
from starlette.testclient import TestClient
from testdata import absent
from waiting import until

from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import CAUSES
from webcrawler.web import Config, make_app

REFERENCE = (PROJECT / "docs" / "reference" / "metrics.md").read_text("utf-8")
BOARD = json.loads((PROJECT / "webcrawler/web/grafana.json").read_text("utf-8"))
LOCAL = ("127.0.0.1", 50_000)
QUERIES = [target["expr"] for panel in BOARD["panels"] for target in panel.get("targets", ())]
MAY_STAY_ZERO = {  # in a crawl in which nothing fails, or between two looks of Prometheus
    "webcrawler_batch_full",
    "webcrawler_batch_queue",
    "webcrawler_checks_due",
    "webcrawler_checks_queued",
    "webcrawler_downloads",
    "webcrawler_frontier_refused_total",
    "webcrawler_frontier_retrying_urls",
    "webcrawler_index_lag_changes",
    "webcrawler_parser_pages",
    "webcrawler_parsers_killed_total",
    "webcrawler_searches_partial_total",
}


def described() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Kind and labels of each metric of the reference."""
    rows = re.findall(r"(?m)^\| `(webcrawler_\w+)` \| (\w+) \| ([\w, ]*) ?\|", REFERENCE)
    return {name: (kind, tuple(labels.replace(",", " ").split())) for name, kind, labels in rows}


def test_the_reference_has_each_metric_of_the_endpoint_with_its_kind(tmp_path: Path) -> None:
    publish(tmp_path, [entry(("http://a.test/", "", "x"))])
    with TestClient(make_app(Config(tmp_path)), "http://localhost", client=LOCAL) as web:
        text = web.get("/metrics").text

    families = [one for one in text_string_to_metric_families(text) if not one.name.endswith("_created")]
    found = {one.name + "_total" * (one.type == "counter"): one for one in families}
    assert set(found) == set(described())
    for name, (kind, labels) in described().items():
        assert found[name].type == kind, name
        used = {label for sample in found[name].samples for label in sample.labels} - {"le"}
        assert used <= set(labels), name


def test_the_reference_has_each_cause() -> None:
    causes = REFERENCE.partition("## What holds the crawl back")[2]

    assert re.findall(r"(?m)^\| `([\w-]+)` \|", causes) == list(CAUSES)


def test_the_dashboard_asks_for_nothing_that_is_not_described() -> None:
    asked = {name for query in QUERIES for name in re.findall(r"webcrawler_\w+", query)}
    exposed = {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked}

    assert exposed <= set(described())


def test_the_dashboard_can_be_fetched_from_the_server(tmp_path: Path) -> None:
    with TestClient(make_app(Config(tmp_path)), "http://localhost") as web:
        assert web.get("/grafana.json").json() == BOARD


@pytest.mark.slow
def test_after_a_crawl_the_metrics_say_what_the_catalog_says(tmp_path: Path) -> None:
    names = [f"/{n}" for n in range(5)]
    routes: dict[str, Route] = {name: page(f"{name}/") for name in names}
    routes |= {"/": page(*names, "/copy", "/lost"), "/copy": routes["/0"]}
    with sites(web=routes) as web:
        crawled = crawl(tmp_path, "index", "-a", f"seeds={web['web'].url}/", BUDGET_REPEATS=0)
    with TestClient(make_app(Config(tmp_path)), "http://localhost", client=LOCAL) as client:
        families = {one.name: one for one in text_string_to_metric_families(client.get("/metrics").text)}
    counted = {one.labels["outcome"]: one.value for one in families["webcrawler_fetches"].samples}
    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
        outcomes = catalog.fetches.outcomes()

    assert counted == outcomes
    assert counted == {"done/document": 6, "done/duplicate": 1, "failed/not-found": 6}
    assert len(crawled.documents()) == 6 + 1


# ---- Prometheus


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())


def answers(url: str) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            return bool(fetched(url))
        except (OSError, urllib.error.URLError):
            return False

    return ask


@contextmanager
def running(*command: str, folder: Path, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{Path(command[0]).name}.out").open("ab") as log:
        process = subprocess.Popen(command, cwd=PROJECT, env=environ, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


class Watched(NamedTuple):
    """A crawl of the demo web, and one of a site whose pages wait for the ranker; Prometheus watched both."""

    folder: Path
    server: str  # addresses
    prometheus: str
    began: float


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    for program in ("prometheus", "promtool"):
        if not shutil.which(program):
            absent(f"{program} is not installed")
    folder, mark = tmp_path_factory.mktemp("watched"), Mark()
    environ = environment(folder / "crawl", PARSER_WORKERS=1, REFRESH_AT_MOST=0)
    serve, port = free_port(), free_port()
    server, prometheus = f"http://127.0.0.1:{serve}", f"http://127.0.0.1:{port}"
    target = {"job_name": "webcrawler", "static_configs": [{"targets": [f"127.0.0.1:{serve}"]}]}
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [target]}
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    command = [sys.executable, "-m", "scrapy"]
    with (
        running(*command, "serve", "--port", str(serve), folder=folder, environ=environ),
        running(
            "prometheus",
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/prometheus",
            f"--web.listen-address=127.0.0.1:{port}",
            folder=folder,
            environ=dict(os.environ),
        ),
    ):
        until(answers(f"{server}/healthz"), "the server")
        until(answers(f"{prometheus}/-/ready"), "Prometheus")
        began = time.time()  # noqa: TID251 - Prometheus' clock
        crawl = [*command, "crawl", "index", "-a", "mode=pagerank"]
        with sites(slow={"/": page(*"abcdefgh"), "*": lambda _: page()}) as opened:
            slow = [f"seeds={opened['slow'].url}/", "-s", "ADDRESSES_ALLOWED=127.0.0.1/32"]
            for arguments in (["refresh=yes", "-a", "max_time=25"], [*slow, "-s", "FRONTIER_DELAY=2"]):
                done = subprocess.run(
                    [*crawl, "-a", *arguments],
                    cwd=PROJECT,
                    env=environ | mark.environment,
                    capture_output=True,
                    text=True,
                )
                assert done.returncode == 0, done.stderr[-3000:]
                assert not mark.leftovers(120)  # what works beside a crawl ends after it
        for _ in range(3):
            fetched(f"{server}/search?q=biology")
        # What was there two seconds ago, the last step has seen.
        last = urlencode({"query": "webcrawler_answers_cached_total offset 2s > 1"})
        until(lambda: json.loads(fetched(f"{prometheus}/api/v1/query?{last}"))["data"]["result"], "all of it")
        yield Watched(folder / "crawl", server, prometheus, began)


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_panel_shows_data_after_a_crawl(watched: Watched, query: str) -> None:
    query_range = {"start": watched.began, "end": time.time(), "step": 1}  # noqa: TID251
    asked = urlencode({"query": query.replace("$__rate_interval", "30s"), **query_range})

    found: dict[str, Any] = json.loads(fetched(f"{watched.prometheus}/api/v1/query_range?{asked}"))

    assert found["status"] == "success"
    values = [float(value) for series in found["data"]["result"] for _, value in series["values"]]
    shown = [value for value in values if not math.isnan(value)]
    assert shown
    assert any(shown) or MAY_STAY_ZERO.intersection(re.findall(r"webcrawler_\w+", query))


@pytest.mark.slow
def test_promtool_has_nothing_to_say_against_the_metrics(watched: Watched) -> None:
    text = fetched(f"{watched.server}/metrics")

    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)

    assert (done.returncode, done.stdout + done.stderr) == (0, "")
