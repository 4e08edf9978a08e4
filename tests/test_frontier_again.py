"""URLs that are decided and due again: they wait before all that is new, and the states still add up."""

from __future__ import annotations

import pytest
from conftest import MakeFrontier
from frontiers import done, fail, fetch, lease_one, let_pass, links, rescore, visit, visit_all

from webcrawler.frontier import WAITING, Again, Failed, Frontier, inspect, maintenance

A, B, C, D = "http://a.test/", "http://a.test/b", "http://c.test/", "http://d.test/"
DUE = Again(A, "done/document", '{"headers":{}}')


def counts(frontier: Frontier) -> dict[str, int]:
    found = inspect.stats(frontier)
    return {**{state: found[state] for state in ("seen", "queued", "leased")}, **found["reasons"]}


def visited(frontier: Frontier, *urls: str) -> None:
    frontier.discover(links(*urls))
    visit_all(frontier)


def due(frontier: Frontier) -> Frontier:
    """A was visited, and is due again."""
    visited(frontier, A)
    assert frontier.again([DUE]) == 1
    return frontier


@pytest.fixture
def failed(make_frontier: MakeFrontier) -> Frontier:
    """A check of A has failed, and waits to be tried once more."""
    frontier = due(make_frontier("fifo", tries=2, backoff=5.0))
    lease = lease_one(frontier)
    fetch(frontier, lease)
    assert fail(frontier, lease) == 1
    return frontier


def test_a_url_that_is_due_again_is_queued_and_no_longer_counted_as_what_it_was(frontier: Frontier) -> None:
    assert counts(due(frontier)) == {"seen": 1, "queued": 1, "leased": 0}


def test_its_lease_says_what_it_was_and_what_to_send(frontier: Frontier) -> None:
    lease = lease_one(due(frontier))

    assert (lease.url, lease.was, lease.request) == (A, "done/document", '{"headers":{}}')
    frontier.complete([done(lease)])
    assert counts(frontier) == {"seen": 1, "queued": 0, "leased": 0, "document": 1}


@pytest.mark.parametrize("is_known", [True, False])
def test_it_is_fetched_by_the_spelling_that_is_given(frontier: Frontier, is_known: bool) -> None:
    spelling = A + "index.html"
    if is_known:
        visited(frontier, A)

    frontier.again([DUE._replace(spelling=spelling)])

    lease = lease_one(frontier)
    assert (lease.url, lease.spelling) == (A, spelling)
    frontier.complete([done(lease)])
    assert frontier.client.hlen("{crawl:0}:index:spelling") == 0


def test_what_waits_keeps_the_spelling_that_it_has(frontier: Frontier) -> None:
    frontier.discover(links(A + "index.html"))

    frontier.again([Again(A, WAITING), DUE])

    assert lease_one(frontier).spelling == A + "index.html"


def test_it_comes_before_all_that_is_new_in_the_order_given(frontier: Frontier) -> None:
    visited(frontier, A, B)
    frontier.discover(links("http://a.test/new"))

    frontier.again([Again(B, "done/document"), Again(A, "done/document")])

    assert visit_all(frontier) == [B, A, "http://a.test/new"]


def test_what_waits_or_is_out_or_was_asked_for_twice_is_queued_once(frontier: Frontier) -> None:
    frontier.discover(links(A, C))
    lease = lease_one(frontier)

    assert frontier.again([Again(A, "done/document"), Again(C, "done/document")]) == 0
    frontier.complete([done(lease)])
    assert frontier.again([Again(lease.url, "done/document")] * 2) == 1


def test_what_was_never_seen_is_taken_in_as_new(frontier: Frontier) -> None:
    assert frontier.again([DUE]) == 1

    lease = lease_one(frontier)
    assert (lease.was, lease.request) == ("", "")


def test_a_check_that_fails_is_tried_again_and_then_counts_as_what_is_said(failed: Frontier) -> None:
    let_pass(failed, 10)
    lease = lease_one(failed)

    assert lease.was == "done/document"
    assert failed.fail([Failed(lease, "done/document", True)]) == [0]
    assert counts(failed) == {"seen": 1, "queued": 0, "leased": 0, "document": 1}


def test_a_dead_workers_check_is_still_a_check(make_frontier: MakeFrontier) -> None:
    one, other = make_frontier("fifo", worker="one"), make_frontier("fifo", worker="other")
    one.expire(5.0)
    lease_one(due(one))

    assert other.expire_dead(lambda worker: worker == "one") == 1

    assert lease_one(other).was == "done/document"


def test_links_and_rescoring_leave_its_place(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("backlink")
    visited(frontier, A, B, C)
    frontier.discover(links(D))
    frontier.again([Again(B, "done/document"), Again(A, "done/document")])

    rescore(frontier, "fifo")

    assert visit_all(frontier)[:2] == [B, A]


def test_a_blocked_server_is_not_asked_again(frontier: Frontier) -> None:
    visited(frontier, A, C)
    frontier.block("http://a.test")

    assert frontier.again([DUE, Again(C, "done/document")]) == 1
    assert visit_all(frontier) == [C]


def test_blocking_a_server_decides_what_was_due_again(frontier: Frontier) -> None:
    assert due(frontier).block("http://a.test") == 1

    assert counts(frontier) == {"seen": 1, "queued": 0, "leased": 0, "blocked": 1}
    assert frontier.client.hlen("{crawl:0}:index:again") == 0


def test_a_check_that_is_withdrawn_leaves_the_url_as_it_was(frontier: Frontier) -> None:
    visited(frontier, A, B, C)
    frontier.again([DUE, Again(C, "done/document")])

    for _ in range(2):  # the answer to the first call may have been lost
        assert frontier.withdraw([A, B]) == set()
        assert counts(frontier) == {"seen": 3, "queued": 1, "leased": 0, "document": 2}

    assert visit_all(frontier) == [C]
    assert frontier.client.hlen("{crawl:0}:index:again") == 0
    assert frontier.client.hlen("{crawl:0}:index:request") == 0


def test_a_check_that_is_leased_or_a_url_that_is_new_is_not_withdrawn(frontier: Frontier) -> None:
    due(frontier).discover(links(B))
    lease = lease_one(frontier)

    assert frontier.withdraw([A, B]) == {A}

    assert counts(frontier) == {"seen": 2, "queued": 1, "leased": 1}
    frontier.complete([done(lease)])
    assert counts(frontier) == {"seen": 2, "queued": 1, "leased": 0, "document": 1}


def test_a_check_that_waits_to_be_tried_again_can_be_withdrawn(failed: Frontier) -> None:
    failed.withdraw([A])

    let_pass(failed, 10)
    assert visit_all(failed) == []
    assert counts(failed) == {"seen": 1, "queued": 0, "leased": 0, "document": 1}


def test_each_goes_to_the_partition_of_its_server(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("fifo", partitions=4)
    urls = [f"http://s{n}.test/" for n in range(20)]
    visited(frontier, *urls)

    assert frontier.again([Again(url, "done/document") for url in urls]) == 20
    assert sorted(visit_all(frontier)) == sorted(urls)
    assert maintenance.clear(frontier) == 20


def test_what_may_be_new_is_queued_before_all_others_once(frontier: Frontier) -> None:
    frontier.discover(links(A))

    assert frontier.again([Again(D, "", "{}")]) == 1
    assert frontier.again([Again(D, "", "{}")]) == 0

    assert visit_all(frontier) == [D, A]
    assert counts(frontier) == {"seen": 2, "queued": 0, "leased": 0, "document": 2}


def test_only_checks_are_leased_where_nothing_else_is_wanted(make_frontier: MakeFrontier) -> None:
    for mode in ("fifo", "breadth"):
        frontier = make_frontier(mode, mode)
        frontier.discover(links(A, C))
        visit(frontier)
        frontier.leases.checks_only = True

        assert frontier.lease(5).leases == []
        frontier.again([DUE])
        assert [lease.url for lease in frontier.lease(5).leases] == [A]


def test_what_waits_to_be_tried_again_is_tried_at_once_when_it_is_named(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("fifo", tries=2, backoff=60.0)
    frontier.discover(links(A))
    lease = lease_one(frontier)
    fetch(frontier, lease)
    fail(frontier, lease)
    assert frontier.lease(1).leases == []

    frontier.again([Again(A, "failed/unreachable")])

    assert visit_all(frontier) == [A]
    assert counts(frontier) == {"seen": 1, "queued": 0, "leased": 0, "document": 1}


def test_what_failed_for_want_of_a_robots_txt_is_asked_for_with_a_new_one_at_once(frontier: Frontier) -> None:
    frontier.discover(links(A))
    frontier.fail([Failed(lease_one(frontier), "failed/robots-unreachable", retry=False)])
    frontier.postpone("http://a.test", 3600)
    robots = frontier.shared_key("robots", "http://a.test")
    frontier.client.set(robots, b"unreachable")

    frontier.again([Again(A, "failed/robots-unreachable")])

    assert not frontier.client.exists(robots)
    assert visit_all(frontier) == [A]
