"""Other people's spiders on our frontier: as with plain Scrapy, and nothing lost when they are killed.

Each is written after Scrapy's documentation (tests/foreign), and crawls within a project of
`scrapy startproject` to which one line was added.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from inprocess import command
from localweb import PROJECT, Answer, Route, Site, environment, redirect, robots, sites
from PIL import Image
from ports import dead_server
from scrapy import Spider
from scrapy_redis.spiders import RedisSpider
from waiting import until

from webcrawler.connection import connect
from webcrawler.crawl.dropin.project import request_of
from webcrawler.frontier import Frontier, inspect, ordering

ADDON = 'ADDONS = {"webcrawler.addon.WebCrawlerAddon": 500}'
PAGES = 8


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project, the spiders, and the one line."""
    folder = tmp_path_factory.mktemp("foreign")
    assert command("startproject", "tutorial", str(folder), folder=folder).status == 0
    foreign = Path(__file__).parent / "foreign"
    shutil.copy(foreign / "spiders.py", folder / "tutorial/spiders/copied.py")
    for name in ("pipelines.py", "fingerprints.py"):
        shutil.copy(foreign / name, folder / "tutorial" / name)
    settings = folder / "tutorial/settings.py"
    text = settings.read_text("utf-8")
    assert "ADDONS = {}" in text
    settings.write_text(
        text.replace("ADDONS = {}", ADDON).replace("DOWNLOAD_DELAY = 1", "DOWNLOAD_DELAY = 0")
        + '\nITEM_PIPELINES = {"tutorial.pipelines.LinesPipeline": 300}\n'
    )
    return folder


@dataclass(eq=False)
class Run:
    """A spider at work, and what it has left behind."""

    folder: Path
    process: subprocess.Popen[str] | None = None
    log: str = ""

    def end(self, seconds: float = 240) -> Run:
        assert self.process
        try:
            self.log = self.process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it does not end:\n{self.process.communicate()[1]}") from None
        assert self.process.returncode == 0, self.log
        return self

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.communicate()

    @property
    def items(self) -> list[dict[str, Any]]:
        path = self.folder / "items.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def stat(self, name: str) -> int:
        """Of the statistics in the log; 0 where it is not among them."""
        found = re.search(rf"^[ {{]'{name}': (\d+)", self.log, re.MULTILINE)
        return int(found[1]) if found else 0

    def states(self, name: str) -> dict[str, Any]:
        with connect(None, self.folder) as connection:
            return inspect.stats(Frontier(connection.client, ordering("priority"), name))


Start = Callable[..., Run]


@pytest.fixture
def start(project: Path, tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def run(spider: str, *arguments: str, plainly: bool = False, **settings: object) -> Run:
            folder = tmp_path / ("plain" if plainly else "ours")
            folder.mkdir(exist_ok=True)
            given = {"ADDONS": "{}"} if plainly else {"FRONTIER_BACKOFF": 0.05}
            words = [f"{name}={value}" for name, value in {**given, **settings}.items()]
            command = ["crawl", spider, *arguments, *(part for word in words for part in ("-s", word))]
            process = subprocess.Popen(
                [sys.executable, "-m", "scrapy", *command],
                cwd=project,
                env={**environment(folder, ITEMS=folder / "items.jsonl"), "PYTHONPATH": ""},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.callback(process.kill)
            return Run(folder, process)

        yield run


@pytest.fixture
def ended(project: Path, tmp_path: Path) -> Start:
    """Runs a spider to its end, in this process."""

    def run(spider: str, *arguments: str, plainly: bool = False, status: int = 0, **settings: object) -> Run:
        folder = tmp_path / ("plain" if plainly else "ours")
        folder.mkdir(exist_ok=True)
        given = {"ADDONS": "{}"} if plainly else {"FRONTIER_BACKOFF": 0.05}
        done = command(
            *("crawl", spider, *arguments),
            folder=folder,
            variables={"ITEMS": folder / "items.jsonl"},
            project=project,
            module="tutorial.settings",
            **{**given, **settings},
        )
        assert done.status == status, done.err
        return Run(folder, log=done.err)

    return run


def in_any_order(items: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


# ---- settings that are wrong


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ({"FRONTIER_DELAY": "abc"}, "FRONTIER_DELAY=abc is not valid: seconds, from 0"),
        ({"FRONTIER_DELY": "3"}, "there is no setting FRONTIER_DELY; is FRONTIER_DELAY meant?"),
        ({"FRONTIER_MODE": "nosuch"}, "unknown mode 'nosuch': choose one of adaptive"),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "Redis at redis://127.0.0.1:1/0 does not answer"),
    ],
    ids=["value", "name", "mode", "Redis"],
)
def test_a_wrong_setting_ends_the_command_with_one_line(
    ended: Start, setting: dict[str, str], line: str
) -> None:
    run = ended("quotes", "-a", "site=http://127.0.0.1:1", status=2, **setting)

    [told] = [said for said in run.log.splitlines() if "] ERROR: " in said]
    assert f"ERROR: {line}" in told
    assert run.log.endswith(f"{told}\n")


# ---- the same items as with plain Scrapy


def quotes(site: Site) -> Answer:
    """`PAGES` pages of three quotes, each by an author with a page."""
    kind, _, number = site.request.path.strip("/").partition("/")
    if kind == "author":
        return Answer(f"<h3>Author {number}</h3>")
    if kind != "page" or not number.isdecimal():
        return Answer("gone", 404)
    rows = "".join(
        f"<div class=quote><span class=text>Quote {number}.{n}</span><small class=author>A{n}</small>"
        f"<a href=/author/{number}{n}>about</a></div>"
        for n in range(3)
    )
    following = f'<li class=next><a href="/page/{int(number) + 1}/">next</a></li>'
    return Answer(f"<html>{rows}{following if int(number) < PAGES else ''}")


def login(site: Site) -> Answer:
    asked = site.request
    if asked.method == "GET":
        form = "<input name=csrf value=x1 type=hidden><input name=username><input name=password>"
        return Answer(f"<form method=post>{form}", headers={"Set-Cookie": "session=new; Path=/"})
    good = asked.body == "csrf=x1&username=john&password=secret" and "session=new" in asked.headers["Cookie"]
    text, session = ("welcome", "in") if good else ("no", "out")
    return Answer(text, headers={"Set-Cookie": f"session={session}; Path=/"})


def members(site: Site) -> Answer:
    asked = site.request
    token = asked.headers.get("X-Token", "")
    return Answer(f"{asked.body} {token} {asked.headers.get('Cookie', '')}", kind="text/plain")


SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"

SHOP: dict[str, Route] = {
    "/": Answer("<a href=/category/1>one</a> <a href=/category/2?x=subsection.php>no</a>"),
    "/category/1": Answer("<a href=/item/1>first</a> <a href=/item/2>second</a> <a href=/category/3>on</a>"),
    "/category/3": Answer(
        "<a href=/item/3>third</a> <a href=/item/1>first</a> <a href=http://x.example/item/9>"
    ),
    **{f"/item/{n}": Answer(f"<title>Item {n}</title>") for n in (1, 2, 3)},
    **{f"/description/{n}": Answer(f"It is {n}", kind="text/plain") for n in (1, 2, 3)},
}


def picture(width: int) -> Answer:
    """A PNG, with which the images pipeline of Scrapy makes a JPEG."""
    data = BytesIO()
    Image.new("RGB", (width, width), "brown").save(data, "PNG")
    return Answer(data.getvalue(), kind="image/png")


WEBS: dict[str, dict[str, Route]] = {
    "quotes": {"*": quotes},
    "author": {"*": quotes},
    "login": {"/login": login, "/search": members, "/api": members},
    "errback": {
        "/good": Answer("good"),
        "/broken": Answer("broken", 500),
        "/more": Answer("more"),
        "/broken?again": Answer("better"),
    },
    "shop": SHOP,
    "sitemap": {},
    "lambdas": {"*": quotes},
    "redirects": {
        **{path: Answer("page") for path in ("/", "/known", "/new", "/lambda")},
        **dict.fromkeys(("/to-known", "/to-known-as-well"), redirect("/known")),
        "/to-new": redirect("/new"),
        "/twice": redirect("/to-new"),
    },
    "settings": {"/": Answer("page")},
    "spellings": {"*": Answer("page")},
    "files": {"*": quotes},
    "images": {
        "/category/1": Answer("<img src=/owl.png> <img src=/dot.png>"),
        "/category/3": Answer("<img src=/owl.png> <img src=/gone.png> <img src=/page>"),
        "/owl.png": picture(32),
        "/dot.png": picture(4),
        "/page": Answer("no picture"),
    },
    "media": {"*": quotes},
    "repeats": {"/": Answer("start"), "/a": Answer("a"), "/b": Answer("b"), "/to-a": redirect("/a")},
    "obedient": {
        "/robots.txt": robots("User-agent: *", "Disallow: /no/", "Allow: /no/yes"),
        **{path: Answer("page") for path in ("/", "/yes", "/no/yes", "/no/4")},
    },
    "coroutines": {"*": quotes},
    "raising": {
        "/": Answer("start"),
        **{
            path: Answer(f"text of {path}")
            for name in ("fine", "raises", "item-fails", "item-drops")
            for path in (f"/{name}", f"/after-{name}")
        },
    },
    "cookies": {**{f"/login?{n}": login for n in range(3)}, **{f"/api?{n}": members for n in range(3)}},
}
STATS = (  # of Scrapy, which people's tools read
    "scheduler/enqueued",
    "scheduler/dequeued",
    "dupefilter/filtered",
    "robotstxt/request_count",
    "robotstxt/response_count",
    "robotstxt/response_status_count/404",
    "robotstxt/forbidden",
    "downloader/exception_count",
    "spider_exceptions/count",
    "item_scraped_count",
    "item_dropped_count",
)
# Without a robots.txt, plain Scrapy tries the page three times, and we try robots.txt again (RFC 9309).
OF_A_DEAD_SERVER = {
    "scheduler/enqueued",
    "scheduler/dequeued",
    "robotstxt/request_count",
    "downloader/exception_count",
}


@pytest.fixture
def site() -> Iterator[Site]:
    """Pages of quotes, unless a test says otherwise."""
    with sites(site={"*": quotes}) as opened:
        yield opened["site"]


@pytest.mark.parametrize(
    "spider", [pytest.param(name, marks=() if name == "quotes" else pytest.mark.slow) for name in WEBS]
)
def test_a_spider_yields_what_it_yields_with_plain_scrapy(
    start: Start, ended: Start, site: Site, spider: str
) -> None:
    site.routes = dict(WEBS[spider])
    if spider == "sitemap":
        urls = [f"{site.url}/{kind}/{n}" for kind in ("product", "category", "other") for n in range(3)]
        entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
        site.routes = {
            "/robots.txt": robots(f"Sitemap: {site.url}/map.xml"),
            "/map.xml": Answer(SITEMAP.format(entries), kind="text/xml"),
            **{url.removeprefix(site.url): Answer("page") for url in urls},
        }
    arguments = ["-a", f"site={site.url}"]
    if spider == "errback":
        arguments += ["-a", f"dead={dead_server()}/"]

    def run(**options: bool) -> Run:  # Scrapy keeps the store of files with the class of their pipeline
        alone = spider in ("files", "images")
        return start(spider, *arguments, **options).end() if alone else ended(spider, *arguments, **options)

    plain = run(plainly=True)
    asked_plainly, site.received[:] = Counter((r.method, r.path, r.body) for r in site.received), []
    ours = run()

    assert ours.items and in_any_order(ours.items) == in_any_order(plain.items), ours.log
    assert ours.log.count("Traceback") <= plain.log.count("Traceback"), ours.log
    names = set(STATS) - (OF_A_DEAD_SERVER if spider == "errback" else set())
    assert {name: ours.stat(name) for name in names} == {name: plain.stat(name) for name in names}
    failures = [set(re.findall("robotstxt/exception_count/[^:]+", run.log)) for run in (ours, plain)]
    assert failures[0] == failures[1]
    assert Counter((r.method, r.path, r.body) for r in site.received) == asked_plainly
    states = ours.states(spider)
    assert states["seen"] == states["done"] + states["failed"]


# ---- what becomes of a lease


def flaky(site: Site) -> Answer:
    return Answer("busy", 503) if site.times("/flaky") == 1 else Answer("fine")


@pytest.fixture
def trouble(ended: Start, site: Site) -> Run:
    site.routes = {
        "/": Answer("start"),
        "/moved": redirect("/new"),
        "/offsite": redirect("http://offsite.example/x"),
        "/flaky": flaky,
        **dict.fromkeys(
            ("/new", "/raises", "/item-fails", "/item-drops", "/counted", "/always"), Answer("x")
        ),
    }
    return ended("trouble", "-a", f"site={site.url}")


@pytest.mark.slow
def test_redirects_retries_filters_and_failures(trouble: Run, site: Site) -> None:
    urls = Counter(item["url"].removeprefix(site.url) for item in trouble.items)

    # Scrapy's own middlewares follow redirects, and try again within one lease.
    assert urls["/new"] == urls["/flaky"] == 1
    assert next(item for item in trouble.items if item["url"].endswith("/new"))["redirects"] == 1
    assert site.times("/flaky") == 2
    # A request is fetched once, unless it asks not to be filtered.
    assert (urls["/counted"], urls["/always"]) == (1, 3)
    # Where FRONTIER_TRIES is set, a page whose callback or pipeline raises is tried again, has then failed,
    # and its links are followed.
    assert site.times("/raises") == site.times("/item-fails") == 2
    assert site.times("/after-raises") == 1
    # A dropped item is no failure.
    assert site.times("/item-drops") == 1
    states = trouble.states("trouble")
    assert (states["queued"], states["leased"]) == (0, 0)
    assert states["reasons"]["unparsable"] == 2
    assert states["reasons"]["redirect"] == 2  # one of them to where allowed_domains did not let it go


@pytest.mark.slow
def test_what_cannot_be_written_down_is_said_once_and_fetched(ended: Start, site: Site) -> None:
    run = ended("lambdas", "-a", f"site={site.url}")

    assert len(run.items) == len(set(in_any_order(run.items))) == 4 * PAGES
    assert run.log.count("cannot be stored in the frontier") == 1
    assert run.states("lambdas")["seen"] == 1  # they belong to the one page that is kept


# ---- a kill, and going on


@pytest.mark.slow
def test_a_killed_spider_goes_on_and_nothing_is_lost(start: Start, ended: Start, site: Site) -> None:
    first = start("author", "-a", f"site={site.url}")
    until(lambda: len(site.pages) >= 8, "pages", first.process)
    first.kill()
    held = set(site.pages)

    second = ended("author", "-a", f"site={site.url}")

    names = Counter(item["name"] for item in second.items)
    assert set(names) == {f"Author {page}{n}" for page in range(1, PAGES + 1) for n in range(3)}
    twice = [path for path, times in Counter(site.pages).items() if times > 1]
    assert len(twice) <= 16  # what was in flight
    assert len(held) < 4 * PAGES


@pytest.mark.deep("the test above kills one, test_workers.py has two")
def test_two_workers_that_are_killed_three_times_lose_nothing(start: Start, site: Site) -> None:
    def worker() -> Run:
        return start("author", "-a", f"site={site.url}", CONCURRENT_REQUESTS=2, DOWNLOAD_DELAY=0.3)

    workers = [worker(), worker()]
    for asked in (7, 14, 21):
        until(lambda asked=asked: len(site.pages) >= asked, "pages")
        workers.pop(0).kill()
        workers.append(worker())
    for one in workers:
        one.end()

    names = {item["name"] for item in workers[-1].items}
    assert names == {f"Author {page}{n}" for page in range(1, PAGES + 1) for n in range(3)}
    twice = [path for path, times in Counter(site.pages).items() if times > 1]
    assert len(twice) <= 3 * 2  # what was in flight
    states = workers[-1].states("author")
    assert (states["queued"], states["leased"]) == (0, 0)


@pytest.mark.slow
def test_a_page_whose_requests_are_in_memory_is_repeated_after_a_kill(
    start: Start, ended: Start, site: Site
) -> None:
    first = start("lambdas", "-a", f"site={site.url}")
    until(lambda: len(site.pages) >= 5, "pages", first.process)
    first.kill()

    second = ended("lambdas", "-a", f"site={site.url}")

    assert len({item["page"] for item in second.items}) == 4 * PAGES


@pytest.mark.slow
def test_ctrl_c_ends_in_good_order_and_the_next_run_goes_on(start: Start, ended: Start, site: Site) -> None:
    first = start("author", "-a", f"site={site.url}")
    until(lambda: len(site.pages) >= 8, "pages", first.process)
    first.process.send_signal(signal.SIGINT)
    first.end()

    second = ended("author", "-a", f"site={site.url}")

    assert len(second.items) == 3 * PAGES
    assert set(Counter(site.pages).values()) == {1}  # nothing twice, not even the seed


@pytest.mark.slow
def test_a_frontier_is_forgotten_on_request(ended: Start, site: Site) -> None:
    ended("quotes", "-a", f"site={site.url}")
    again = ended("quotes", "-a", f"site={site.url}")
    assert len(again.items) == 3 * PAGES

    anew = ended("quotes", "-a", f"site={site.url}", SCHEDULER_FLUSH_ON_START=True)

    assert len(anew.items) == 2 * 3 * PAGES


# ---- sharing, seeds, settings


@pytest.mark.slow
def test_two_processes_share_the_work(start: Start, site: Site) -> None:
    runs = [start("author", "-a", f"site={site.url}") for _ in range(2)]

    for run in runs:
        run.end()

    assert len(runs[0].items) == 3 * PAGES
    assert set(Counter(site.pages).values()) == {1}


@pytest.mark.slow
def test_seeds_are_taken_from_a_redis_key(ended: Start, site: Site, tmp_path: Path) -> None:
    site.routes = {f"/{name}": Answer(name) for name in ("a", "b")}
    site.routes["/b?q=1"] = Answer("b")
    seeds = [
        f"{site.url}/a",
        json.dumps({"url": f"{site.url}/a", "dont_filter": True, "method": "POST", "meta": {"job": "j1"}}),
        json.dumps({"url": f"{site.url}/b?q=1"}),
        "no seed",
    ]
    folder = tmp_path / "ours"
    with connect(None, folder) as connection:
        client, key = connection.client, "waiting:start_urls"
        client.rpush(key, *seeds)
        run = ended("waiting")
        left, refused = client.exists(key), client.lrange(f"{key}:refused", 0, -1)

    found = {(item["url"].removeprefix(site.url), item["method"], item["meta"]) for item in run.items}
    assert found == {("/a", "GET", ""), ("/a", "POST", "j1"), ("/b?q=1", "GET", "")}
    assert (left, refused) == (0, [b"no seed"])


@pytest.mark.slow
def test_a_waiting_spider_takes_seeds_that_come_later(start: Start, site: Site, tmp_path: Path) -> None:
    site.routes = {"/late": Answer("late")}
    with connect(None, tmp_path / "ours") as connection:
        key = {"REDIS_START_URLS_KEY": "seeds:of:%(name)s"}
        run = start("waiting", FRONTIER_IDLE=60, CLOSESPIDER_ITEMCOUNT=1, **key)
        frontier = Frontier(connection.client, ordering("priority"), "waiting")
        until(frontier.stored_mode, "it to begin", run.process)
        connection.client.rpush("seeds:of:waiting", f"{site.url}/late")
        run.end()

    assert [item["url"] for item in run.items] == [f"{site.url}/late"]


@pytest.mark.slow
def test_robots_txt_is_obeyed_where_the_project_says_so(ended: Start, site: Site) -> None:
    site.routes = {"*": quotes, "/robots.txt": robots("User-agent: *", "Disallow: /author/")}

    obeyed = ended("author", "-a", f"site={site.url}")

    assert obeyed.items == []
    assert obeyed.states("author")["reasons"]["robots-disallowed"] == 3 * PAGES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "rules", "fetched"),
    [
        ({"BUDGET_SERVER": 3}, [], 3),
        ({"BUDGET_PREFIX": 1}, [], 4),  # /, /a/, /a/?x= and /a/?utm_source=
        ({}, ["User-agent: *", "Disallow: /%61/?x", "Disallow: /a/index"], 5 - 2),
    ],
    ids=["server", "prefix", "robots"],
)
def test_budgets_and_robots_txt_go_by_our_urls(
    ended: Start, site: Site, settings: dict[str, int], rules: list[str], fetched: int
) -> None:
    site.routes = {"*": Answer("page"), "/robots.txt": robots(*rules)}

    run = ended("spellings", "-a", f"site={site.url}", **settings)

    assert len(run.items) == fetched
    assert len(site.pages) == fetched


def test_the_scheduler_alone_is_enough(ended: Start, site: Site) -> None:
    run = ended("quotes", "-a", f"site={site.url}", ADDONS="{}", SCHEDULER="webcrawler.scheduler.Scheduler")

    assert len(run.items) == 3 * PAGES
    assert run.states("quotes")["done"] == PAGES


@pytest.mark.slow
def test_with_one_request_at_a_time_the_highest_priority_is_first(ended: Start, site: Site) -> None:
    site.routes = dict(WEBS["login"])

    ended("login", "-a", f"site={site.url}", CONCURRENT_REQUESTS=1)

    words = [asked.body for asked in site.received if asked.path == "/search"]
    assert words == ["word=green", "word=blue", "word=red"]


@pytest.mark.slow
def test_the_add_on_imports_neither_numpy_nor_whoosh_nor_sqlite3() -> None:
    code = "import sys, webcrawler.addon; print({'numpy', 'whoosh', 'sqlite3'} & sys.modules.keys())"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT)

    assert done.stdout == "set()\n"


# ---- as in Scrapy and scrapy-redis


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["shell", "{url}", "-c", "response.text"], "the page"),
        (["fetch", "{url}"], "the page"),
        (["view", "{url}"], "the page"),
        (["parse", "{url}", "--spider", "waiting", "--nolinks", "--nocolour"], "'url': '{url}'"),
        (["check", "checked"], "Ran 1 contract in"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_command_that_fetches_one_page_leaves_the_frontier_alone(
    project: Path, site: Site, tmp_path: Path, words: list[str], printed: str
) -> None:
    site.routes = {"/": Answer("the page"), "/robots.txt": robots("User-agent: *", "Disallow: /no")}
    url = f"{site.url}/"

    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *(word.format(url=url) for word in words)],
        cwd=project,
        env={**environment(tmp_path, ITEMS=os.devnull, BROWSER="curl -s %s", CHECKED=url), "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=240,
    )

    assert done.returncode == 0, done.stderr
    assert printed.format(url=url) in done.stdout + done.stderr
    assert site.times("/") == 1
    assert not list(tmp_path.iterdir())  # no server of its own was started


@pytest.mark.parametrize(
    "seed",
    [
        {"url": "http://a.test/find", "method": "post", "meta": {"job": 1}},
        {"url": "http://a.test/find"},
    ],
)
def test_a_seed_becomes_the_request_that_scrapy_redis_makes_of_it(seed: dict[str, Any]) -> None:
    text = json.dumps(seed)
    theirs = RedisSpider("any", redis_encoding="utf-8").make_request_from_data(text.encode())

    ours = request_of(text, Spider("any"))

    told = [(one.method, one.url, one.body, one.meta) for one in (ours, theirs)]
    assert told[0] == told[1]


@pytest.mark.slow
def test_by_default_urls_are_told_apart_as_in_scrapy_and_another_identity_is_refused(
    ended: Start, site: Site
) -> None:
    site.routes = {"*": Answer("page")}

    run = ended("spellings", "-a", f"site={site.url}")

    assert len(run.items) == 5  # the start, and four of the six spellings
    refused = ended("spellings", "-a", f"site={site.url}", FRONTIER_IDENTITY="canonical", status=2)
    assert "was made with FRONTIER_IDENTITY=scrapy: set it so" in refused.log
    canonical = {"FRONTIER_IDENTITY": "canonical", "SCHEDULER_FLUSH_ON_START": 1}
    anew = ended("spellings", "-a", f"site={site.url}", **canonical)
    assert len(anew.items) == 5 + 4


@pytest.mark.slow
def test_explain_and_again_take_a_url_and_mean_its_get(ended: Start, site: Site) -> None:
    site.routes = {"*": Answer("page")}
    run = ended("spellings", "-a", f"site={site.url}")

    def told(verb: str, path: str) -> dict[str, Any]:
        words = (verb, f"{site.url}{path}", "--name", "spellings", "--json")
        return json.loads(command("frontier", *words, folder=run.folder).out)  # type: ignore[no-any-return]

    assert told("explain", "/a/?y=2&x=1")["state"] == "decided"
    assert told("explain", "/a/?y=2&x=1&utm_source=x")["state"] == "unseen"
    assert told("again", "/a/?y=2&x=1") == {"queued": 1}
    assert len(ended("spellings", "-a", f"site={site.url}").items) == 5 + 1


def test_the_add_on_says_so_where_another_scheduler_is_still_set(ended: Start, site: Site) -> None:
    run = ended("quotes", "-a", f"site={site.url}", SCHEDULER="scrapy.core.scheduler.Scheduler")

    assert "SCHEDULER=scrapy.core.scheduler.Scheduler is still set, so the add-on does nothing" in run.log
