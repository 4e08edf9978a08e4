"""Budgets: what a server, a domain or a path prefix may bring in, and what goes behind all others."""

from __future__ import annotations

import pytest
import redis
from conftest import MakeFrontier
from frontiers import done, lease_one, links, visit, visit_all

from webcrawler.frontier import Budgets, Done, Frontier, inspect
from webcrawler.records import Lease

A, B = "http://a.test/", "http://b.test/"


def pages(start: str, number: int) -> list[str]:
    return [f"{start}{n}" for n in range(number)]


def queued(frontier: Frontier) -> int:
    return int(inspect.stats(frontier)["queued"])


# ---- limits


@pytest.mark.parametrize(
    ("budgets", "reason", "urls", "taken"),
    [
        (Budgets(server=3), "budget-server", pages(A, 5), 3),
        (Budgets(server=3), "budget-server", [*pages(A, 3), *pages(B, 3)], 6),
        (Budgets(domain=3), "budget-domain", ["http://w.a.test/1", "http://x.a.test/2", *pages(A, 5)], 3),
        (Budgets(domain=3), "budget-domain", [*pages(A, 3), *pages(B, 3)], 6),
        (Budgets(domain_servers=2), "budget-domain-servers", [f"http://s{n}.a.test/" for n in range(5)], 2),
        (Budgets(domain_servers=2), "budget-domain-servers", pages("http://a.github.io/", 3), 3),
        (Budgets(prefix=2), "budget-prefix", [f"{A}cal?date={n}" for n in range(5)], 2),
        (Budgets(prefix=2), "budget-prefix", [*pages(A + "x/", 2), *pages(A + "y/", 2)], 4),
        (Budgets(share=2, share_of=10), "budget-share", pages(A, 5), 2),
        (Budgets(queued=4), "full", pages(A, 6), 4),
    ],
)
def test_what_is_over_a_budget_is_refused_and_counted(
    make_frontier: MakeFrontier, budgets: Budgets, reason: str, urls: list[str], taken: int
) -> None:
    frontier = make_frontier(budgets=budgets)

    assert frontier.discover(links(*urls)) == taken

    stats = inspect.stats(frontier)
    assert stats["seen"] == stats["queued"] == taken
    assert stats["refused"] == ({reason: len(urls) - taken} if taken < len(urls) else {})


def test_budgets_hold_over_many_calls_and_workers(make_frontier: MakeFrontier) -> None:
    ann, bob = (make_frontier(worker=name, budgets=Budgets(server=5)) for name in ("ann", "bob"))

    fresh = [(ann if n % 2 else bob).discover(links(f"{A}{n}")) for n in range(9)]

    assert sum(fresh) == 5


def test_budgets_hold_for_the_links_of_a_page(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(server=3))
    frontier.discover(links(A))

    visit(frontier, *pages(A + "x", 9))

    assert queued(frontier) == 2


def test_a_url_that_was_refused_may_come_in_later(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(queued=1))
    frontier.discover(links(A))
    assert frontier.discover(links(A + "1")) == 1  # one a page, also when it is full
    assert visit_all(frontier) == [A, A + "1"]

    assert make_frontier(budgets=Budgets(queued=1)).discover(links(A + "1", A + "2", A + "3")) == 1
    assert frontier.discover(links(A + "3")) == 1


def test_a_known_url_is_known_also_where_its_server_is_over_budget(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(server=1))
    frontier.discover(links(A))

    assert make_frontier(worker="bob", budgets=Budgets(server=1)).discover(links(A)) == 0
    assert inspect.stats(frontier)["refused"] == {}


def test_a_page_of_a_full_frontier_brings_in_one_url(make_frontier: MakeFrontier) -> None:
    """Mengozzi: "only one new url can be added from the current page"."""
    frontier = make_frontier(budgets=Budgets(queued=3))
    frontier.discover(links(*pages(A, 3)))

    leases = frontier.lease(2).leases
    frontier.complete([done(lease, *pages(f"{A}{lease.token}/", 5)) for lease in leases])

    assert queued(frontier) == 1 + 2 + 1  # room for two when the first page came, then one


def test_a_share_of_a_domain_is_renewed_every_so_many_leases(make_frontier: MakeFrontier) -> None:
    """Mengozzi: "accept k urls for the same domain every n urls processed"."""
    frontier = make_frontier(budgets=Budgets(share=1, share_of=2))
    frontier.discover(links(A, B))
    assert frontier.discover(links(A + "1", B + "1")) == 0

    visit(frontier)
    visit(frontier)

    assert frontier.discover(links(A + "1", A + "2", B + "1")) == 2


def test_wildcard_names_over_budget_leave_no_trace(make_frontier: MakeFrontier, client: redis.Redis) -> None:
    frontier = make_frontier(budgets=Budgets(domain_servers=10))
    frontier.discover(links(*(f"http://s{n}.a.test/" for n in range(10))))
    before = client.dbsize()

    for start in range(10, 3010, 100):
        frontier.discover(links(*(f"http://s{n}.a.test/" for n in range(start, start + 100))))

    assert client.dbsize() <= before + 1  # and a set of ids that is empty has no key
    assert inspect.stats(frontier)["refused"] == {"budget-domain-servers": 3000}


def test_a_large_budget_of_a_prefix_counts_once_the_server_is_large(make_frontier: MakeFrontier) -> None:
    """A counter for each prefix of each small server would cost more than it saves."""
    frontier = make_frontier(budgets=Budgets(prefix=1_500))
    taken = 0
    for start in range(0, 5_000, 500):
        taken += frontier.discover(links(*(f"{A}cal?day={n}" for n in range(start, start + 500))))

    assert taken <= 1_000 + 1_500


# ---- prefixes that repeat


def repeat(lease: Lease) -> Done:
    return Done(lease, "duplicate", True, repeats=True)


def test_a_prefix_that_repeats_goes_behind_all_others(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(repeats=2))
    trap, honest = [f"{A}cal?day={n}" for n in range(6)], pages(B, 3)
    frontier.discover(links(*trap, *honest))
    for _ in range(2):
        frontier.complete([repeat(lease_one(frontier))])

    assert visit_all(frontier) == [*honest, *trap[2:]]


def test_new_urls_of_a_prefix_that_repeats_go_behind_as_well(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(repeats=1))
    frontier.discover(links(A + "cal?day=1"))
    frontier.complete([repeat(lease_one(frontier))])
    frontier.discover(links(A + "cal?day=2", A + "page"))

    assert visit_all(frontier)[-2:] == [A + "page", A + "cal?day=2"]


def test_with_servers_in_turn_one_that_has_only_repeats_left_comes_last(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("breadth", budgets=Budgets(repeats=1))
    trap = [f"{A}cal?day={n}" for n in range(4)]
    frontier.discover(links(*trap, *pages(B, 3)))
    frontier.complete([repeat(lease_one(frontier))])

    assert visit_all(frontier) == [*pages(B, 3), *trap[1:]]


def test_new_pages_make_up_for_repeats(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(repeats=2))
    mixed = [f"{A}list?page={n}" for n in range(7)]
    frontier.discover(links(*mixed, B))
    for n in range(6):
        lease = lease_one(frontier)
        frontier.complete([done(lease) if n % 2 else repeat(lease)])

    assert visit_all(frontier) == [mixed[6], B]


def test_repeats_count_nothing_where_no_budget_says_so(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets())
    trap = [f"{A}cal?day={n}" for n in range(40)]
    frontier.discover(links(*trap, B))
    for _ in range(30):
        frontier.complete([repeat(lease_one(frontier))])

    assert visit_all(frontier) == [*trap[30:], B]


def test_explain_shows_what_was_taken_in(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(prefix=100))
    frontier.discover(links(*pages(A + "x/", 3), "http://w.a.test/"))

    taken = inspect.explain(frontier, A + "x/1")["taken"]

    assert taken == {"server": 3, "domain": {"a.test": 4}, "prefix": {"/x/": 3}}
