"""The default strategy of focused crawling, on webs of a few pages made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.orderings import Source, adaptive, ordering
from webcrawler.orderings.adaptive import Adaptive
from webcrawler.orderings.base import PRIORITY_MAX, Seen
from webcrawler.orderings.evidence import Matcher, url_words
from webcrawler.orderings.topic import Wanted
from webcrawler.records import Link, Text
from webcrawler.urls import outlink

QUERY = "garbage collection"
ABOUT = Text("Garbage collection", "", "", "", "garbage collection " * 9)
OTHER = Text("Weather", "", "", "", "It rains.")
A, B = "http://a.example/", "http://b.example/"


def link(url: str, anchor: str = "", context: str = "") -> Link:
    target = outlink(url, url)
    return Link(target.url, target.id, target.spelling, anchor, context)


def page(url: str, text: Text | None, *links: Link, relevance: float | None = None) -> Seen:
    return Seen(link(url).id, link(url).url, text, links, relevance)


class Frontier:
    """What a frontier does with an ordering, in a dictionary."""

    def __init__(self, query: str = QUERY) -> None:
        self.ordering = Adaptive(query)
        self.waiting: dict[str, int] = {}  # URL -> priority
        self.taken: set[str] = set()
        self.told: list[tuple[str, int]] = []

    def learn(self, *seen: Seen) -> None:
        self.ordering.learn(seen)
        for one in seen:
            self.taken.add(one.url)
            self.waiting.pop(one.url, None)
        for one in seen:
            for to in one.links:
                priority = self.ordering.first_priority(to, Source(id=one.id))
                if to.url not in self.taken:
                    self.taken.add(to.url)
                    self.waiting[to.url] = priority
        links, priorities = self.ordering.plan()
        self.told = [(to.url, priority) for to, priority in zip(links, priorities, strict=True)]
        self.waiting.update({url: p for url, p in self.told if url in self.waiting})

    def order(self) -> list[str]:
        return sorted(self.waiting, key=lambda url: -self.waiting[url])

    def place(self, url: str) -> int:
        return self.order().index(url)


@pytest.fixture
def frontier() -> Frontier:
    return Frontier()


@pytest.mark.parametrize("query", ["", "the of", "?"])
def test_query_without_a_word_to_look_for_is_refused(query: str) -> None:
    with pytest.raises(BadInput):
        Adaptive(query)


def test_it_is_a_mode_with_a_query_and_words_beside_it() -> None:
    assert isinstance(ordering("adaptive?query=garbage+collection&also=heap,memory"), Adaptive)


def test_link_that_names_the_query_goes_before_those_that_do_not(frontier: Frontier) -> None:
    anchors = {1: "weather", 2: "garbage collection", 3: "collection of stamps"}

    frontier.learn(page(A, OTHER, *(link(f"{A}{n}", anchor) for n, anchor in anchors.items())))

    assert frontier.order()[0] == A + "2"
    assert frontier.place(A + "3") < frontier.place(A + "1")


@pytest.mark.parametrize(
    "better, worse",
    [
        (link(A + "garbage-collection", "x"), link(A + "weather", "x")),
        (link(A + "1", "x", "all on garbage collection"), link(A + "2", "x", "rain")),
        (link(A + "1", "garbagecollection"), link(A + "2", "garbage")),
        (link(A + "1", "garbcoll"), link(A + "2", "other")),  # a short form
    ],
)
def test_url_words_around_and_words_joined_or_shortened_speak_for_a_link(
    frontier: Frontier, better: Link, worse: Link
) -> None:
    frontier.learn(page(A, OTHER, worse, better))

    assert frontier.place(better.url) < frontier.place(worse.url)


@pytest.mark.parametrize(
    "fetched",
    [
        lambda n: [page(f"{A}good/{n}", ABOUT), page(f"{A}bad/{n}", OTHER)],
        lambda n: [page(f"{A}bad/{n}", None)],
        lambda n: [page(f"{A}bad/{n}", None, link(f"{B}to/{n}")), page(f"{B}to/{n}", None)],
    ],
    ids=["others were wanted", "no documents", "redirects that end in failures"],
)
def test_directory_whose_pages_were_not_wanted_falls(
    frontier: Frontier, fetched: Callable[[int], list[Seen]]
) -> None:
    links = [link(f"{A}{d}/{n}", f"n{d}{n}") for n in range(6) for d in ("good", "bad")]
    frontier.learn(page(A, OTHER, *links))

    for n in range(3):
        for one in fetched(n):
            frontier.learn(one)

    assert frontier.place(A + "good/5") < frontier.place(A + "bad/4")


def test_word_whose_links_led_to_wanted_pages_speaks_for_other_links(frontier: Frontier) -> None:
    links = [link(f"{A}{n}", f"heap {n}") for n in range(5)]
    links += [link(f"{A}{n}", f"rain {n}") for n in range(5, 10)]
    frontier.learn(page(A, OTHER, *links))

    frontier.learn(*(page(f"{A}{n}", ABOUT if n < 3 else OTHER) for n in (0, 1, 2, 5, 6, 7)))

    assert frontier.place(A + "4") < frontier.place(A + "8")


def test_target_of_a_redirect_inherits_what_spoke_for_it(frontier: Frontier) -> None:
    frontier.learn(page(A, OTHER, link(A + "1", "garbage collection"), link(A + "2", "weather")))

    frontier.learn(page(A + "1", None, link(A + "moved")))

    assert frontier.place(A + "moved") < frontier.place(A + "2")


def test_servers_fetched_least_have_their_share_of_the_next_places(frontier: Frontier) -> None:
    many = [link(f"{A}{n}", "garbage") for n in range(100)]
    others = [link(f"http://s{n}.example/", "site") for n in range(20)]

    frontier.learn(page(A, OTHER, *many, *others))

    share = sum("//s" in url for url in frontier.order()[: adaptive.TURN]) / adaptive.TURN
    assert 0.3 < share < 0.8


def test_server_that_never_answers_leaves_its_place_to_others(frontier: Frontier) -> None:
    dead = [link(f"http://dead.example/{n}", "site") for n in range(5)]
    frontier.learn(page(A, OTHER, *dead, link("http://new.example/", "site")))

    frontier.learn(page("http://dead.example/0", None), page("http://dead.example/1", None))

    assert frontier.place("http://new.example/") < frontier.place("http://dead.example/2")


def test_page_like_those_that_made_servers_known_is_explored_first(frontier: Frontier) -> None:
    pages = [link(f"http://directory.example/{n}", "category") for n in range(9)]
    found = [link(f"http://s{n}.example/", "site") for n in range(9)]
    frontier.learn(page("http://directory.example/", OTHER, *pages, *found))

    frontier.learn(*(page(f"http://s{n}.example/", OTHER, link(f"http://s{n}.example/x")) for n in range(8)))

    assert any("directory" in url for url in frontier.order()[:2])


def test_little_is_explored_where_much_is_promising() -> None:
    wanted = [link(f"{A}gc/{n}", "garbage collection") for n in range(60)]
    others = [link(f"http://s{n}.example/", "site") for n in range(20)]
    poor, rich = Frontier(), Frontier()
    poor.learn(page(A, OTHER, *others, *(one._replace(anchor="x") for one in wanted)))
    rich.learn(page(A, ABOUT, *others, *wanted))
    for n in range(3):
        rich.learn(page(f"{A}gc/{n}", ABOUT))

    explored = [sum("//s" in url for url in one.order()[: adaptive.TURN]) for one in (poor, rich)]

    assert explored[0] > explored[1]


def test_hit_of_a_search_speaks_for_its_links_though_the_page_itself_does_not(frontier: Frontier) -> None:
    no_hit, hit = page(A, OTHER, link(A + "1"), relevance=0.0), page(B, OTHER, link(B + "1"), relevance=1.0)

    frontier.learn(no_hit, hit)

    assert frontier.order() == [B + "1", A + "1"]


def test_page_learnt_twice_is_counted_once() -> None:
    ordering = Adaptive(QUERY)
    seen = page(A, ABOUT, link(A + "1", "x"))
    ordering.learn([seen])
    once = ordering.plan()

    ordering.learn([seen])

    assert once[0] and ordering.plan() == ([], [])


def test_seed_goes_before_all_others() -> None:
    assert Adaptive(QUERY).first_priority(link(A)) == PRIORITY_MAX


def test_same_pages_give_the_same_priorities() -> None:
    first, second = Frontier(), Frontier()
    web = page(A, ABOUT, *(link(f"http://s{n}.example/{n}", "x") for n in range(50)))

    first.learn(web)
    second.learn(web)

    assert first.waiting == second.waiting


def test_pages_of_the_past_teach_as_if_they_had_just_been_fetched() -> None:
    """At a restart: their links wait already, so nothing is known of the priority that they have."""
    ordering = Adaptive(QUERY)
    waiting = link(A + "1", "garbage collection")

    ordering.learn([page(A, ABOUT, waiting)])
    links, priorities = ordering.plan()

    assert links == [waiting]
    assert 0 < priorities[0] <= PRIORITY_MAX


def test_candidates_beyond_the_limit_keep_their_priority(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adaptive, "CANDIDATES_MAX", 50)
    frontier.learn(page(A, OTHER, *(link(f"{A}{n}") for n in range(99))))
    frontier.learn(page(A + "98", ABOUT, link(A + "new", "garbage collection")))

    assert len(frontier.waiting) == 99
    assert frontier.order()[0] == A + "new"


SITES = st.sampled_from(["http://a.example", "http://b.example", "http://c.example:81"])
URLS = st.builds("{}/{}/{}".format, SITES, st.sampled_from(["x", "y"]), st.integers(0, 9))
LINKS = st.builds(link, URLS, st.sampled_from(["", "garbage", "garbage collection", "index", "a · b"]))
SEEN = st.builds(
    lambda url, text, links, relevance: page(url, text, *links, relevance=relevance),
    URLS,
    st.sampled_from([None, ABOUT, OTHER]),
    st.lists(LINKS, max_size=8),
    st.sampled_from([None, 0.0, 1.0]),
)


@pytest.mark.slow
@given(st.lists(st.lists(SEEN, max_size=4), max_size=12))
def test_no_url_is_lost_and_priorities_stay_within_bounds(batches: Sequence[Sequence[Seen]]) -> None:
    frontier = Frontier()
    for batch in batches:
        before = dict(frontier.waiting)

        frontier.learn(*batch)

        gone = {one.url for one in batch}
        assert before.keys() - gone <= frontier.waiting.keys()
        assert all(abs(priority) <= PRIORITY_MAX for priority in frontier.waiting.values())
        told = [url for url, _ in frontier.told]
        assert len(told) == len(set(told))
        assert frontier.ordering.plan()[0] == []


@pytest.mark.parametrize(
    "text, match",
    [
        ("Regular expressions", 1.0),
        ("the regexp module", 1.0),
        ("regex", 1.0),
        ("regularexpression", 1.0),
        ("rex", 0.0),  # short enough to mean anything
        ("weather", 0.0),
    ],
)
def test_short_text_names_the_query_by_all_its_words_or_a_short_form(text: str, match: float) -> None:
    assert Matcher(Wanted.of("regular expressions")).match(text) == pytest.approx(match)


def test_initials_count_from_three_words_on() -> None:
    assert Matcher(Wanted.of("full text search")).match("fts") == 1
    assert Matcher(Wanted.of("garbage collection")).match("gc") == 0


def test_more_words_of_the_query_match_better() -> None:
    matcher = Matcher(Wanted.of("full text search"))
    steps = [matcher.match(text) for text in ("none", "text", "text search", "full text search")]

    assert all(less < more for less, more in pairwise(steps))


@pytest.mark.parametrize(
    "path, found",
    [
        ("/howto/regex.html", "/howto/regex"),
        ("/a/VirtualHost.html", "/a/Virtual Host"),
        ("/v1.2/p", "/v1.2/p"),
    ],
)
def test_words_of_a_path_leave_out_its_extension_and_part_camel_case(path: str, found: str) -> None:
    assert url_words(path) == found


def test_words_that_the_query_excludes_are_not_looked_for() -> None:
    assert Wanted.of("+garbage -collection").shares.keys() == {"garbag"}
    assert Wanted.of('"garbage collection"') == Wanted.of("garbage collection")
