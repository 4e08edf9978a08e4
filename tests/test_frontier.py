"""The frontier: every URL seen is in exactly one state, whoever dies when, and servers are treated politely.

Against a real Redis; time goes by when a test says so (`let_pass`).
"""

from __future__ import annotations

from typing import Any

import pytest
import redis
from conftest import MakeFrontier
from frontiers import (
    done,
    fail,
    fetch,
    lease_one,
    let_pass,
    links,
    next_due_ms,
    now_ms,
    prefix_of,
    rescore,
    visit,
    visit_all,
)

from webcrawler import clock
from webcrawler.errors import BadInput
from webcrawler.frontier import (
    Again,
    Budgets,
    Done,
    Failed,
    Frontier,
    Ordering,
    Report,
    inspect,
    maintenance,
)
from webcrawler.records import Lease, Link

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


# ---- taking in


def test_a_url_enters_once(frontier: Frontier) -> None:
    assert frontier.discover(links(A, B, A)) == 2
    assert frontier.discover(links(B, C)) == 1

    assert visit_all(frontier) == [A, B, C]


def test_a_url_enters_once_whatever_process_found_it(make_frontier: MakeFrontier) -> None:
    make_frontier(worker="ann").discover(links(A))

    assert make_frontier(worker="bob").discover(links(A, B)) == 1


def test_a_decided_url_does_not_enter_again(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(A))
    visit(frontier)

    assert make_frontier(worker="bob").discover(links(A)) == 0


def test_the_spelling_first_seen_is_fetched_and_the_canonical_url_is_known(frontier: Frontier) -> None:
    frontier.discover(links("http://a.test/index.html?utm_source=x"))
    frontier.discover(links(A))

    lease = lease_one(frontier)

    assert (lease.url, lease.spelling) == (A, "http://a.test/index.html?utm_source=x")
    assert not frontier.lease(1).leases


def test_ids_of_any_sign_and_size_are_told_apart(frontier: Frontier) -> None:
    """A Lua number holds 53 bits; ids have 64."""
    link = links(A)[0]
    ids = [0, -1, 1, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 2**53, 2**53 + 1]

    assert frontier.discover([link._replace(id=id, url=f"{A}{id}") for id in ids]) == len(ids)
    frontier.intake.forget()
    assert frontier.discover([link._replace(id=id, url=f"{A}{id}") for id in ids]) == 0


def test_thousands_of_links_are_taken_in_by_parts_that_keep_their_order(frontier: Frontier) -> None:
    urls = [f"http://s{n % 7}.test/{n}" for n in range(2500)]

    assert frontier.discover(links(*urls)) == 2500
    assert inspect.peek(frontier, 2500) == urls


def test_links_of_a_lost_server_are_taken_in_again(frontier: Frontier) -> None:
    """A server that was killed may have forgotten its last seconds: nobody may rely on knowing more."""
    frontier.discover(links(A))
    lease = lease_one(frontier)
    dump = {key: frontier.client.dump(key) for key in frontier.client.scan_iter()}
    frontier.complete([done(lease, B)])

    frontier.client.flushdb()  # back to what the log held
    for key, value in dump.items():
        frontier.client.restore(key, 0, value)
    frontier.client.connection_pool.disconnect()  # a server cannot forget without breaking the line
    frontier.complete([done(lease, B)])

    assert visit_all(frontier) == [B]


# ---- leases, and how they end


def test_a_leased_url_is_handed_to_nobody_else(make_frontier: MakeFrontier) -> None:
    make_frontier().discover(links(A))
    lease_one(make_frontier(worker="ann"))

    assert make_frontier(worker="bob").lease(1).leases == []


def test_lease_says_what_is_queued_and_leased_and_when_to_come_again(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(delay=5.0, server_concurrency=1)
    assert frontier.lease(1).wait is None  # nothing waits at all
    frontier.discover(links(A, A + "2"))
    fetch(frontier, lease_one(frontier))

    found = frontier.lease(9)

    assert (found.leases, found.queued, found.leased) == ([], 1, 1)
    assert found.wait is not None and 4 < found.wait <= 5


def test_every_lease_has_a_token_of_its_own(frontier: Frontier) -> None:
    frontier.discover(links(A, B, C))

    tokens = [lease.token for lease in frontier.lease(3).leases]

    assert tokens == sorted(set(tokens))


def test_a_lease_ends_and_its_url_goes_back_to_its_old_place(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(lease=60.0)
    frontier.discover(links(A, B))
    old = lease_one(frontier)
    assert frontier.expire() == 0

    let_pass(frontier, 61)

    assert frontier.expire() == 1
    new = lease_one(frontier)
    assert new.url == old.url and new.token > old.token and new.tries == 0


def test_leases_of_a_dead_worker_go_back_and_those_of_a_living_one_stay(make_frontier: MakeFrontier) -> None:
    ann, bob = make_frontier(worker="ann"), make_frontier(worker="bob")
    ann.discover(links(A, B))
    ann.expire(alive_seconds=6)
    bob.expire(alive_seconds=60)
    dead, living = lease_one(ann), lease_one(bob)

    let_pass(ann, 10)

    assert bob.expire(alive_seconds=60) == 1
    assert lease_one(bob).url == dead.url
    assert bob.complete([done(living)]) == [0]


def test_the_place_of_a_dead_worker_at_a_server_is_free_again(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(server_concurrency=1)
    frontier.discover(links(A, A + "2"))
    frontier.expire(alive_seconds=1)
    lease_one(frontier)

    let_pass(frontier, 2)
    frontier.expire()

    assert lease_one(frontier).url == A
    assert frontier.lease(1).leases == []  # and there is but one


def test_released_urls_go_back_and_count_nothing(frontier: Frontier) -> None:
    frontier.discover(links(A, B))
    leases = frontier.lease(2).leases

    assert frontier.release(leases) == 2

    assert visit_all(frontier) == [A, B]


def outdate(frontier: Frontier) -> Lease:
    """A lease that has ended, and whose URL somebody holds anew."""
    frontier.discover(links(A))
    old = lease_one(frontier)
    let_pass(frontier, 10_000)
    frontier.expire()
    lease_one(frontier)
    return old


@pytest.mark.parametrize(
    ("act", "answer"),
    [
        (lambda f, lease: f.complete([Done(lease, "document", True, links(B), {"scheme": 1})]), [-1]),
        (lambda f, lease: f.fail([Failed(lease, "failed/timeout", True)]), [-1]),
        (lambda f, lease: f.fail([Failed(lease, "quarantined", False)]), [-1]),
        (lambda f, lease: f.release([lease]), 0),
        (lambda f, lease: f.fetched([Report(lease, 1.0, True, 100.0)]), None),
    ],
    ids=["complete", "fail", "quarantine", "release", "fetched"],
)
def test_an_old_token_changes_nothing(frontier: Frontier, act: Any, answer: object) -> None:
    old = outdate(frontier)
    before = {key: frontier.client.dump(key) for key in frontier.client.scan_iter()}

    assert act(frontier, old) == answer

    assert {key: frontier.client.dump(key) for key in frontier.client.scan_iter()} == before


def test_complete_twice_is_complete_once(frontier: Frontier) -> None:
    frontier.discover(links(A))
    lease = lease_one(frontier)
    twice = Done(lease, "document", True, links(B, C), {"scheme": 2})

    assert frontier.complete([twice]) == [2]
    once = inspect.stats(frontier)
    frontier.intake.forget()
    assert frontier.complete([twice]) == [-1]

    assert inspect.stats(frontier) == once
    assert (once["seen"], once["done"], once["queued"], once["refused"]) == (3, 1, 2, {"scheme": 2})


def test_a_failure_that_no_retry_can_mend_is_decided_at_once(frontier: Frontier) -> None:
    frontier.discover(links(A))

    assert fail(frontier, lease_one(frontier), "not-found", retry=False) == 0

    assert inspect.stats(frontier)["reasons"] == {"not-found": 1}


def test_a_quarantined_url_is_a_state_of_its_own(frontier: Frontier) -> None:
    frontier.discover(links(A))
    frontier.fail([Failed(lease_one(frontier), "quarantined", False)])

    stats = inspect.stats(frontier)

    assert (stats["quarantined"], stats["failed"], stats["seen"]) == (1, 0, 1)


def test_an_expired_lease_counts_nothing_against_its_url(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(tries=2, backoff=1.0)
    frontier.discover(links(A))
    for _ in range(5):
        lease_one(frontier)
        let_pass(frontier, 10_000)
        frontier.expire()

    assert lease_one(frontier).tries == 0


def test_a_url_that_is_tried_again_keeps_spelling_and_place(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(backoff=1.0)
    frontier.discover(links("http://a.test/index.html", B))
    fail(frontier, lease_one(frontier))
    let_pass(frontier, 2)

    assert lease_one(frontier).spelling == "http://a.test/index.html"


def test_a_worker_that_leaves_gives_back_what_it_holds(make_frontier: MakeFrontier) -> None:
    ann, bob = make_frontier(worker="ann"), make_frontier(worker="bob")
    ann.expire(alive_seconds=60)
    ann.discover(links(*(f"{A}{n}" for n in range(1200))))
    assert len(ann.lease(1200).leases) == 1200

    ann.leave()

    assert len(bob.lease(1200).leases) == 1200


def test_reclaim_gives_back_what_this_worker_does_not_know_of(make_frontier: MakeFrontier) -> None:
    """The answer to a lease got lost on the way."""
    ann, bob = make_frontier(worker="ann"), make_frontier(worker="bob")
    ann.discover(links(A, B, C))
    known, _lost, others = lease_one(ann), lease_one(ann), lease_one(bob)

    assert ann.reclaim({known.url}) == 1

    assert lease_one(ann).url == B
    assert ann.complete([done(known)]) == [0]
    assert bob.complete([done(others)]) == [0]


def test_links_of_a_refused_completion_are_not_held_for_known(frontier: Frontier) -> None:
    frontier.discover(links(A))
    old = lease_one(frontier)
    let_pass(frontier, 10_000)
    frontier.expire()

    assert frontier.complete([done(old, B)]) == [-1]
    assert frontier.discover(links(B)) == 1


def test_fetched_twice_frees_one_place(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(server_concurrency=2)
    frontier.discover(links(A, A + "2", A + "3", A + "4"))
    first, _second = frontier.lease(2).leases
    fetch(frontier, first)
    fetch(frontier, first)

    assert len(frontier.lease(9).leases) == 1


def test_reports_count_before_the_lease_in_the_same_round_trip(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(server_concurrency=1)
    frontier.discover(links(A, A + "2"))
    lease = lease_one(frontier)

    assert [found.url for found in frontier.lease(1, [Report(lease, 0.0)]).leases] == [A + "2"]


def test_a_failed_url_is_tried_again_after_a_back_off_that_doubles(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(tries=3, backoff=10.0)
    frontier.discover(links(A))
    for tries, pause in ((0, 10), (1, 20)):
        lease = lease_one(frontier)
        assert lease.tries == tries
        assert fail(frontier, lease) == 1
        let_pass(frontier, pause - 1)
        assert frontier.lease(1).leases == []
        let_pass(frontier, 1)

    assert fail(frontier, lease_one(frontier)) == 0
    assert inspect.stats(frontier)["reasons"] == {"server-error": 1}


def test_what_its_server_is_to_blame_for_is_no_try_and_waits_until_others_were_asked(
    make_frontier: MakeFrontier,
) -> None:
    frontier = make_frontier(tries=2, backoff=10.0, backoff_max=10.0)
    frontier.discover(links(A, A + "other"))
    for _ in range(3):
        lease = lease_one(frontier)
        frontier.fetched([Report(lease, 0.1, retry_after=60.0)])
        assert frontier.fail([Failed(lease, "failed/unreachable", True, excused=True)]) == [1]
        let_pass(frontier, 61)
        other = lease_one(frontier)
        frontier.release([other])
        assert (lease.url, lease.tries, other.url) == (A, 0, A + "other")
        let_pass(frontier, 10)


def test_what_waits_to_be_tried_again_is_not_queued_once_more_as_due(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(backoff=10.0)
    frontier.discover(links(A))
    fail(frontier, lease_one(frontier))

    assert frontier.again([Again(A, "done/document")]) == 0


def test_many_tries_never_put_a_url_off_beyond_the_longest_back_off(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(tries=100, backoff=30.0, backoff_max=3600.0)
    frontier.discover(links(A))
    for _ in range(60):
        fail(frontier, lease_one(frontier))
        let_pass(frontier, 3600.0)

    assert lease_one(frontier).tries == 60


# ---- politeness


def test_a_server_has_no_more_downloads_than_places(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(server_concurrency=2)
    frontier.discover(links(*(f"{A}{n}" for n in range(5)), B))

    assert [lease.url for lease in frontier.lease(9).leases] == [A + "0", A + "1", B]


def test_a_place_is_free_after_the_download_not_after_the_decision(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(server_concurrency=1)
    frontier.discover(links(A, A + "2"))

    fetch(frontier, lease_one(frontier))

    assert lease_one(frontier).url == A + "2"


def test_a_postponed_server_is_not_asked_before(frontier: Frontier) -> None:
    frontier.discover(links(A, B))
    frontier.postpone("http://a.test", 30.0)
    frontier.postpone("http://a.test", 3.0)  # a shorter one shortens nothing

    assert [lease.url for lease in frontier.lease(9).leases] == [B]
    let_pass(frontier, 29)
    assert frontier.lease(9).leases == []
    let_pass(frontier, 1)
    assert lease_one(frontier).url == A


def test_the_jitter_of_a_back_off_is_drawn_by_the_seed(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(backoff=1000.0, backoff_max=10_000.0)
    frontier.discover(links(A))
    pause_ms = 1000 * round(1000 * clock.draws.uniform(0.5, 1.5))
    clock.seed()
    before = now_ms(frontier)

    fetch(frontier, lease_one(frontier), slow_down=True)

    due = next_due_ms(frontier, "http://a.test"), next_due_ms(frontier, "http://a.test", before)
    assert due[0] <= pause_ms <= due[1]


def test_politeness_survives_a_restart_of_the_worker(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(delay=60.0)
    frontier.discover(links(A, A + "2"))
    fetch(frontier, lease_one(frontier))

    assert make_frontier(worker="bob", delay=60.0).lease(9).leases == []


PAUSES = {  # politeness, download seconds, report, Crawl-delay, pause in seconds
    "FRONTIER_DELAY": ({"delay": 1.0}, 0.0, {}, 0.0, 1),
    "ten times the download (EW)": ({"delay": 1.0}, 0.5, {}, 0.0, 5),
    "but not beyond the cap": ({"delay": 1.0}, 60.0, {}, 0.0, 30),
    "the longest counts": ({"delay": 9.0}, 0.5, {}, 0.0, 9),
    "who wants no delay gets none": ({"delay": 0.0}, 60.0, {}, 0.0, 0),
    "Retry-After": ({"delay": 1.0}, 0.0, {"retry_after": 120.0}, 0.0, 120),
    "Retry-After counts without a delay, too": ({"delay": 0.0}, 0.0, {"retry_after": 120.0}, 0.0, 120),
    "Crawl-delay": ({"delay": 1.0, "crawl_delay_max": 20.0}, 0.0, {}, 7.0, 7),
    "Crawl-delay up to its cap": ({"delay": 1.0, "crawl_delay_max": 20.0}, 0.0, {}, 1000.0, 20),
    "Crawl-delay is ignored with a cap of 0": ({"crawl_delay_max": 0.0}, 0.0, {}, 7.0, 0),
}


@pytest.mark.parametrize(("polite", "seconds", "report", "crawl_delay", "pause"), PAUSES.values(), ids=PAUSES)
def test_a_server_is_due_after_the_longest_of_all_pauses(
    make_frontier: MakeFrontier, polite: Any, seconds: float, report: Any, crawl_delay: float, pause: int
) -> None:
    frontier = make_frontier(**polite)
    frontier.discover(links(A))
    frontier.postpone("http://a.test", 0.0, crawl_delay)

    began = now_ms(frontier)
    fetch(frontier, lease_one(frontier), seconds, **report)

    assert next_due_ms(frontier, "http://a.test") <= pause * 1000
    assert next_due_ms(frontier, "http://a.test", began) >= pause * 1000


def test_slow_answers_double_the_back_off_and_a_good_one_ends_it(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(delay=0.001, backoff=10.0, backoff_max=100.0)
    frontier.discover(links(*(f"{A}{n}" for n in range(8))))
    for expected in (10, 20, 40, 80, 100, 100):
        fetch(frontier, lease_one(frontier), slow_down=True)
        due = next_due_ms(frontier, "http://a.test")
        assert expected * 500 - 500 < due <= min(expected * 1500, 100_000)  # jitter: half to one and a half
        let_pass(frontier, 150)

    fetch(frontier, lease_one(frontier))
    assert next_due_ms(frontier, "http://a.test") <= 1
    let_pass(frontier, 1)
    fetch(frontier, lease_one(frontier), slow_down=True)
    assert next_due_ms(frontier, "http://a.test") <= 15_000


def test_frontiers_share_politeness_and_nothing_else(make_frontier: MakeFrontier) -> None:
    index = make_frontier(server_concurrency=1)
    realtime = make_frontier(name="realtime:7", server_concurrency=1)
    assert index.discover(links(A, A + "2")) == realtime.discover(links(A)) + 1 == 2
    lease = lease_one(index)

    assert realtime.lease(1).leases == []
    fetch(index, lease)
    let_pass(index, 1)
    let_pass(realtime, 1)
    assert lease_one(realtime).url == A


def test_many_waiting_servers_are_all_found_when_they_are_due(make_frontier: MakeFrontier) -> None:
    """More than one call moves."""
    frontier = make_frontier(delay=60.0)
    frontier.discover(links(*(f"http://s{n}.test/{page}" for n in range(700) for page in "ab")))
    for lease in frontier.lease(700).leases:
        fetch(frontier, lease)
    assert frontier.lease(700).leases == []
    let_pass(frontier, 61)

    assert sum(len(frontier.lease(700).leases) for _ in range(3)) == 700


# ---- opening and clearing


def test_rescore_refuses_while_a_worker_lives(make_frontier: MakeFrontier) -> None:
    """What it has leased would come back with its old priority."""
    frontier = make_frontier()
    frontier.discover(links(A))
    frontier.expire(alive_seconds=6)

    with pytest.raises(BadInput, match="stop it"):
        rescore(frontier, "random")


def test_another_mode_on_a_frontier_that_is_not_empty_is_refused(make_frontier: MakeFrontier) -> None:
    make_frontier("breadth").discover(links(A))

    with pytest.raises(BadInput, match=r"mode=breadth.*--rescore"):
        make_frontier("fifo")


def test_an_empty_frontier_takes_any_mode(make_frontier: MakeFrontier) -> None:
    make_frontier("breadth")
    frontier = make_frontier("fifo")

    assert frontier.client.hget(prefix_of(frontier) + "meta", "mode") == b"fifo"


def test_clear_refuses_while_a_worker_lives(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(A))
    frontier.expire(alive_seconds=6)

    with pytest.raises(BadInput, match="stop it"):
        maintenance.clear(frontier)
    assert inspect.stats(frontier)["seen"] == 1


def test_clear_forgets_one_frontier_not_another_whose_name_begins_alike(make_frontier: MakeFrontier) -> None:
    frontier, other = make_frontier(name="shop"), make_frontier(name="shop:eu")
    frontier.discover(links(A, B))
    other.discover(links(A))
    fail(frontier, lease_one(frontier))
    let_pass(frontier, 100)
    frontier.expire()

    assert maintenance.clear(frontier) == 2

    left = frontier.client.keys(prefix_of(frontier) + "*")
    assert all(key.decode().startswith(prefix_of(other)) for key in left)
    assert visit_all(other) == [A]
    assert make_frontier(name="shop", worker="bob").discover(links(A)) == 1


def test_clear_works_when_a_worker_died_with_many_leases(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(*(f"{A}{n}" for n in range(1200))))
    frontier.expire(alive_seconds=6)
    frontier.lease(1200)
    let_pass(frontier, 10)

    assert maintenance.clear(frontier) == 1200


# ---- questions that people ask


def test_explain_names_the_state_of_a_url(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(backoff=10.0)
    frontier.discover(links(A, B, C, A + "2"))
    lease_one(frontier)
    fail(frontier, lease_one(frontier))
    frontier.complete([done(lease_one(frontier))])

    states = {
        url: inspect.explain(frontier, url) for url in (A, B, C, A + "2", "http://d.test/", A + "x.zip")
    }

    told = [found["state"] for found in states.values()]
    assert told == ["leased", "queued", "decided", "queued", "unseen", "unseen"]
    assert states[A]["worker"] == "ann"
    assert states[B]["tries"] == 1 and states[B]["not_before_ms"] > 0
    assert states[A]["server"]["waiting"] == 1
    assert states[A + "x.zip"]["refused"] == "extension"


def test_explain_knows_a_url_by_any_spelling(frontier: Frontier) -> None:
    frontier.discover(links(A))

    assert inspect.explain(frontier, "HTTP://A.test:80/index.html?utm_source=x#top")["state"] == "queued"


@pytest.mark.parametrize("name", ["server", "robots", "a*", "", "a b"])
def test_a_name_that_would_mix_keys_up_is_refused(make_frontier: MakeFrontier, name: str) -> None:
    with pytest.raises(BadInput, match="FRONTIER_NAME"):
        make_frontier(name=name)


def test_seeds_come_in_whatever_the_budgets_say(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(budgets=Budgets(queued=1, server=1))

    assert frontier.discover(links(A, A + "1", B), within_budgets=False) == 3


# ---- frontiers of searches


def search_that_dies(make_frontier: MakeFrontier, name: str, url: str) -> Frontier:
    """It holds the only place of a server."""
    frontier = make_frontier(name=name, worker="dead", server_concurrency=1)
    frontier.discover(links(url))
    frontier.expire(alive_seconds=6)
    maintenance.enter_search(frontier.client, name)
    lease_one(frontier)
    return frontier


def test_a_server_that_a_dead_search_was_asking_may_be_asked_by_others(make_frontier: MakeFrontier) -> None:
    dead, index = search_that_dies(make_frontier, "realtime:1", A), make_frontier(server_concurrency=1)
    index.discover(links(A))
    assert index.lease(1).leases == []

    maintenance.look_after_searches(index.client, is_dead=lambda worker: worker == "dead")
    let_pass(index, 1.0)

    assert lease_one(index).url == A
    assert inspect.stats(dead)["seen"] == 1  # it may be resumed


def test_a_search_that_is_alive_is_left_alone(make_frontier: MakeFrontier) -> None:
    frontier = search_that_dies(make_frontier, "realtime:1", A)

    maintenance.look_after_searches(frontier.client)

    assert inspect.stats(frontier)["leased"] == 1


def test_a_silent_search_loses_its_leases_first_and_its_frontier_later(make_frontier: MakeFrontier) -> None:
    """It may come back, as when its machine was asleep."""
    frontier = search_that_dies(make_frontier, "realtime:1", A)
    let_pass(frontier, 10)

    maintenance.look_after_searches(frontier.client)
    assert (inspect.stats(frontier)["queued"], inspect.stats(frontier)["leased"]) == (1, 0)
    frontier.client.zadd(maintenance.SEARCHES, {"realtime:1": 0})
    maintenance.look_after_searches(frontier.client)

    assert inspect.stats(frontier)["seen"] == 0
    assert frontier.client.exists(maintenance.SEARCHES) == 0


class Planning(Ordering):
    learns = True

    def __init__(self, *plans: tuple[list[Link], list[int]]) -> None:
        self._plans = list(plans)

    def plan(self) -> tuple[list[Link], list[int]]:
        return self._plans.pop(0)


@pytest.mark.slow
def test_a_plan_that_redis_did_not_take_is_told_with_the_next(
    make_frontier: MakeFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = make_frontier()
    frontier.discover(links(A, B, C))
    frontier.order_by(Planning((links(C), [9]), (links(B), [5])))
    with monkeypatch.context() as away:
        away.setattr(frontier.slots, "client", redis.Redis(unix_socket_path="/nowhere"))
        with pytest.raises(redis.RedisError):
            frontier.replan()

    frontier.replan()

    assert [lease_one(frontier).url for _ in range(3)] == [C, B, A]
