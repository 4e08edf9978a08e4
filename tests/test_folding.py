"""What of all hits stands on one result page."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.search.display import FEW_SERVERS, PAGES, PER_SERVER, Ranked, fold, result_page

WEB = 100 * FEW_SERVERS


def hits(servers: str) -> list[Ranked]:
    """One hit a letter, best first; the letter is its server."""
    return [Ranked(number, 100.0 - number, number, server) for number, server in enumerate(servers)]


def shown(servers: str, start: int, limit: int, of: int = WEB) -> str:
    return "".join(hit.server for hit in result_page(hits(servers), start, limit, of))


def numbers(servers: str, start: int, limit: int) -> list[int]:
    return [hit.number for hit in result_page(hits(servers), start, limit, WEB)]


@pytest.mark.parametrize(
    ("servers", "first"),
    [
        (1, "aaaaaaaaaa"),
        (FEW_SERVERS, "aaaaaaaaaa"),
        (2 * FEW_SERVERS, "aaaaabcdef"),
        (4 * FEW_SERVERS, "aabcdefghi"),
        (WEB, "aabcdefghi"),
    ],
)
def test_the_more_servers_a_collection_has_the_fewer_hits_of_one_stand_together(
    servers: int, first: str
) -> None:
    assert shown("aaaaaaaaaabcdefghi", 0, 10, servers) == first


def test_a_result_page_holds_two_hits_of_a_server_and_the_third_waits_for_the_next() -> None:
    assert numbers("aaabb", 0, 4) == [0, 1, 3, 4]
    assert numbers("aaabb", 4, 4) == [2]


def test_a_hit_far_more_relevant_than_those_of_other_servers_does_not_wait() -> None:
    first = [Ranked(number, score, number, "a") for number, score in enumerate((10.0, 9.9, 9.8))]
    weak = Ranked(3, 6.8, 3, "b")  # less than 0.7 of the third

    assert [hit.number for hit in result_page([*first, weak], 0, 3, WEB)] == [0, 1, 2]
    assert [hit.number for hit in result_page([*first, weak._replace(score=6.9)], 0, 3, WEB)] == [0, 1, 3]


def test_where_there_are_no_other_servers_their_hits_fill_the_result_page_in_the_order_of_relevance() -> None:
    assert numbers("aaaaaab", 0, 5) == [0, 1, 2, 3, 6]


def test_the_last_hit_of_a_server_says_how_many_wait_for_others() -> None:
    assert [hit.from_server for hit in result_page(hits("aaaabbc"), 0, 4, WEB)] == [0, 2, 0, 0]
    assert [hit.from_server for hit in result_page(hits("aaaaa"), 0, 2, WEB)] == [0, 0]


@given(st.text("abcd", max_size=80), st.integers(1, 7))
def test_result_pages_together_hold_every_hit_once(servers: str, limit: int) -> None:
    pages = [numbers(servers, start, limit) for start in range(0, len(servers), limit)]

    assert sorted(number for page in pages for number in page) == list(range(len(servers)))
    assert all(len(page) == limit for page in pages[:-1])


@given(st.text("abcd", max_size=80), st.integers(1, 7))
def test_a_server_has_a_third_place_only_where_the_others_have_no_hits_left(servers: str, limit: int) -> None:
    arranged = servers[: PAGES * limit]
    for start in range(0, len(arranged), limit):
        page = Counter(shown(servers, start, limit))
        after = range(start + limit, len(arranged), limit)
        later = {server for place in after for server in shown(servers, place, limit)}
        if any(count > PER_SERVER for count in page.values()):
            assert all(page[server] >= PER_SERVER for server in later)


def test_what_nearly_repeats_a_hit_is_folded_into_the_best_of_them() -> None:
    twin, other, original = Ranked(7, 3.0, 2, "a"), Ranked(5, 2.0, 5, "b"), Ranked(2, 1.0, 2, "c")

    assert fold([twin, other, original], 5) == [twin._replace(folded=1), other]
    assert fold([twin, other, original], 1) == [twin]  # reads no further than the first without a place
