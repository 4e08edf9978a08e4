"""Budgets: what a server, a domain or a path prefix may bring in, and what goes behind all others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis
from conftest import MakeFrontier
from frontiers import done, lease_one, links, visit, visit_all

from webcrawler.frontier import Budgets, Done, Frontier, inspect
from webcrawler.records import Lease

A, B = "http://a.test/", "http://b.test/"
Filled = Callable[..., Frontier]


def pages(start: str, number: int) -> list[str]:
    return [f"{start}{n}" for n in range(number)]


def queued(frontier: Frontier) -> int:
    return int(inspect.stats(frontier)["queued"])


@pytest.fixture
def filled(make_frontier: MakeFrontier) -> Filled:
    """Opens frontiers with these budgets, which have found these URLs."""

    def make(*urls: str, mode: str = "fifo", partitions: int = 1, **budgets: int) -> Frontier:
        frontier = make_frontier(mode, budgets=Budgets(**budgets), partitions=partitions)
        frontier.discover(links(*urls))
        return frontier

    return make


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


def test_budgets_hold_for_the_links_of_a_page(filled: Filled) -> None:
    frontier = filled(A, server=3)

    visit(frontier, *pages(A + "x", 9))

    assert queued(frontier) == 2


def test_a_url_that_was_refused_may_come_in_later(make_frontier: MakeFrontier, filled: Filled) -> None:
    frontier = filled(A, queued=1)
    assert frontier.discover(links(A + "1")) == 1  # one a page, also when it is full
    assert visit_all(frontier) == [A, A + "1"]

    assert make_frontier(budgets=Budgets(queued=1)).discover(links(A + "1", A + "2", A + "3")) == 1
    assert frontier.discover(links(A + "3")) == 1


def test_a_known_url_is_known_also_where_its_server_is_over_budget(
    make_frontier: MakeFrontier, filled: Filled
) -> None:
    frontier = filled(A, server=1)

    assert make_frontier(worker="bob", budgets=Budgets(server=1)).discover(links(A)) == 0
    assert inspect.stats(frontier)["refused"] == {}


def test_a_page_of_a_full_frontier_brings_in_one_url(filled: Filled) -> None:
    """Mengozzi: "only one new url can be added from the current page"."""
    frontier = filled(*pages(A, 3), queued=3)

    leases = frontier.lease(2).leases
    frontier.complete([done(lease, *pages(f"{A}{lease.token}/", 5)) for lease in leases])

    assert queued(frontier) == 1 + 2 + 1  # room for two when the first page came, then one


def test_a_share_of_a_domain_is_renewed_every_so_many_leases(filled: Filled) -> None:
    """Mengozzi: "accept k urls for the same domain every n urls processed"."""
    frontier = filled(A, B, share=1, share_of=2)
    assert frontier.discover(links(A + "1", B + "1")) == 0

    visit(frontier)
    visit(frontier)

    assert frontier.discover(links(A + "1", A + "2", B + "1")) == 2


def test_wildcard_names_over_budget_leave_no_trace(filled: Filled, client: redis.Redis) -> None:
    frontier = filled(*(f"http://s{n}.a.test/" for n in range(10)), domain_servers=10)
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


def repeat(lease: Lease, *urls: str) -> Done:
    return Done(lease, "duplicate", True, links(*urls), repeats=True)


def decide(frontier: Frontier, repeats: int, new: int = 0) -> None:
    """The next pages: so many repeat others, then so many say something new."""
    for n in range(repeats + new):
        lease = lease_one(frontier)
        frontier.complete([repeat(lease) if n < repeats else done(lease)])


def test_a_prefix_that_repeats_goes_behind_all_others(filled: Filled) -> None:
    trap, honest = [f"{A}cal?day={n}" for n in range(6)], pages(B, 3)
    frontier = filled(*trap, *honest, repeats=2)
    decide(frontier, repeats=2)

    assert visit_all(frontier) == [*honest, *trap[2:]]


def test_new_urls_of_a_prefix_that_repeats_go_behind_as_well(filled: Filled) -> None:
    frontier = filled(A + "cal?day=1", repeats=1)
    decide(frontier, repeats=1)
    frontier.discover(links(A + "cal?day=2", A + "page"))

    assert visit_all(frontier)[-2:] == [A + "page", A + "cal?day=2"]


def test_with_servers_in_turn_one_that_has_only_repeats_left_comes_last(filled: Filled) -> None:
    trap = [f"{A}cal?day={n}" for n in range(4)]
    frontier = filled(*trap, *pages(B, 3), mode="breadth", repeats=1)
    decide(frontier, repeats=1)

    assert visit_all(frontier) == [*pages(B, 3), *trap[1:]]


def test_new_pages_make_up_for_repeats(filled: Filled) -> None:
    mixed = [f"{A}list?page={n}" for n in range(7)]
    frontier = filled(*mixed, B, repeats=2)
    for _ in range(3):
        decide(frontier, repeats=1, new=1)

    assert visit_all(frontier) == [mixed[6], B]


def test_repeats_count_nothing_where_no_budget_says_so(filled: Filled) -> None:
    trap = [f"{A}cal?day={n}" for n in range(40)]
    frontier = filled(*trap, B)
    decide(frontier, repeats=30)

    assert visit_all(frontier) == [*trap[30:], B]


def test_explain_shows_what_was_taken_in(filled: Filled) -> None:
    frontier = filled(*pages(A + "x/", 3), "http://w.a.test/", prefix=100)

    taken = inspect.explain(frontier, A + "x/1")["taken"]

    assert taken == {"server": 3, "domain": {"a.test": 4}, "prefix": {"/x/": 3}}


# ---- what only repeats link to, and what is like them


def test_what_only_a_repeat_links_to_goes_behind_what_others_bring(filled: Filled) -> None:
    frontier = filled(A, B, repeats=20)
    frontier.complete([repeat(lease_one(frontier), A + "1", A + "2")])
    frontier.complete([done(lease_one(frontier), B + "1", B + "2")])

    assert visit_all(frontier) == [B + "1", B + "2", A + "1", A + "2"]


def test_it_comes_forward_once_a_page_links_to_it_that_says_something_new(filled: Filled) -> None:
    frontier = filled(A, B, repeats=20)
    frontier.complete([repeat(lease_one(frontier), A + "1", A + "2", A + "3")])
    frontier.complete([done(lease_one(frontier), B + "1", A + "2")])

    assert visit_all(frontier) == [A + "2", B + "1", A + "1", A + "3"]  # by their first discovery


def test_it_comes_forward_in_another_partition_as_well(filled: Filled) -> None:
    others = [f"http://site{n}.test/" for n in range(8)]
    frontier = filled(A, B, repeats=20, partitions=4)
    first, second = sorted(frontier.lease(8).leases, key=lambda lease: lease.url)
    frontier.complete([repeat(first, *others)])
    frontier.complete([done(second, *others[:4])])

    assert not any(inspect.explain(frontier, url)["behind"] for url in others[:4])
    assert all(inspect.explain(frontier, url)["behind"] for url in others[4:])


@pytest.mark.parametrize(
    ("trap", "behind", "ahead"),
    [
        ("/cal/2024/{}", "/cal/2025/word", "/page"),  # the same directories
        ("/{0}{0}/{0}/view", "/abc/def/view", "/page"),  # other directories, as deep
        ("/shop?size={}&colour=red", "/shop?colour=blue", "/page"),  # other parameters
        ("/shop?size={}", "/shop?size=x&size=y", "/item.html"),
        ("/{}9.html", "/another1.html", "/word.html"),  # names with and without digits
    ],
)
def test_a_shape_that_repeats_goes_behind(
    make_frontier: MakeFrontier, trap: str, behind: str, ahead: str
) -> None:
    frontier, start = make_frontier(budgets=Budgets(repeats=3)), A.rstrip("/")
    frontier.discover(links(*(start + trap.format(n) for n in "xyz")))
    decide(frontier, repeats=3)
    frontier.discover(links(start + behind, start + ahead))

    assert visit_all(frontier) == [start + ahead, start + behind]


def test_a_directory_of_new_pages_stays_ahead_though_its_wide_shape_repeats(filled: Filled) -> None:
    frontier = filled(*(f"{A}trap{n}/x" for n in "wxyz"), *(f"{A}news/{c}" for c in "abc"), repeats=2)
    decide(frontier, repeats=4, new=1)
    frontier.discover(links(A + "other/z", A + "news/d"))

    assert visit_all(frontier)[-1] == A + "other/z"


def test_new_servers_of_a_domain_that_gave_repeats_come_last(filled: Filled) -> None:
    frontier = filled(
        "http://www.a.test/", *(f"http://{name}.a.test/1/" for name in "wxz"), mode="breadth", repeats=1
    )
    decide(frontier, repeats=4)
    frontier.discover(links("http://y.a.test/a.html", "http://b.test/a.html"))

    assert visit_all(frontier) == ["http://b.test/a.html", "http://y.a.test/a.html"]


def test_a_server_of_such_a_domain_stays_ahead_while_its_pages_are_new(filled: Filled) -> None:
    traps = [f"http://{name}.a.test/" for name in "vwxyz"]
    frontier = filled(*traps, "http://docs.a.test/index.html", repeats=1)
    decide(frontier, repeats=5, new=1)
    frontier.discover(links("http://other.a.test/new", "http://docs.a.test/1/2/3"))

    assert visit_all(frontier) == ["http://docs.a.test/1/2/3", "http://other.a.test/new"]


def test_what_is_behind_has_one_lease_in_so_many_while_others_are_due_soon(
    make_frontier: MakeFrontier,
) -> None:
    frontier = make_frontier(budgets=Budgets(repeats=1, behind=4), server_concurrency=1)
    frontier.discover(links(A, *pages(B, 9)))
    frontier.complete([repeat(lease_one(frontier), *(f"http://s{n}.c.test/" for n in range(9)))])
    leased = [frontier.lease(1).leases for _ in range(5)]

    assert [len(some) for some in leased] == [1, 0, 0, 0, 0]  # the server is busy, and has more

    frontier.complete([done(leased[0][0])])
    assert sum(len(frontier.lease(1).leases) for _ in range(20)) > 0


def test_what_is_behind_takes_all_leases_when_no_others_wait(filled: Filled) -> None:
    frontier = filled(A, repeats=1, behind=4)
    frontier.complete([repeat(lease_one(frontier), *pages(A, 9))])

    assert visit_all(frontier) == pages(A, 9)


def test_a_lease_that_is_completed_twice_counts_once(filled: Filled, client: redis.Redis) -> None:
    frontier = filled(A, repeats=5)
    lease = lease_one(frontier)

    assert frontier.complete([repeat(lease)]) == [0]
    assert frontier.complete([repeat(lease)]) == [-1]

    counted = client.hgetall(frontier.partitions[0].prefix + "repeats")
    assert set(counted.values()) == {b"1"}


def test_repeats_of_prefixes_that_an_older_version_counted_still_count(
    filled: Filled, client: redis.Redis
) -> None:
    frontier = filled(*(f"{A}cal/{n}/" for n in range(2)), repeats=5, prefix=100)
    prefix = frontier.partitions[0].prefix
    client.hset(prefix + "repeats", "http://a.test /cal/0/", 7)
    client.hset(prefix + "site:http://a.test", "/cal/0/", -2)
    frontier.discover(links(A + "cal/2/", B))

    assert visit_all(frontier) == [B, *(f"{A}cal/{n}/" for n in range(3))]
    assert inspect.explain(frontier, A + "cal/2/")["taken"]["prefix"] == {"/cal/0/": 3}
