"""WC: Brian Pinkerton, Finding What People Want: Experiences with the WebCrawler, 1994. Rows 6 to 18."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import httpx
import pytest
from crawled import fetched, link
from localweb import Crawled, Route, Site, crawl, page
from lxml import html as lxml_html
from oldservers import ftp, gopher
from searched import entry, publish
from test_agents import Running, SharedWeb
from test_serve_command import serving

from webcrawler import settings
from webcrawler.archive.catalog import Catalog
from webcrawler.index.follower import wait_until_caught_up
from webcrawler.realtime import journal
from webcrawler.search import Searcher

from .conftest import Searched
from .town import EVERYTHING, Town, figure, found, html

QUERY = "molecular biology"
OF_BREAD = "sourdough site:3.test"
EIGHTH_OF_A_SECOND = 0.125
OTHER_WORDS = (  # of the town
    *("genes", "genomes", "cell", "copy", "repair", "proteins", "dna", "double", "helix", "words"),
    *("running", "reads", "alpha", "chaperones", "fold", "library", "books", "subjects", "physics", "music"),
)


@pytest.mark.slow
def test_06_breadth_first_by_server_new_servers_first(town: Town) -> None:
    """WC, indexing mode: "every time a document on a new server is found, that server is placed on a list of
    servers to be visited right away. Before any other documents are visited, a document on each of the new
    servers is retrieved and indexed".
    """
    order = sorted(town.crawled.documents(), key=lambda url: town.crawled.fetch(url).fetched)

    assert order[:4] == [f"{site.url}/" for site in (town.biology, town.library, town.physics, town.music)]


@pytest.mark.slow
def test_07_a_run_ends_after_some_documents_or_a_time_and_is_resumed(tmp_path: Path) -> None:
    """WC, indexing mode: "the WebCrawler runs either for a certain amount of time, or until it has retrieved
    some number of documents".
    """
    numbers = count(1)
    site = Site({"/": page("/0"), "*": lambda _: page(f"/{next(numbers)}")}).start()  # it never ends

    first = crawl(tmp_path, "index", "-a", f"seeds={site.url}/", "-a", "max_pages=3", LOG_LEVEL="INFO")
    known = first.documents()
    assert len(known) == 3
    assert "Spider closed (max_pages)" in first.log

    again = crawl(tmp_path, "index", "-a", "max_pages=3")
    assert len(again.documents()) == 6 and again.documents() > known

    timed = crawl(tmp_path, "index", "-a", "max_time=1", FRONTIER_DELAY=0.3, LOG_LEVEL="INFO")
    site.stop()
    assert "Spider closed (max_time)" in timed.log
    assert len(set(site.pages)) == len(site.pages), "a page was fetched twice"


@pytest.mark.slow
def test_08_what_cannot_be_indexed_is_not_retrieved_or_else_ignored(town: Town) -> None:
    """WC, the search engine: "Files that the WebCrawler cannot index, such as pictures, sounds, PostScript or
    binary data are not retrieved. If they are erroneously retrieved, they are ignored during the indexing
    step".
    """
    sounds = f"{town.biology.url}/sounds"  # whose address does not say what it is

    assert (town.biology.times("/picture.png"), town.biology.times("/sounds")) == (0, 1)
    assert town.crawled.reason(sounds) == "failed/not-indexable"
    assert sounds not in town.crawled.documents()


@pytest.fixture
def held_web() -> Iterator[SharedWeb]:
    """Its first two pages are answered only when two agents ask at once; later ones when it is released."""
    with closing(SharedWeb(held_after=12)) as opened:
        yield opened


@pytest.mark.slow
def test_09_agents_work_in_parallel_and_their_errors_are_not_those_of_the_crawl(
    held_web: SharedWeb, tmp_path: Path
) -> None:
    """WC, agents: "agents run in separate processes and the WebCrawler employs up to 15 in parallel"; this
    "helps isolate the main WebCrawler process from memory leaks and errors".
    """
    running = Running(tmp_path, held_web)

    running.kill_second()
    _, log = running.end()

    assert Crawled(tmp_path, 0, log).documents() == held_web.urls


@pytest.mark.slow
def test_10_http_ftp_and_gopher(tmp_path: Path) -> None:
    """WC, agents: "the ability to access several types of content with several different protocols, including
    HTTP, FTP and Gopher".
    """
    owls = {"ftp/pub": "The snowy owl hunts by day.", "gopher": "The tawny owl calls at night."}
    for name, text in owls.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "owls.txt").write_text(text)
    (tmp_path / "gopher" / "gophermap").write_text("0Owls\t/owls.txt\n")
    (tmp_path / "work").mkdir()
    with ftp(tmp_path / "ftp") as files, gopher(tmp_path / "gopher", tmp_path / "work") as menus:
        web = Site({"/": page(f"{files}pub/", menus)}).start()
        seeds = ("index", "-a", f"seeds={web.url}/")
        unnamed = crawl(tmp_path / "unnamed", *seeds, DOCUMENT_TYPES="text")
        named = crawl(tmp_path / "named", *seeds, DOCUMENT_TYPES="text", PROTOCOLS="http,ftp,gopher")
        web.stop()

    assert unnamed.documents() == {f"{web.url}/"}
    folder, menu = {f"{files}pub/", f"{files}pub/owls.txt"}, {menus, f"{menus}0/owls.txt"}
    assert named.documents() == unnamed.documents() | folder | menu


@pytest.mark.slow
def test_11_servers_documents_and_links_apart_in_transactions_of_some_hundred_documents(
    town: Town, tmp_path: Path
) -> None:
    """WC, the database: "Each object is stored in a separate btree on disk; documents in one, servers in
    another, and links in the last"; "updates are made under the scope of transactions that are committed
    every few hundred documents".
    """
    with closing(sqlite3.connect(town.folder / "catalog.sqlite")) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE rootpage > 0")}
        servers = {name for (name,) in db.execute("SELECT name FROM servers")}
        (pointer,) = db.execute("SELECT typeof(source), typeof(target) FROM links LIMIT 1")
    assert {"servers", "documents", "links"} <= tables
    assert {site.url for site in town.servers} <= servers
    assert pointer == ("integer", "integer")

    some = [fetched(f"http://a.test/{number}") for number in range(settings.BATCH_DOCUMENTS)]
    broken = replace(some[-1], links=(link("http://b.test/", "\ud800"),))  # what no database takes
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        with pytest.raises(UnicodeEncodeError):
            catalog.write([(one, None) for one in (*some[:-1], broken)])
        assert not dict(catalog.urls.all()), "half a transaction was kept"
        catalog.write([(one, None) for one in some])
        assert len(dict(catalog.urls.all())) == 200

    names = [f"/{n}" for n in range(40)]
    site = Site({"/": page(*names), **dict.fromkeys(names, page())}).start()
    seeds = ("index", "-a", f"seeds={site.url}/")
    crawl(tmp_path / "crawl", *seeds, BATCH_DOCUMENTS=20, BATCH_SECONDS=60, BUDGET_REPEATS=0)
    site.stop()
    assert figure(tmp_path / "crawl", "batch_entries_total") == 41
    assert 3 <= figure(tmp_path / "crawl", "batch_commit_seconds_count") <= 6


@pytest.mark.slow
def test_12_words_of_title_and_body_are_found_and_common_words_are_not(town: Town) -> None:
    """WC, the database: "a stream of words that includes tokens from both the title and the body of the
    document. The words are run through a 'stop list' to prevent common words from being indexed".
    """
    genes, proteins = f"{town.biology.url}/genes/", f"{town.biology.url}/proteins"
    searcher = Searcher(town.folder, deadline_seconds=60)

    assert found(town.folder, "fugue")[0] == f"{town.music.url}/fugue"  # in the title alone
    assert found(town.folder, "chaperones") == [proteins]  # in the body alone
    assert set(found(town.folder, "dna chaperones")) == {genes, proteins}  # some of the words
    plain, common = (searcher.search(query).hits for query in ("genes", "the genes of a"))
    assert [(hit.url, hit.relevance) for hit in plain] == [(hit.url, hit.relevance) for hit in common]


@pytest.mark.slow
def test_13_query_server_answers_on_a_page_by_relevance_up_to_1000(town: Town) -> None:
    """WC, query server: "the titles and URLs of documents containing some or all of those words are
    retrieved", with "relevance of the document to the query, normalized to 1000 for the most relevant
    document"; "The time required for the Query Server to respond to a query averages about an eighth of a
    second".

    The time is that of the processor, in which other programs have no part, for queries none of which was
    asked before.
    """
    with serving(town.folder, "-s", "SERVE_RELEVANCE=yes") as (process, address):
        ask = lambda query: httpx.get(f"{address}/search", params={"q": query}, timeout=60)  # noqa: E731
        shown = lxml_html.fromstring(ask(QUERY).text)
        before = processor_seconds(process.pid)
        answers = [ask(f"{QUERY} {word}") for word in OTHER_WORDS]
        average = (processor_seconds(process.pid) - before) / len(answers)
        metrics = httpx.get(f"{address}/metrics", timeout=60).text

    assert [answer.status_code for answer in answers] == [200] * 20
    assert all("Molecular Biology" in answer.text for answer in answers)
    assert "\nwebcrawler_answers_cached_total 0.0\n" in metrics
    titles = [title.text_content().strip() for title in shown.xpath("//article//h2")]
    relevance = [int(one.text_content().split()[1]) for one in shown.find_class("relevance")]
    assert titles[0] == "Molecular Biology"
    assert relevance[0] == 1000 and relevance == sorted(relevance, reverse=True) and len(relevance) > 2
    assert average < EIGHTH_OF_A_SECOND


def processor_seconds(pid: int) -> float:
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / 100


@pytest.mark.slow
def test_14_robots_txt_is_read_first_and_obeyed(town: Town) -> None:
    """WC, robot-like behavior: "Server administrators can advise robots by specifying which documents are
    worth indexing in a special 'robots.txt' document on their server".

    SV, algorithm: "Step 3. Download the Robot.txt file which carries downloading permissions".
    """
    plans = f"{town.biology.url}/private/plans"

    assert [site.asked[0] for site in town.servers] == ["/robots.txt"] * 4
    assert town.crawled.reason(plans) == "failed/robots-disallowed"
    assert town.biology.times("/private/plans") == 0


@pytest.mark.slow
def test_15_real_time_search_follows_what_is_near_the_top_until_it_has_found_enough(
    town: Town, searched: Searched, endless: Site, tmp_path: Path
) -> None:
    """WC, real-time search mode: "As new documents are retrieved, they are added to the index, and the query
    is re-run. The results of the query are sorted by relevance, and new documents near the top of the list
    become candidates for further exploration. The process is iterated either until the WebCrawler has found
    enough similar documents to satisfy the user or until a time limit is reached".
    """
    beyond, said = town.beyond.url, searched.journal
    via = {hit["url"]: hit["via"]["url"] for hit in said["hits"] if hit["via"]}

    assert (said["state"], said["reason"], said["similar"]) == ("finished", "enough", 3)
    # from the best document of the index, and on from new ones that have come near the top
    assert via == {
        f"{beyond}/": f"{town.biology.url}/",
        f"{beyond}/dna": f"{beyond}/",
        f"{beyond}/rna": f"{beyond}/dna",
    }
    wait_until_caught_up(searched.folder)
    assert set(via) <= set(found(searched.folder, QUERY))

    limits = ("-a", "enough=0", "-a", "max_time=2", "-a", "job=late")
    crawl(
        tmp_path,
        *("realtime", "-a", f"query={QUERY}", "-a", f"seeds={endless.url}/", *limits),
        ITEM_PIPELINES=EVERYTHING,
        FRONTIER_DELAY=0.2,
    )
    late = journal.read(tmp_path, "late")
    assert late is not None and (late["state"], late["reason"]) == ("finished", "max_time")


@pytest.mark.slow
def test_16_the_anchor_most_like_the_query_is_followed_first_by_a_thesaurus_too(tmp_path: Path) -> None:
    """WC, real-time search mode: "the WebCrawler makes a small full-text index from the anchor text in a
    document and applies the users query to select the most relevant link"; "particularly the application of
    a thesaurus to expand the anchor text".
    """
    publish(tmp_path, map(entry, bakery()))
    routes: dict[str, Route] = {
        "/": html("Sourdough", "sourdough", ("/1", "stones"), ("/2", "leaven"), ("/3", "sourdough")),
        **{f"/{n}": page() for n in "123"},
    }
    site = Site(routes).start()

    crawl(
        tmp_path,
        *("realtime", "-a", f"query={OF_BREAD}", "-a", "strategy=webcrawler", "-a", f"seeds={site.url}/"),
        CONCURRENT_REQUESTS=1,
        ITEM_PIPELINES=EVERYTHING,
    )
    site.stop()

    assert site.pages == ["/", "/3", "/2", "/1"]


def bakery() -> list[tuple[str, str, str]]:
    """Documents in which sourdough and leaven go together, and others."""
    bread, stones = "sourdough leaven oven crust bread", "granite basalt"
    recipes = [(f"http://{n % 7}.test/{n}", f"Sourdough {n}", f"{bread}{n}") for n in range(40)]
    return recipes + [(f"http://x{n % 7}.test/{n}", f"Stones {n}", f"{stones}{n}") for n in range(40)]


def test_17_phrases_proximity_and_a_thesaurus(tmp_path: Path) -> None:
    """WC, future work: "the two most important are proximity searching and query expansion and refinement
    using a thesaurus. Proximity searching allows several words to be considered as a phrase, instead of as
    independent keywords".
    """
    phrase, apart = "http://helix.test/1", "http://helix.test/2"
    helix = [(phrase, "One", "a double helix"), (apart, "Two", "helix " + "x " * 20 + "double")]
    other_word = ("http://3.test/leaven", "Three", "leaven")
    publish(tmp_path, map(entry, [*bakery(), *helix, other_word]))
    searcher = Searcher(tmp_path, deadline_seconds=60)
    few, offered = searcher.search(OF_BREAD), searcher.search(OF_BREAD, expand=False)

    assert set(found(tmp_path, "double helix")) == {phrase, apart}
    assert found(tmp_path, '"double helix"') == found(tmp_path, '"helix double"~3') == [phrase]
    assert "leaven" in [word.spelled for word in few.added]
    assert other_word[0] in [hit.url for hit in few.hits]
    # the same word is offered to who wants to add it himself
    assert not offered.added and "leaven" in [word.spelled for word in offered.related]
    assert other_word[0] not in [hit.url for hit in offered.hits]
    assert other_word[0] in found(tmp_path, OF_BREAD, expand=False, add=["leaven"])


@pytest.mark.slow
def test_18_what_a_client_found_is_found_in_the_main_index(town: Town, searched: Searched) -> None:
    """WC, future work: "strategies that allow clients to perform searches themselves and send the results of
    their explorations back to the main WebCrawler index".
    """
    wait_until_caught_up(searched.main)

    assert set(found(searched.main, QUERY)) == {f"{town.beyond.url}{path}" for path in ("/", "/dna", "/rna")}
