"""The scope of a crawl, by patterns of URLs: kept with the data folder, and applied to all that is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from inprocess import command
from localweb import redirect, sites
from test_removing import Collection, told

from webcrawler.crawl.run import keep_scope
from webcrawler.errors import BadInput
from webcrawler.job import Job
from webcrawler.scope import Scope, change, read

A = "http://a.test"


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """/docs/ links to itself and out of it; a redirect leads out, too; nothing is crawled yet."""
    routes = {
        "/docs/": told("/docs/", "/docs/1", "/docs/draft", "/away", "/docs/moved"),
        "/docs/1": told("/docs/1", "/docs/"),
        "/docs/draft": told("/docs/draft"),
        "/docs/moved": redirect("/away"),
        "/away": told("/away", "/docs/1"),
    }
    with sites(site=routes) as opened:
        yield Collection(tmp_path / "crawl", opened["site"])


@pytest.mark.slow
def test_links_and_redirects_out_of_scope_are_refused_and_the_next_crawl_has_the_same_scope(
    collection: Collection,
) -> None:
    scope = ("-a", f"include={collection.url('/docs/*')}", "-a", "exclude=*draft")
    collection.crawl("-a", f"seeds={collection.url('/docs/')}", *scope, "-a", "max_pages=1")
    collection.crawl()

    assert sorted(collection.site.pages) == ["/docs/", "/docs/1", "/docs/moved"]
    states = collection.ask("frontier", "stats")
    assert states["refused"] == {"scope": 3}
    assert states["scope"] == {
        "include": [collection.url("/docs/*")],
        "exclude": ["*draft"],
        "removed": [],
        "domains": [],
    }


@pytest.mark.slow
def test_a_new_scope_replaces_the_old_one_in_one_line_and_decides_what_waits(collection: Collection) -> None:
    first = ("-a", f"seeds={collection.url('/docs/')}", "-a", "max_pages=1")
    assert "the scope of" not in collection.crawl(*first).log

    narrower = collection.crawl("-a", f"include={collection.url('/docs/1')}").log
    states = collection.ask("frontier", "stats")
    collection.ask("frontier", "clear")
    wider = collection.crawl(*first, "-a", f"include={collection.url('/docs/*')}").log

    kept = f"include={collection.url('/docs/1')}; kept in scope.json, it holds for later crawls too"
    assert narrower.count("the scope of") == 1 and kept in narrower  # there was none
    told = [line for line in wider.splitlines() if line.startswith("the scope of")]
    was = f"include={collection.url('/docs/*')}; it was: include={collection.url('/docs/1')}"
    assert [line.partition(": ")[2] for line in told] == [was]
    assert "/away" not in collection.site.pages
    assert states["reasons"]["scope"] == 3  # /away, /docs/draft and /docs/moved
    assert states["seen"] == sum(states[s] for s in ("queued", "leased", "done", "failed", "quarantined"))


@pytest.mark.slow
def test_a_crawl_that_goes_on_stays_within_the_domains_of_the_one_before(collection: Collection) -> None:
    """They are changed only when others are named; what waits outside of them leaves then."""
    with sites(other={"/": told("/"), "/1": told("/1")}) as opened:
        other = opened["other"]
        foreign = [f"http://localhost:{other.server.server_port}{path}" for path in ("/", "/1")]
        collection.site.routes["/docs/"] = told("/docs/", "/docs/1", *foreign)
        collection.crawl(
            "-a", f"seeds={collection.url('/docs/')}", "-a", "domains=127.0.0.1", "-a", "max_pages=1"
        )

        goes_on = collection.crawl()
        refused = collection.crawl("-a", f"seeds={foreign[0]}")
        wider = collection.crawl("-a", f"seeds={foreign[0]}", "-a", "domains=*", "-a", "max_pages=1")
        narrower = collection.crawl("-a", "domains=127.0.0.1")

    assert goes_on.log.startswith("within domains=127.0.0.1, as before\n")
    assert refused.status == 2
    assert refused.log == (
        f"error: the seed {foreign[0]} is outside the scope (domains=127.0.0.1): add it to domains\n"
    )
    assert "is now: all URLs; it was: domains=127.0.0.1" in wider.log
    assert "is now: domains=127.0.0.1" in narrower.log
    assert other.pages == ["/"]


@pytest.mark.slow
def test_documents_out_of_scope_are_removed_on_request(collection: Collection) -> None:
    collection.crawl("-a", f"seeds={collection.url('/docs/')}")
    collection.run("report")
    assert "/away" in collection.found()
    collection.crawl("-a", f"include={collection.url('/docs/*')}")

    answer = collection.ask("remove", "--out-of-scope")

    assert (answer["patterns"], answer["documents"]) == ([collection.url("/away")], 1)
    assert collection.found() == {"/docs/", "/docs/1", "/docs/draft"}
    status, _, told = collection.run("remove", "--out-of-scope")
    assert status == 2
    assert told == f"error: no document is outside the scope: include={collection.url('/docs/*')}\n"


@pytest.mark.slow
def test_a_search_of_the_web_finds_nothing_out_of_scope(collection: Collection) -> None:
    change(collection.folder, lambda scope: replace(scope, include=(collection.url("/docs/*"),)))
    seeds = f"{collection.url('/docs/')},{collection.url('/away')}"
    settings = {"ADDRESSES_ALLOWED": "127.0.0.1/32", "FRONTIER_DELAY": 0}

    arguments = ("-aquery=armadillo", f"-aseeds={seeds}", "-aenough=0")
    command("crawl", "realtime", *arguments, folder=collection.folder, **settings)

    assert sorted(collection.site.pages) == ["/docs/", "/docs/1", "/docs/draft", "/docs/moved"]


def test_a_job_that_names_no_scope_has_that_of_the_folder(tmp_path: Path) -> None:
    keep_scope(tmp_path, Job.read(include=f"{A}/*", exclude=f"{A}/b"))
    within = f"within include={A}/*, exclude={A}/b, as before"
    assert keep_scope(tmp_path, Job.read(seeds=f"{A}/1")) == within

    assert read(tmp_path) == Scope((f"{A}/*",), (f"{A}/b",))


def test_the_first_scope_is_one_line_that_says_that_it_is_kept(tmp_path: Path) -> None:
    job = Job.read(include=f"{A}/*")

    told = f"the scope of {tmp_path} is now: include={A}/*; kept in scope.json, it holds for later crawls too"
    assert keep_scope(tmp_path, job) == told
    assert keep_scope(tmp_path, job) == f"within include={A}/*, as before"


def test_a_star_alone_is_no_scope(tmp_path: Path) -> None:
    keep_scope(tmp_path, Job.read(include=f"{A}/*"))

    told = keep_scope(tmp_path, Job.read(include="*"))

    assert read(tmp_path) == Scope()
    assert told == f"the scope of {tmp_path} is now: all URLs; it was: include={A}/*"


def test_a_scope_keeps_what_was_removed(tmp_path: Path) -> None:
    change(tmp_path, lambda scope: replace(scope, removed=(f"{A}/1",)))

    keep_scope(tmp_path, Job.read(exclude=f"{A}/2"))

    assert read(tmp_path) == Scope((), (f"{A}/2",), (f"{A}/1",))


def test_a_seed_outside_is_one_clear_line_and_nothing_is_kept(tmp_path: Path) -> None:
    told = r"the seed http://a\.test/2 is outside the scope \(include=http://a\.test/1\)"
    with pytest.raises(BadInput, match=told):
        keep_scope(tmp_path, Job.read(seeds=f"{A}/1,{A}/2", include=f"{A}/1"))

    assert read(tmp_path) == Scope()


def test_a_removed_seed_is_left_out_and_no_error(tmp_path: Path) -> None:
    change(tmp_path, lambda scope: replace(scope, removed=(f"{A}/1",)))

    assert keep_scope(tmp_path, Job.read(seeds=f"{A}/1")) == ""


def test_patterns_come_from_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "rules.txt"
    file.write_text(f"# ours\n{A}/docs/*  # the manual\n\nb.test\n")

    assert Job.read(include=f"@{file}").include == (f"{A}/docs/*", "http://b.test/*", "https://b.test/*")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("https://a.test/#*", r"a \* in a part that is left out"),
        ("@missing", "cannot read patterns from missing"),
        (",", "there is no pattern in ','"),
    ],
)
def test_a_wrong_scope_is_one_clear_line(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        Job.read(exclude=text)


def test_many_patterns_are_told_in_few_words() -> None:
    scope = Scope(include=tuple(f"{A}/{n}" for n in range(1_205)))

    assert scope.told == f"include={A}/0,{A}/1,{A}/2,{A}/3,{A}/4 and 1,200 more"


@pytest.mark.slow
def test_what_a_narrower_scope_refused_comes_from_the_catalog(collection: Collection) -> None:
    collection.crawl("-a", f"seeds={collection.url('/docs/')}", "-a", f"include={collection.url('/docs/*')}")
    asked = len(collection.site.pages)
    collection.crawl("-a", "include=*")
    assert len(collection.site.pages) == asked  # nobody has the links any more but the catalog

    collection.ask("frontier", "clear")
    collection.ask("frontier", "rebuild")
    collection.crawl()

    assert collection.site.pages[asked:] == ["/away"]
