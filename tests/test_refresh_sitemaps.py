"""What sitemaps say of documents reaches the schedule, and sitemaps themselves are read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import MakeFrontier
from frontiers import links, visit_all
from inprocess import command
from localweb import Answer, Crawled, Site, crawl, page, robots, sites
from test_catalog import A, B, C, failure, write
from test_catalog import page as document
from test_catalog_signs import MAP, entry, sitemap

from webcrawler.archive.catalog import Catalog
from webcrawler.refresh import Schedule, admission
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection
from webcrawler.refresh.signs import NEWER, SAME, SILENT
from webcrawler.urls import NO_SUCH_PAGE

pytestmark = pytest.mark.slow

DAY = 86_400.0
CHECKED = 1_790_000_000.0


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(tmp_path / "catalog.sqlite")
    write(catalog, *(document(url, CHECKED, url) for url in (A, B, C)))
    yield catalog
    catalog.close()


@pytest.mark.parametrize(
    ("modified", "read", "said"),
    [
        (CHECKED + 60, CHECKED + DAY, NEWER),
        (CHECKED - 60, CHECKED - 30, SAME),
        (CHECKED - 60, CHECKED + DAY, NEWER),  # the day of the check, told since: it may stand for its end
        (CHECKED - 2 * DAY, CHECKED + DAY, SAME),
        (0.0, CHECKED + DAY, SILENT),
    ],
)
def test_a_date_says_whether_the_page_changed_since_its_check(
    catalog: Catalog, tmp_path: Path, modified: float, read: float, said: int
) -> None:
    write(catalog, sitemap(entry(A, modified), entry("http://a.test/never-fetched", modified), time=read))
    collection = Collection(catalog, tmp_path, Schedule())

    collection.hear()

    assert collection.schedule.signs.said.tolist() == [said, SILENT, SILENT]


def test_what_a_sitemap_says_is_heard_again_each_time_it_is_read_though_it_is_unchanged(
    catalog: Catalog, tmp_path: Path
) -> None:
    write(catalog, sitemap(entry(A, CHECKED - 9 * DAY), time=CHECKED + 1))
    collection = Collection(catalog, tmp_path, Schedule())
    collection.hear()
    collection.schedule.signs.said[:] = SILENT  # all were checked

    collection.hear()
    assert collection.schedule.signs.said.tolist() == [SILENT] * 3

    write(catalog, sitemap(time=CHECKED + DAY, token=2, status=304))
    collection.hear()
    assert collection.schedule.signs.said.tolist() == [SAME, SILENT, SILENT]


@pytest.mark.parametrize(("is_there", "times"), [(True, 3), (False, 1)])
def test_a_sitemap_that_cannot_be_read_is_not_asked_for_every_hour(
    catalog: Catalog,
    tmp_path: Path,
    make_frontier: MakeFrontier,
    is_there: bool,
    times: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "HOUR_SECONDS", 0.0)
    write(catalog, sitemap(entry(A, CHECKED), time=CHECKED))
    if not is_there:
        write(catalog, failure(MAP, CHECKED + DAY, "not-found", status=404))
    frontier = make_frontier()
    frontier.discover(links(MAP))
    visit_all(frontier)
    frontier.refresh = "yes"
    refresher = Admission(Collection(catalog, tmp_path, Schedule()), catalog, frontier, 0.3, 0.0)
    asked = []

    for _ in range(3):
        refresher.step()
        asked += visit_all(frontier)

    assert asked.count(MAP) == times


# ---- the nightly crawl


class Living:
    """A site whose only page links to nothing; its sitemap names the rest, and is not sent twice."""

    def __init__(self, site: Site) -> None:
        self.site, self.named, self.version = site, ["/1"], 1
        site.routes |= {"/robots.txt": robots("Sitemap: /map.xml"), "/": page(), "/map.xml": self.answer}
        site.routes |= {f"/{n}": page() for n in (1, 2)}

    def answer(self, site: Site) -> Answer:
        etag = f'"{self.version}"'
        if site.request.headers.get("If-None-Match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        entries = "".join(f"<url><loc>{path}</loc></url>" for path in self.named)
        return Answer(f"<urlset>{entries}</urlset>", headers={"ETag": etag}, kind="application/xml")

    @property
    def asked(self) -> list[str]:
        return [path for path in self.site.pages if not path.endswith(NO_SUCH_PAGE)]

    def night(self, folder: Path, *arguments: str) -> Crawled:
        self.site.asked.clear()
        where = ("-a", f"seeds={self.site.url}/", "-a", "domains=127.0.0.1")
        return crawl(folder, "index", *where, "-a", "refresh=once", *arguments)


def test_a_page_that_was_added_to_the_sitemap_is_found_by_the_next_nightly_crawl(tmp_path: Path) -> None:
    with sites(a={}) as started:
        living = Living(started["a"])
        living.night(tmp_path)

        living.night(tmp_path)
        assert sorted(living.asked) == ["/", "/1", "/map.xml"]

        living.named, living.version = ["/1", "/2"], 2
        third = living.night(tmp_path)
        assert sorted(living.asked) == ["/", "/1", "/2", "/map.xml"]
        assert third.frontier["states"]["reasons"] == {"document": 3, "sitemap": 1, "not-found": 1}


def test_sitemaps_of_a_frontier_that_was_cleared_are_read_as_sitemaps(tmp_path: Path) -> None:
    with sites(a={}) as started:
        living = Living(started["a"])
        del living.site.routes["/robots.txt"]  # so that only the catalog names it in the end
        living.night(tmp_path, "-a", f"sitemaps={living.site.url}/map.xml")
        assert command("frontier", "clear", folder=tmp_path).status == 0

        second = living.night(tmp_path)

        assert second.frontier["states"]["reasons"] == {"document": 2, "sitemap": 1, "not-found": 1}
